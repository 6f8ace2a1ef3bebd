package natssink

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/hotcount/hotcount/snapshot"
)

// standing returns what the stream says of a writer, and the sequence of the
// message that says it, 0 if there is none.
func (k *Sink) standing(ctx context.Context, stream jetstream.Stream, w snapshot.WriterID) (snapshot.Standing, uint64, error) {
	m, err := k.last(ctx, stream, k.writerSubject(w))
	if err != nil || m == nil {
		return snapshot.Standing{}, 0, err
	}
	st, err := parseStanding(string(m.Data))
	if err != nil {
		return st, 0, fmt.Errorf("%w: %w on %s", ErrForeign, err, m.Subject)
	}
	return st, m.Sequence, nil
}

// last returns the last message on a subject, nil if there is none.
func (k *Sink) last(ctx context.Context, stream jetstream.Stream, subject string) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := context.WithTimeout(ctx, k.ackWait)
	defer cancel()
	m, err := stream.GetLastMsgForSubject(ctx, subject)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, nil
	case err != nil:
		return nil, typed(err)
	}
	return m, nil
}

// formatStanding writes a standing as text: seq, mark and pending mark.
func formatStanding(st snapshot.Standing) []byte {
	return fmt.Appendf(nil, "%d %x %x", st.Seq, st.Mark, st.Pending)
}

func parseStanding(s string) (snapshot.Standing, error) {
	var st snapshot.Standing
	seq, marks, _ := strings.Cut(s, " ")
	mark, pending, _ := strings.Cut(marks, " ")
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil || !parseMark(&st.Mark, mark) || !parseMark(&st.Pending, pending) {
		return snapshot.Standing{}, fmt.Errorf("hotcount/natssink: a writer's standing is %.100q", s)
	}
	st.Seq = n
	return st, nil
}

func parseMark(m *snapshot.Mark, digits string) bool {
	if len(digits) != hex.EncodedLen(len(m)) {
		return false
	}
	_, err := hex.Decode(m[:], []byte(digits))
	return err == nil
}
