package filesink

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/hotcount/hotcount/snapshot"
	"github.com/stretchr/testify/require"
)

// history makes a directory with two generations of the base, files of a writer
// that only the newer base has, and two dead writers.
func history(t testing.TB, dir string) {
	o := Options{Dir: dir, Keep: 2}
	for run := range 4 {
		live(t, o, func(k *Sink) {
			if run < 3 {
				foldAll(t, k)
			}
			w := snapshot.NewWriterID()
			for seq := range uint64(3) {
				s := state(t, w, seq+1, int64(seq+1))
				s.Final = []snapshot.CounterRow{{Key: desc(t, "idle_total").Key(), Created: int64(seq), Value: 5}}
				s.Uniques = []snapshot.UniquesRow{{Key: desc(t, "visitors").Key(), Sketch: []byte("sketch")}}
				s.Gauges = []snapshot.GaugeRow{{Key: desc(t, "skew").Key(), Value: 0.5}}
				write(t, k, s)
			}
		})
	}
}

// A memory directory makes many damaged copies cheap.
func loadSim(t testing.TB, dir string) *simFS {
	d := newSimFS(1)
	for _, name := range names(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		d.names[name] = &inode{content: data, durable: len(data)}
	}
	d.durable = maps.Clone(d.names)
	return d
}

func (d *simFS) with(name string, content []byte) *simFS {
	c := newSimFS(1)
	c.names = maps.Clone(d.names)
	c.names[name] = &inode{content: content, durable: len(content)}
	return c
}

// expectation is what may be restored when one file is damaged: with an older
// generation of its lineage, the totals that those give; otherwise nothing.
func expectation(t testing.TB, d *simFS, name string) (map[string]int64, bool) {
	c := newSimFS(1)
	c.names = maps.Clone(d.names)
	delete(c.names, name)
	w, _, ok := parseName(name)
	require.True(t, ok)
	entries, err := c.List()
	require.NoError(t, err)
	l := sortOut(entries)
	if len(l.generations[w]) == 0 {
		return nil, false
	}
	k, err := open(Options{Logger: quiet}, c)
	require.NoError(t, err)
	return totals(k.Restored()), true
}

// TestEveryDamage cuts every file of a directory to every length and flips every
// byte. Either the generation before gives the totals, or Open fails; and
// nothing is deleted.
func TestEveryDamage(t *testing.T) {
	dir := t.TempDir()
	history(t, dir)
	whole := loadSim(t, dir)
	intact, err := open(Options{Logger: quiet}, loadSim(t, dir))
	require.NoError(t, err)
	want := totals(intact.Restored())

	for name, n := range whole.names {
		t.Run(name, func(t *testing.T) {
			older, ok := expectation(t, whole, name)
			check := func(content []byte) {
				d := whole.with(name, content)
				k, err := open(Options{Logger: quiet}, d)
				if err != nil {
					require.ErrorIs(t, err, ErrUnreadable)
					require.False(t, ok, "an older generation was there")
					require.Contains(t, d.names, name, "left as it was")
					return
				}
				got := totals(k.Restored())
				if len(k.Damaged()) == 0 { // not read: a newer generation was there
					require.Equal(t, want, got)
					return
				}
				require.True(t, ok)
				require.Equal(t, older, got)
				require.Equal(t, content, d.names[name+damagedSuffix].content)
				require.NotContains(t, d.names, name)
			}
			for length := range n.content {
				check(n.content[:length:length])
			}
			for i := range n.content {
				content := bytes.Clone(n.content)
				content[i] ^= 1 << (i % 8)
				check(content)
			}
		})
	}
}

// TestADamagedBaseLosesNothing is stronger than the rule for other files: the
// files of the writers that the older base lacks are still there.
func TestADamagedBaseLosesNothing(t *testing.T) {
	dir := t.TempDir()
	history(t, dir)
	d := loadSim(t, dir)
	k, err := open(Options{Logger: quiet}, loadSim(t, dir))
	require.NoError(t, err)
	want := totals(k.Restored())

	d.names[fileName(snapshot.WriterID{}, k.baseSeq)].content[20] ^= 1
	k, err = open(Options{Logger: quiet}, d)
	require.NoError(t, err)
	require.Len(t, k.Damaged(), 1)
	require.Equal(t, want, totals(k.Restored()))

	foldAll(t, k)
	k, err = open(Options{Logger: quiet}, d)
	require.NoError(t, err)
	require.Empty(t, k.Damaged(), "it is reported once")
	require.Equal(t, want, totals(k.Restored()))
}

func TestStartOver(t *testing.T) {
	dir := t.TempDir()
	w, v := snapshot.NewWriterID(), snapshot.NewWriterID()
	live(t, Options{Dir: dir}, func(k *Sink) {
		write(t, k, state(t, w, 1, 10))
		write(t, k, state(t, v, 1, 5))
	})
	path := filepath.Join(dir, fileName(w, 1))
	require.NoError(t, os.Truncate(path, 30))
	for range 2 { // the error stays until the user decides
		_, err := Open(Options{Dir: dir, Logger: quiet})
		require.ErrorIs(t, err, ErrUnreadable)
		require.ErrorIs(t, err, snapshot.ErrCorrupt)
		require.ErrorContains(t, err, fileName(w, 1))
		require.ErrorContains(t, err, dir)
		require.ErrorContains(t, err, "StartOver")
	}
	_, damaged, err := Load(dir)
	require.ErrorIs(t, err, ErrUnreadable)
	require.Len(t, damaged, 1)

	live(t, Options{Dir: dir, StartOver: true}, func(k *Sink) {
		require.EqualValues(t, 5, hits(k.Restored()))
		require.Len(t, k.Damaged(), 1)
		require.Equal(t, fileName(w, 1), k.Damaged()[0].Name)
	})
	require.FileExists(t, path+damagedSuffix)
	live(t, Options{Dir: dir}, func(k *Sink) { require.EqualValues(t, 5, hits(k.Restored())) })
}

// TestAMisplacedFile has the right checksum and the wrong name.
func TestAMisplacedFile(t *testing.T) {
	dir := t.TempDir()
	w, v := snapshot.NewWriterID(), snapshot.NewWriterID()
	live(t, Options{Dir: dir}, func(k *Sink) { write(t, k, state(t, w, 1, 10)) })
	data, err := os.ReadFile(filepath.Join(dir, fileName(w, 1)))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, fileName(v, 1)), data, fileMode))
	_, err = Open(Options{Dir: dir})
	require.ErrorIs(t, err, ErrUnreadable)
}

func TestInspect(t *testing.T) {
	dir := t.TempDir()
	w := snapshot.NewWriterID()
	live(t, Options{Dir: dir}, func(k *Sink) {
		write(t, k, state(t, w, 1, 10))
		write(t, k, state(t, w, 2, 20))
		write(t, k, state(t, w, 3, 30))
		files, err := Inspect(dir)
		require.NoError(t, err)
		require.Len(t, files, 4)
		require.True(t, files[2].Counts)
	})
	require.NoError(t, os.Truncate(filepath.Join(dir, fileName(w, 3)), 30))
	require.NoError(t, os.WriteFile(filepath.Join(dir, tempName(9)), nil, fileMode))
	require.NoError(t, os.WriteFile(filepath.Join(dir, fileName(w, 0)+damagedSuffix), nil, fileMode))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "zoo"), nil, fileMode))
	before := names(t, dir)

	files, err := Inspect(dir)
	require.NoError(t, err)
	require.Equal(t, before, names(t, dir), "nothing is changed")
	got := map[string]File{}
	for _, f := range files {
		got[f.Name] = f
	}
	require.Equal(t, KindLock, got[lockName].Kind)
	require.Equal(t, KindUnfinished, got[tempName(9)].Kind)
	require.Equal(t, KindDamaged, got[fileName(w, 0)+damagedSuffix].Kind)
	require.Equal(t, KindOther, got["zoo"].Kind)
	for seq, counts := range map[uint64]bool{1: false, 2: true, 3: false} {
		f := got[fileName(w, seq)]
		require.Equal(t, KindSnapshot, f.Kind)
		require.Equal(t, w, f.Writer)
		require.Equal(t, seq, f.Seq)
		require.Equal(t, counts, f.Counts, "seq %d", seq)
		require.Equal(t, seq == 3, f.Err != nil)
	}
	require.ErrorIs(t, got[fileName(w, 3)].Err, snapshot.ErrCorrupt)

	loaded, damaged, err := Load(dir)
	require.NoError(t, err)
	require.Len(t, damaged, 1)
	require.EqualValues(t, 20, hits(loaded))

	_, err = Inspect(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = Load(filepath.Join(dir, "nowhere"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestDamagedFilesOfOneNameAreAllKept(t *testing.T) {
	dir := t.TempDir()
	w := snapshot.NewWriterID()
	live(t, Options{Dir: dir}, func(k *Sink) { write(t, k, state(t, w, 1, 10)) })
	name := fileName(w, 2)
	for _, content := range []string{"first", "second", "third"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), fileMode))
		live(t, Options{Dir: dir}, func(k *Sink) { require.Len(t, k.Damaged(), 1) })
	}
	var kept []string
	for _, n := range names(t, dir) {
		data, err := os.ReadFile(filepath.Join(dir, n))
		require.NoError(t, err)
		if n != fileName(w, 1) {
			kept = append(kept, string(data))
		}
	}
	require.ElementsMatch(t, []string{"first", "second", "third"}, kept)
}

// TestReadersBesideASink: what Load and Inspect see while files come and go is
// always a whole state, and never an older one than before.
func TestReadersBesideASink(t *testing.T) {
	dir := t.TempDir()
	dead, w := snapshot.NewWriterID(), snapshot.NewWriterID()
	live(t, Options{Dir: dir}, func(k *Sink) { write(t, k, state(t, dead, 1, 1000)) })
	k := mustOpen(t, Options{Dir: dir, Keep: 1})
	const last = 200
	done := make(chan error, 1)
	go func() {
		for seq := range uint64(last) {
			if err := k.Write(context.Background(), state(t, w, seq+1, int64(seq)+1)); err != nil {
				done <- err
				return
			}
			if seq == last/2 {
				if err := k.Fold(dead); err != nil {
					done <- err
					return
				}
			}
		}
		done <- nil
	}()
	seen := int64(1000)
	for running := true; running; {
		select {
		case err := <-done:
			require.NoError(t, err)
			running = false
		default:
		}
		loaded, damaged, err := Load(dir)
		require.NoError(t, err)
		require.Empty(t, damaged)
		require.GreaterOrEqual(t, hits(loaded), seen)
		seen = hits(loaded)
		files, err := Inspect(dir)
		require.NoError(t, err)
		for _, f := range files {
			require.NoError(t, f.Err)
		}
	}
	require.EqualValues(t, 1000+last, seen)
}

// Counts are for their owner's eyes.
func TestOnlyTheOwnerMayRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // permissions are inherited there
	}
	dir := filepath.Join(t.TempDir(), "data")
	k, err := Open(Options{Dir: dir})
	require.NoError(t, err)
	write(t, k, &snapshot.Snapshot{Writer: snapshot.WriterID{1}, Seq: 1})
	require.NoError(t, k.Close())
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o077)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "the lock and the snapshot")
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, e.Name())
	}
}
