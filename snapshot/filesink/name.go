package filesink

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hotcount/hotcount/snapshot"
)

// Files are named after ids and numbers only, so nothing that is counted can
// choose a path.
const (
	suffix        = ".hcs"
	tempSuffix    = ".tmp"
	damagedSuffix = ".damaged"
	seqDigits     = 20 // of the greatest uint64, so that names sort by seq
)

func fileName(w snapshot.WriterID, seq uint64) string {
	return fmt.Sprintf("%s-%0*d%s", w, seqDigits, seq, suffix)
}

func tempName(n uint64) string { return strconv.FormatUint(n, 10) + tempSuffix }

func isTemp(name string) bool {
	digits, ok := strings.CutSuffix(name, tempSuffix)
	n, err := strconv.ParseUint(digits, 10, 64)
	return ok && err == nil && name == tempName(n)
}

func parseName(name string) (w snapshot.WriterID, seq uint64, ok bool) {
	id, rest, _ := strings.Cut(name, "-")
	w, err := snapshot.ParseWriterID(id)
	if err != nil {
		return w, 0, false
	}
	seq, err = strconv.ParseUint(strings.TrimSuffix(rest, suffix), 10, 64)
	return w, seq, err == nil && name == fileName(w, seq)
}
