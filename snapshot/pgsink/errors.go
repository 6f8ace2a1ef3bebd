package pgsink

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hotcount/hotcount/export"
)

// What an error wraps, beside the one of pgx. Those about the configuration are
// marked by export.Terminal, as no retry mends them; the others go away by
// themselves, or when the server has been attended to.
var (
	// ErrAuth: the server refuses the login. Terminal.
	ErrAuth = errors.New("hotcount/pgsink: login refused")

	// ErrDenied: the role lacks a privilege; see Grants. Terminal.
	ErrDenied = errors.New("hotcount/pgsink: privilege missing")

	// ErrSchema: the tables are missing or of another version; see Migrate.
	// Terminal.
	ErrSchema = errors.New("hotcount/pgsink: tables missing or of another version, see pgsink.Migrate")

	// ErrReadOnly: the server is a replica, or its transactions are read
	// only, as they are during a fail-over.
	ErrReadOnly = errors.New("hotcount/pgsink: server is read-only")

	// ErrFull: the server is out of disk, memory or connections.
	ErrFull = errors.New("hotcount/pgsink: server is out of resources")

	// ErrConflict: the transaction gave way to another one, or waited for
	// it too long.
	ErrConflict = errors.New("hotcount/pgsink: conflict with another transaction")

	// ErrUnavailable: the server cannot be reached, is starting or stopping,
	// or the connection broke. A certificate that has run out, or is not
	// trusted, shows so, too, as it can be replaced.
	ErrUnavailable = errors.New("hotcount/pgsink: server unavailable")

	// ErrMalformed: the tables hold what no Sink has written.
	ErrMalformed = errors.New("hotcount/pgsink: malformed row")
)

// kinds are by SQLSTATE, or its first two digits, which are the class. See
// appendix A of PostgreSQL's manual.
var kinds = map[string]error{
	"08": ErrUnavailable, // connection exception
	"28": ErrAuth,        // invalid authorization specification
	"40": ErrConflict,    // transaction rollback: serialization failure, deadlock
	"53": ErrFull,        // insufficient resources
	"57": ErrUnavailable, // operator intervention
	"58": ErrUnavailable, // system error

	"25006": ErrReadOnly, // read-only SQL transaction
	"25P03": ErrConflict, // idle-in-transaction timeout
	"57014": ErrConflict, // statement timeout
	"3D000": ErrSchema,   // no such database
	"3F000": ErrSchema,   // no such schema
	"42501": ErrDenied,   // insufficient privilege
	"42703": ErrSchema,   // no such column
	"42883": ErrSchema,   // no such function
	"42P01": ErrSchema,   // no such table
	"42704": ErrSchema,   // no such object
	"55P03": ErrConflict, // lock not available
}

// explain says what an error of pgx means for a caller.
func explain(doing string, err error) error {
	if err == nil || errors.Is(err, export.ErrTooLate) {
		return err
	}
	kind := kindOf(err)
	switch {
	case kind == nil || errors.Is(err, kind):
		err = fmt.Errorf("hotcount/pgsink: %s: %w", doing, err)
	default:
		err = fmt.Errorf("%w: %s: %w", kind, doing, err)
	}
	switch kind {
	case ErrAuth, ErrDenied, ErrSchema:
		return export.Terminal(err)
	}
	return err
}

// kindOf returns what err is to wrap, nil if that is none of the above.
func kindOf(err error) error {
	for _, known := range [...]error{ErrAuth, ErrDenied, ErrSchema, ErrReadOnly, ErrFull, ErrConflict, ErrUnavailable, ErrMalformed} {
		if errors.Is(err, known) {
			return known
		}
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && len(pg.Code) == 5 {
		return cmp.Or(kinds[pg.Code], kinds[pg.Code[:2]])
	}
	return ErrUnavailable // what is left of pgx are the errors of connections
}
