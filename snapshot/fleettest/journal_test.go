package fleettest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A journal is what a run has written down about itself, so that it is known after
// it has been killed.
type journal struct {
	Begun   uint64 // batches of which the first add may have been made
	Flushed uint64 // batches that were counted when a Flush began that returned nil
	Flushes uint64 // that did so
	Failed  uint64 // that did not
	Writes  uint64 // of snapshots that the store has acknowledged
	Refused uint64 // that it has not
	Rows    uint64 // of those that it has
}

// The fields' places in the file.
const (
	atBegun = 8 * iota
	atFlushed
	atFlushes
	atFailed
	atWrites
	atRefused
	atRows
)

func journalPath(dir string, run int) string { return filepath.Join(dir, fmt.Sprint("journal-", run)) }

// A writing is the journal of a run that goes on. Each note outlives the process.
type writing struct{ file *os.File }

func newWriting(dir string, run int) (*writing, error) {
	f, err := os.OpenFile(journalPath(dir, run), os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	return &writing{f}, err
}

func (w *writing) note(at int64, n uint64) {
	if _, err := w.file.WriteAt(binary.LittleEndian.AppendUint64(nil, n), at); err != nil {
		panic(err)
	}
}

// add adds up what two runs have done.
func (j *journal) add(o journal) {
	j.Begun += o.Begun
	j.Flushes += o.Flushes
	j.Failed += o.Failed
	j.Writes += o.Writes
	j.Refused += o.Refused
	j.Rows += o.Rows
}

// readJournal returns the zero journal of a run that was killed before it had one.
func readJournal(dir string, run int) (j journal, err error) {
	data, err := os.ReadFile(journalPath(dir, run))
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return j, err
	}
	whole := make([]byte, binary.Size(j)) // what was not noted is 0
	copy(whole, data)
	_, err = binary.Decode(whole, binary.LittleEndian, &j)
	return j, err
}
