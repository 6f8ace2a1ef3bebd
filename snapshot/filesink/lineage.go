package filesink

import (
	"time"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

// A lineage is one writer's snapshots in the directory. The zero writer's
// lineage is the base.
type lineage struct {
	generations []generation // by rising seq
	newest      uint64       // seq of the newest snapshot that is durable

	// final holds the Final rows of the snapshot last given, retired the
	// sums of those that have left it since.
	final   map[finalRow]int64
	retired sums
}

// A generation is one file of a lineage.
type generation struct {
	seq     uint64
	written time.Time
}

// A finalRow identifies a Final row within its writer.
type finalRow struct {
	key     series.Key
	created int64
}

// resume takes up a lineage from its newest snapshot, read from its file.
func (l *lineage) resume(s *snapshot.Snapshot) {
	l.final, l.retired = nil, sums{}
	l.observe(s)
	for _, c := range s.Retired {
		l.retired.add(c)
	}
}

// newestFile returns the seq of the newest file, 0 if there is none.
func (l *lineage) newestFile() uint64 {
	if len(l.generations) == 0 {
		return 0
	}
	return l.generations[len(l.generations)-1].seq
}

// observe retires the rows that have left Final. A row leaves once all sinks,
// and so this one, hold a snapshot that has it; it never comes back. So it
// does not matter here whether s itself becomes durable.
func (l *lineage) observe(s *snapshot.Snapshot) {
	if len(l.final) == 0 && len(s.Final) == 0 {
		return
	}
	final := make(map[finalRow]int64, len(s.Final))
	for _, c := range s.Final {
		final[finalRow{c.Key, c.Created}] = c.Value
	}
	for row, value := range l.final {
		if _, ok := final[row]; !ok {
			l.retired.add(snapshot.CounterRow{Key: row.key, Created: row.created, Value: value})
		}
	}
	l.final = final
}

// sums adds up counter rows by key, each under its earliest Created.
type sums struct {
	rows []snapshot.CounterRow
	at   map[series.Key]int
}

func (t *sums) add(c snapshot.CounterRow) {
	if i, ok := t.at[c.Key]; ok {
		r := &t.rows[i]
		r.Value += c.Value
		r.Created = min(r.Created, c.Created)
		return
	}
	if t.at == nil {
		t.at = map[series.Key]int{}
	}
	t.at[c.Key] = len(t.rows)
	t.rows = append(t.rows, c)
}
