package web

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// maxLimit bounds the memory that a page takes: about 300 bytes a series, and
// maxKeys bounds what their keys take.
const maxLimit = 100_000

// A query selects a page of series by the text of their keys. Bytes that are not
// UTF-8 are replaced in it, so that not every text can be read back as a key.
type query struct {
	prefix string // with which the text begins
	after  string // only those after this
	limit  int
}

// defaultLimit is the length of a page if a query does not say.
const defaultLimit = 1000

// errQuery is wrapped by every error about a query.
var errQuery = errors.New("hotcount/web: mistaken query")

// parseQuery reads the query of a URL. It refuses what it does not know, since a
// misspelt prefix would otherwise select everything.
func parseQuery(raw string) (query, error) {
	q := query{limit: defaultLimit}
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
			q.prefix = given[0]
		case "after":
			q.after = given[0]
		case "limit":
			q.limit, err = strconv.Atoi(given[0])
			if err != nil || q.limit < 1 || q.limit > maxLimit {
				return q, fmt.Errorf("%w: limit is %.80q, not 1 to %d", errQuery, given[0], maxLimit)
			}
		default:
			return q, fmt.Errorf("%w: %.80q is none of after, limit and prefix", errQuery, name)
		}
	}
	return q, nil
}
