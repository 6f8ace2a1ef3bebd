package export

import "errors"

// The errors of sinks and readers wrap one of these where it applies, whatever the
// store, beside the error of the store's client. Kind tells which. Errors that no
// one can name wrap none; like ErrInterrupted and ErrUnavailable, they are taken
// for something that passes.
var (
	// ErrDenied: the store refuses the login, or the user lacks a right.
	ErrDenied = errors.New("access denied")

	// ErrSchema: the tables, stream or topic are missing, or laid out for
	// another version or other Options.
	ErrSchema = errors.New("store is not set up for the sink")

	// ErrReadOnly: the store is a replica, or takes no writes for the time.
	ErrReadOnly = errors.New("store is read-only")

	// ErrFull: the store is out of disk, memory or connections.
	ErrFull = errors.New("store is full")

	// ErrTooLarge: one row, with its sketch, is more than the store takes.
	ErrTooLarge = errors.New("row is too large for the store")

	// ErrForeign: the store holds something under the sink's names that no
	// sink has written.
	ErrForeign = errors.New("store holds what no sink has written")

	// ErrInterrupted: another process did the same work at the same time, and
	// this one gave way. The next Write settles it.
	ErrInterrupted = errors.New("another process came between")

	// ErrUnavailable: the store cannot be reached, is starting or stopping, or
	// did not answer in time.
	ErrUnavailable = errors.New("store is unavailable")

	// ErrTooLate: the store has added up the writer's rows as they were in an
	// older snapshot. How much of the newer one is in the sum can no longer be
	// told, so it can never be written. It says nothing about other writers.
	ErrTooLate = errors.New("writer has been added up at an older snapshot")
)

// A kind is one of the errors above.
type kind struct {
	err    error
	advice string // for an operator, where nothing else helps
}

// kinds are in the order in which kindOf looks for them: what passes comes before
// what does not, in case an error joins several.
var kinds = [...]kind{
	{ErrUnavailable, ""},
	{ErrInterrupted, ""},
	{ErrDenied, "check the user, its password and its rights"},
	{ErrSchema, "set the store up as the sink's documentation says"},
	{ErrReadOnly, "make the store writable, or point the sink to its primary"},
	{ErrFull, "give the store more room"},
	{ErrTooLarge, "raise the store's limit of size"},
	{ErrForeign, "remove it, or give the sink names of its own"},
	{ErrTooLate, ""},
}

// kindOf returns the first kind that err wraps, else the zero kind.
func kindOf(err error) kind {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k
		}
	}
	return kind{}
}

// Kind returns which of this package's store errors err wraps, nil if none.
func Kind(err error) error { return kindOf(err).err }

// advice returns what an operator has to do about err, "" if it may pass by
// itself.
func advice(err error) string { return kindOf(err).advice }
