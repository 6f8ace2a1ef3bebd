package pgsink

import (
	"cmp"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
)

// kinds are by SQLSTATE, or its first two digits, which are the class. See
// appendix A of PostgreSQL's manual.
var kinds = map[string]error{
	"08": export.ErrUnavailable, // connection exception
	"28": export.ErrDenied,      // invalid authorization specification
	"40": export.ErrInterrupted, // transaction rollback: serialization failure, deadlock
	"53": export.ErrFull,        // insufficient resources
	"57": export.ErrUnavailable, // operator intervention
	"58": export.ErrUnavailable, // system error

	"25006": export.ErrReadOnly,    // read-only SQL transaction
	"25P03": export.ErrInterrupted, // idle-in-transaction timeout
	"57014": export.ErrInterrupted, // statement timeout
	"3D000": export.ErrSchema,      // no such database
	"3F000": export.ErrSchema,      // no such schema
	"42501": export.ErrDenied,      // insufficient privilege
	"42703": export.ErrSchema,      // no such column
	"42883": export.ErrSchema,      // no such function
	"42P01": export.ErrSchema,      // no such table
	"42704": export.ErrSchema,      // no such object
	"55P03": export.ErrInterrupted, // lock not available
}

// explain says what an error of pgx means for a caller.
func explain(doing string, err error) error {
	return sinkkit.Explain("hotcount/pgsink: "+doing, err, kindOf)
}

func kindOf(err error) error {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok && len(pg.Code) == 5 {
		return cmp.Or(kinds[pg.Code], kinds[pg.Code[:2]])
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok || errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err) {
		return export.ErrUnavailable
	}
	return nil
}
