package redissink

import (
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/sinkkit"
)

// kinds tells export's errors by how Redis' own begin, after "ERR" if there is
// that.
var kinds = []struct {
	prefix string
	kind   error
}{
	{"NOAUTH", export.ErrDenied},
	{"WRONGPASS", export.ErrDenied},
	{"NOPERM", export.ErrDenied},
	{"invalid password", export.ErrDenied},
	{"AUTH ", export.ErrDenied}, // a password for a server that has none
	{"WRONGTYPE", export.ErrForeign},
	{"CROSSSLOT", export.ErrSchema}, // a cluster behind a plain client: set Partitions
	{"READONLY", export.ErrReadOnly},
	{"OOM", export.ErrFull},
	{"MISCONF", export.ErrFull}, // it cannot write its own files
	{"max number of clients", export.ErrFull},
	{"LOADING", export.ErrUnavailable},
	{"BUSY", export.ErrUnavailable},
	{"CLUSTERDOWN", export.ErrUnavailable},
	{"MASTERDOWN", export.ErrUnavailable},
	{"TRYAGAIN", export.ErrUnavailable},
	{"NOREPLICAS", export.ErrUnavailable},
}

// explain says what an error of the client means for a caller.
func explain(err error) error { return sinkkit.Explain("hotcount/redissink", err, kindOf) }

func kindOf(err error) error {
	for _, k := range kinds {
		if redis.HasErrorPrefix(err, k.prefix) || inScript(err, k.prefix) {
			return k.kind
		}
	}
	if errors.Is(err, redis.ErrPoolTimeout) {
		return export.ErrUnavailable
	}
	return nil
}

// inScript reports whether err is what a Redis before 7 makes of a script's
// error that begins with prefix.
func inScript(err error, prefix string) bool {
	return redis.HasErrorPrefix(err, "Error running script") && strings.Contains(err.Error(), "-"+prefix)
}
