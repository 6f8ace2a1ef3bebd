package filesink

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/hll"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/window"
)

func TestFoldUnitesUniques(t *testing.T) {
	key := desc(t, "visitors").Key()
	sketch := func(precision int, elements ...string) []byte {
		s, err := hll.New(hll.Options{Precision: precision})
		require.NoError(t, err)
		for _, e := range elements {
			s.AddString(e)
		}
		b, err := s.MarshalBinary()
		require.NoError(t, err)
		return b
	}
	seeded := hll.Options{Seed: 1}.Scheme()
	var created int64 // of the last row that was folded
	folded := func(rows ...snapshot.UniquesRow) (counts []uint64) {
		k, err := open(Options{}, newSimFS(1))
		require.NoError(t, err)
		for i, u := range rows {
			u.Key = key
			write(t, k, &snapshot.Snapshot{Writer: snapshot.WriterID{byte(i + 1)}, Seq: 1, Uniques: []snapshot.UniquesRow{u}})
		}
		k, err = open(Options{}, k.fs)
		require.NoError(t, err)
		foldAll(t, k)
		base := k.Restored()
		require.Len(t, base, 1)
		for _, u := range base[0].Uniques {
			created = u.Created
			var s hll.Sketch
			if s.UnmarshalBinary(u.Sketch) != nil {
				counts = append(counts, 0)
				continue
			}
			counts = append(counts, s.Estimate().Count)
		}
		slices.Sort(counts)
		return counts
	}
	ab := snapshot.UniquesRow{Sketch: sketch(14, "a", "b")}
	bc := snapshot.UniquesRow{Sketch: sketch(14, "b", "c")}
	coarse := snapshot.UniquesRow{Sketch: sketch(10, "c", "d")}
	other := snapshot.UniquesRow{Sketch: sketch(14, "a"), Scheme: seeded}
	broken := snapshot.UniquesRow{Sketch: []byte("?")}
	require.Equal(t, []uint64{3}, folded(ab, bc))
	ab.Created, bc.Created = 7, 5
	for _, rows := range [][]snapshot.UniquesRow{{ab, bc}, {bc, ab}} {
		folded(rows...)
		require.EqualValues(t, 5, created, "since the earlier of the two")
	}
	require.Equal(t, []uint64{4}, folded(ab, bc, coarse), "at the lower precision")
	require.Equal(t, []uint64{4}, folded(coarse, ab, bc), "whatever the order")
	require.Equal(t, []uint64{1, 3}, folded(ab, other, bc), "schemes do not mix")
	require.Equal(t, []uint64{0, 2}, folded(ab, broken), "what cannot be united is kept")
}

func TestFoldKeepsTheNewestWindow(t *testing.T) {
	key := desc(t, "views").Key()
	of := func(count int64) []snapshot.WindowRows {
		return []snapshot.WindowRows{{Key: key, Rows: []window.Row{{Resolution: time.Second, Start: 1, Width: time.Second, Count: count}}}}
	}
	k, err := open(Options{}, newSimFS(1))
	require.NoError(t, err)
	write(t, k, &snapshot.Snapshot{Writer: snapshot.WriterID{1}, Seq: 1, Taken: time.Unix(20, 0), Windows: of(2)})
	write(t, k, &snapshot.Snapshot{Writer: snapshot.WriterID{2}, Seq: 1, Taken: time.Unix(10, 0), Windows: of(1)})
	k, err = open(Options{}, k.fs)
	require.NoError(t, err)
	foldAll(t, k)
	base := k.Restored()
	require.Len(t, base, 1)
	require.Len(t, base[0].Windows, 1)
	require.EqualValues(t, 2, base[0].Windows[0].Rows[0].Count)
}

func TestFilesOfFoldedWritersGo(t *testing.T) {
	o := Options{Dir: t.TempDir(), Keep: 1}
	for range 6 {
		live(t, o, func(k *Sink) {
			foldAll(t, k)
			write(t, k, state(t, snapshot.NewWriterID(), 1, 1))
		})
	}
	files, err := Inspect(o.Dir)
	require.NoError(t, err)
	kinds := map[Kind]int{}
	counting := 0
	for _, f := range files {
		require.NoError(t, f.Err)
		kinds[f.Kind]++
		if f.Counts {
			counting++
		}
	}
	// The running writer, and the folded one that the older base lacks.
	require.Equal(t, map[Kind]int{KindLock: 1, KindBase: baseKeep, KindSnapshot: 2}, kinds)
	require.Equal(t, 2, counting)
}

func TestTheListOfFoldedWritersStaysShort(t *testing.T) {
	k, err := open(Options{}, newSimFS(1))
	require.NoError(t, err)
	base := &snapshot.Snapshot{Seq: 1}
	for i := range uint32(2 * maxFolded) {
		var w snapshot.WriterID
		binary.BigEndian.PutUint32(w[:], i+1)
		base.Folded = append(base.Folded, snapshot.Fold{Writer: w, Seq: 1})
	}
	oldest, dead := base.Folded[0].Writer, snapshot.NewWriterID()
	require.NoError(t, k.put(t.Context(), base))
	require.NoError(t, k.put(t.Context(), state(t, oldest, 1, 1))) // not removed yet
	require.NoError(t, k.put(t.Context(), state(t, dead, 1, 1)))

	k, err = open(Options{}, k.fs)
	require.NoError(t, err)
	require.NoError(t, k.Fold(dead))
	require.Len(t, k.base.Folded, maxFolded+2)
	listed := map[snapshot.WriterID]bool{}
	for _, f := range k.base.Folded {
		listed[f.Writer] = true
	}
	require.True(t, listed[dead])
	require.True(t, listed[oldest], "it has a file")
	for _, f := range base.Folded[maxFolded:] {
		require.True(t, listed[f.Writer], "the newest stay")
	}
}

func TestFoldOfUnknownWriter(t *testing.T) {
	k := mustOpen(t, Options{Dir: t.TempDir()})
	w := snapshot.NewWriterID()
	require.Error(t, k.Fold(w))
	write(t, k, state(t, w, 1, 1))
	require.Error(t, k.Fold(w), "it is running")
}

// Files that seem to be from the future, since the clock was set back, must not
// make the directory grow with every restart.
func TestClockSetBackBetweenRuns(t *testing.T) {
	dir := t.TempDir()
	const generations = defaultKeep + 2
	for run := range 12 {
		k, err := Open(Options{Dir: dir})
		require.NoError(t, err)
		foldAll(t, k)
		for seq := range uint64(generations) {
			write(t, k, &snapshot.Snapshot{Writer: snapshot.WriterID{1, byte(run)}, Seq: seq + 1})
		}
		require.NoError(t, k.Close())
		files, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
		require.NoError(t, err)
		// The writers that are not in every base yet, and the bases.
		require.LessOrEqual(t, len(files), (baseKeep+1)*defaultKeep+baseKeep, "run %d", run)
		ahead := time.Now().AddDate(1, 0, 0)
		for _, name := range files {
			require.NoError(t, os.Chtimes(name, ahead, ahead))
		}
	}
}
