package web

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/hotcount/hotcount/export"
)

// maxLimit bounds the memory that a page takes: about 300 bytes a series, and
// maxKeys bounds what their keys take.
const maxLimit = 100_000

// errQuery is wrapped by every error about a query.
var errQuery = errors.New("hotcount/web: mistaken query")

// parseQuery reads the query of a URL. It refuses what it does not know, since a
// misspelt prefix would otherwise select everything.
func parseQuery(raw string) (export.Query, error) {
	q := export.Query{Limit: export.DefaultLimit}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return q, fmt.Errorf("%w: %w", errQuery, err)
	}
	for name, given := range values {
		if len(given) != 1 {
			return q, fmt.Errorf("%w: %.80q is there %d times", errQuery, name, len(given))
		}
		switch name {
		case "prefix":
			q.Prefix = given[0]
		case "after":
			q.After = given[0]
		case "limit":
			q.Limit, err = strconv.Atoi(given[0])
			if err != nil || q.Limit < 1 || q.Limit > maxLimit {
				return q, fmt.Errorf("%w: limit is %.80q, not 1 to %d", errQuery, given[0], maxLimit)
			}
		default:
			return q, fmt.Errorf("%w: %.80q is none of after, limit and prefix", errQuery, name)
		}
	}
	return q, nil
}
