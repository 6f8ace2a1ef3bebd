package replay

import (
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/hotcount/hotcount"
)

// A Report is what replay prints. The counts are totals over this run and all
// earlier ones that were restored; they are this run's if nothing was.
//
// As JSON, bytes of paths that are not UTF-8 read as U+FFFD.
type Report struct {
	Lines       int64            `json:"lines"` // malformed ones included
	Malformed   int64            `json:"malformed"`
	Bytes       int64            `json:"bytes"`
	Clients     uint64           `json:"unique_clients"` // estimated
	ByStatus    map[string]int64 `json:"by_status"`
	ByMethod    map[string]int64 `json:"by_method"`
	UniquePaths int              `json:"unique_paths"` // those with a series of their own
	TopPaths    []PathHits       `json:"top_paths"`
	ByHour      []HourHits       `json:"by_hour"`

	// Overflow is what families that were full counted together, by the
	// name of the family.
	Overflow map[string]int64 `json:"overflow,omitempty"`

	ThisRun        ThisRun       `json:"this_run"`
	Restored       *Restored     `json:"restored,omitempty"`
	MalformedLines []Malformed   `json:"malformed_lines,omitempty"` // of this run, the first few
	Verification   *Verification `json:"verify,omitempty"`
	Timing         Timing        `json:"timing"`
}

// PathHits is a path and its hits. As JSON it is an array of the two.
type PathHits struct {
	Path string
	Hits int64
}

// MarshalJSON implements json.Marshaler.
func (p PathHits) MarshalJSON() ([]byte, error) { return json.Marshal([]any{p.Path, p.Hits}) }

// HourHits is an hour in UTC and its hits.
type HourHits struct {
	Hour string `json:"hour"` // 2006-01-02T15:00Z
	Hits int64  `json:"hits"`

	// Clients is an estimate. It is absent if the hour was counted with the
	// others that did not fit.
	Clients uint64 `json:"unique_clients,omitempty"`
}

// ThisRun is what this run added to the totals.
type ThisRun struct {
	Lines     int64 `json:"lines"`
	Malformed int64 `json:"malformed"`
	Bytes     int64 `json:"bytes"`
}

// Restored says that earlier runs went into the totals.
type Restored struct {
	Runs  int       `json:"runs"`
	Lines int64     `json:"lines"` // that they counted
	Taken time.Time `json:"taken"` // when the newest of their snapshots was
}

// Timing says how fast this run was.
type Timing struct {
	Workers        int     `json:"workers"`
	Seconds        float64 `json:"seconds"`
	LinesPerSecond float64 `json:"lines_per_second"`
}

// NewReport reports what e counted in this run and before. Of the paths it
// lists the top most frequent.
func NewReport(e *hotcount.Engine, top int) *Report {
	totals, run := Totals(e), OfThisRun(e)
	r := &Report{
		Lines:       totals.series[linesTotal][""],
		Malformed:   totals.series[malformedTotal][""],
		Bytes:       totals.series[bytesTotal][""],
		Clients:     e.Uniques(clients).Estimate().Count,
		ByStatus:    totals.series[statusTotal],
		ByMethod:    totals.series[methodTotal],
		UniquePaths: len(totals.series[pathTotal]),
		TopPaths:    topPaths(totals.series[pathTotal], top),
		ByHour:      byHour(e, totals.series[hourTotal]),
		Overflow:    totals.overflow,
		ThisRun: ThisRun{
			Lines:     run.series[linesTotal][""],
			Malformed: run.series[malformedTotal][""],
			Bytes:     run.series[bytesTotal][""],
		},
	}
	if before := e.Restored(); before.Runs > 0 {
		r.Restored = &Restored{before.Runs, r.Lines - r.ThisRun.Lines, before.Taken}
	}
	return r
}

// Time says that this run took so long.
func (r *Report) Time(workers int, took time.Duration) {
	r.Timing = Timing{Workers: workers, Seconds: took.Seconds()}
	if took > 0 {
		r.Timing.LinesPerSecond = float64(r.ThisRun.Lines) / took.Seconds()
	}
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// topPaths returns the n paths with the most hits. Equal ones are in the order
// of their names, so that the answer is the same on each run.
func topPaths(hits map[string]int64, n int) []PathHits {
	all := make([]PathHits, 0, len(hits))
	for path, n := range hits {
		all = append(all, PathHits{path, n})
	}
	slices.SortFunc(all, func(a, b PathHits) int {
		return cmp.Or(cmp.Compare(b.Hits, a.Hits), cmp.Compare(a.Path, b.Path))
	})
	return all[:min(n, len(all))]
}

func byHour(e *hotcount.Engine, hits map[string]int64) []HourHits {
	clients := e.UniquesVec(clientsByHour, "hour")
	hours := make([]HourHits, 0, len(hits))
	for _, hour := range slices.Sorted(maps.Keys(hits)) {
		h := HourHits{Hour: hour, Hits: hits[hour]}
		if u := clients.With(hour); !hotcount.IsOverflow(u.Key()) {
			h.Clients = u.Estimate().Count
		}
		hours = append(hours, h)
	}
	return hours
}
