package filesink

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hotcount/hotcount/export"
	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
)

func desc(t testing.TB, name string, labels ...string) series.Desc {
	t.Helper()
	d, err := series.NewDesc(name, labels...)
	require.NoError(t, err)
	return d
}

// state returns a snapshot of one counter, hits_total.
func state(t testing.TB, w snapshot.WriterID, seq uint64, value int64) *snapshot.Snapshot {
	return &snapshot.Snapshot{
		Writer:   w,
		Seq:      seq,
		Taken:    time.Unix(int64(seq), 0).UTC(),
		Counters: []snapshot.CounterRow{{Key: desc(t, "hits_total").Key(), Created: 1, Value: value}},
	}
}

var quiet = slog.New(slog.DiscardHandler)

func mustOpen(t testing.TB, o Options) *Sink {
	t.Helper()
	o.Logger = quiet
	k, err := Open(o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, k.Close()) })
	return k
}

// live opens the directory, runs f and closes it.
func live(t testing.TB, o Options, f func(k *Sink)) {
	t.Helper()
	k := mustOpen(t, o)
	f(k)
	require.NoError(t, k.Close())
}

func write(t testing.TB, k *Sink, s *snapshot.Snapshot) {
	t.Helper()
	require.NoError(t, k.Write(t.Context(), s))
}

func foldAll(t testing.TB, k *Sink) {
	t.Helper()
	for _, s := range k.Restored() {
		if !s.Writer.IsZero() {
			require.NoError(t, k.Fold(s.Writer))
		}
	}
}

func names(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Name() != lockName {
			names = append(names, e.Name())
		}
	}
	return names
}

func hits(snaps []*snapshot.Snapshot) int64 { return totals(snaps)["hits_total"] }

func TestRestartGoesOn(t *testing.T) {
	for _, fold := range []bool{false, true} {
		o := Options{Dir: filepath.Join(t.TempDir(), "made", "by", "open")}
		for run := range int64(5) {
			live(t, o, func(k *Sink) {
				require.Equal(t, 10*run, hits(k.Restored()))
				w := snapshot.NewWriterID()
				for seq := range int64(10) {
					write(t, k, state(t, w, uint64(seq)+1, seq+1))
				}
				if fold {
					foldAll(t, k)
					require.Equal(t, 10*run, hits(k.Restored()))
				}
			})
		}
	}
}

func TestWriteIsIdempotent(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	w := snapshot.NewWriterID()
	live(t, o, func(k *Sink) {
		write(t, k, state(t, w, 5, 50))
		write(t, k, state(t, w, 5, 50))
		write(t, k, state(t, w, 4, 40))
		require.Equal(t, []string{fileName(w, 5)}, names(t, o.Dir))
	})
	live(t, o, func(k *Sink) {
		require.EqualValues(t, 50, hits(k.Restored()))
		write(t, k, state(t, w, 5, 50)) // handed on to itself
		write(t, k, state(t, w, 6, 60)) // another sink knew better
		require.EqualValues(t, 60, hits(k.Restored()))
		require.NoError(t, k.Fold(w))
		require.EqualValues(t, 60, hits(k.Restored()))
		require.NoError(t, k.Fold(w), "again")
		write(t, k, state(t, w, 6, 60))
		err := k.Write(t.Context(), state(t, w, 7, 70))
		require.ErrorIs(t, err, export.ErrTooLate)
	})
	live(t, o, func(k *Sink) { require.EqualValues(t, 60, hits(k.Restored())) })
}

func TestGenerations(t *testing.T) {
	w := snapshot.NewWriterID()
	for _, keep := range []int{0, 1, 4} {
		o := Options{Dir: t.TempDir(), Keep: keep}
		live(t, o, func(k *Sink) {
			for seq := range uint64(9) {
				write(t, k, state(t, w, seq+1, 1))
			}
		})
		want := keep
		if keep == 0 {
			want = defaultKeep
		}
		got := names(t, o.Dir)
		require.Len(t, got, want)
		require.Equal(t, fileName(w, 9), got[len(got)-1])
	}
}

func TestKeepFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newSimFS(1)
		k, err := open(Options{Keep: 2, KeepFor: time.Minute}, d)
		require.NoError(t, err)
		w := snapshot.NewWriterID()
		for seq := range uint64(100) {
			write(t, k, state(t, w, seq+1, 1))
			time.Sleep(10 * time.Second)
		}
		require.Len(t, d.names, 6, "those of one minute")
	})
}

func TestRetiredRowsAreCountedOnce(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	w := snapshot.NewWriterID()
	key := desc(t, "idle_total", "a").Key("x")
	first := snapshot.CounterRow{Key: key, Created: 10, Value: 3}
	second := snapshot.CounterRow{Key: desc(t, "idle_total", "a").Key("x"), Created: 20, Value: 4}
	check := func(k *Sink, want int64) {
		t.Helper()
		loaded, _, err := Load(o.Dir)
		require.NoError(t, err)
		require.Equal(t, want, totals(loaded)[key.String()])
	}
	live(t, o, func(k *Sink) {
		write(t, k, &snapshot.Snapshot{Writer: w, Seq: 1, Final: []snapshot.CounterRow{first}})
		check(k, 3)
		write(t, k, &snapshot.Snapshot{Writer: w, Seq: 2, Final: []snapshot.CounterRow{first, second}})
		check(k, 7)
		write(t, k, &snapshot.Snapshot{Writer: w, Seq: 3, Final: []snapshot.CounterRow{second}})
		check(k, 7)
		write(t, k, &snapshot.Snapshot{Writer: w, Seq: 4, Counters: []snapshot.CounterRow{{Key: key, Created: 30, Value: 5}}})
		check(k, 12)
	})
	live(t, o, func(k *Sink) {
		write(t, k, &snapshot.Snapshot{Writer: w, Seq: 5})
		check(k, 7)
		foldAll(t, k)
		check(k, 7)
	})
}

func TestLock(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	live(t, o, func(*Sink) {
		_, err := Open(o)
		require.ErrorIs(t, err, ErrLocked)
		require.ErrorContains(t, err, o.Dir)
	})
	live(t, o, func(*Sink) {})
}

func TestClosed(t *testing.T) {
	k := mustOpen(t, Options{Dir: t.TempDir()})
	require.NoError(t, k.Close())
	require.ErrorIs(t, k.Write(t.Context(), state(t, snapshot.NewWriterID(), 1, 1)), ErrClosed)
	require.ErrorIs(t, k.Fold(snapshot.NewWriterID()), ErrClosed)
	require.NoError(t, k.Close())
}

func TestOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, o := range []Options{{}, {Dir: t.TempDir(), Keep: -1}, {Dir: t.TempDir(), KeepFor: -1}, {Dir: file}} {
		_, err := Open(o)
		require.ErrorContains(t, err, "hotcount/filesink: ")
	}
}

func TestWriteRefusesSnapshotWithoutWriter(t *testing.T) {
	k := mustOpen(t, Options{Dir: t.TempDir()})
	require.Error(t, k.Write(t.Context(), state(t, snapshot.WriterID{}, 1, 1)))
}

func TestWriteHeedsItsContext(t *testing.T) {
	dir := t.TempDir()
	k := mustOpen(t, Options{Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, k.Write(ctx, state(t, snapshot.NewWriterID(), 1, 1)), context.Canceled)
	require.Empty(t, names(t, dir))
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // it has no permission bits; the directory inherits its parent's list
	}
	o := Options{Dir: filepath.Join(t.TempDir(), "a", "b")}
	live(t, o, func(k *Sink) { write(t, k, state(t, snapshot.NewWriterID(), 1, 1)) })
	for _, path := range []string{o.Dir, filepath.Dir(o.Dir)} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(dirMode), info.Mode().Perm())
	}
	entries, err := os.ReadDir(o.Dir)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(fileMode), info.Mode())
	}
}

// TestSymlinksAreNotFollowed puts links where the sink reads and writes.
func TestSymlinksAreNotFollowed(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	w, foreign := snapshot.NewWriterID(), snapshot.NewWriterID()
	live(t, Options{Dir: outside}, func(k *Sink) { write(t, k, state(t, foreign, 1, 1000)) })
	victim := filepath.Join(outside, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("precious"), 0o600))

	for link, target := range map[string]string{
		fileName(foreign, 1): filepath.Join(outside, fileName(foreign, 1)),
		fileName(w, 1):       victim,
		tempName(1):          victim,
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			require.Equal(t, "windows", runtime.GOOS, "symlink: %v", err)
			return
		}
	}
	live(t, Options{Dir: dir}, func(k *Sink) {
		require.Empty(t, k.Restored())
		require.Error(t, k.Write(t.Context(), state(t, w, 1, 7)), "the temporary name is taken")
		write(t, k, state(t, w, 1, 7))
	})
	live(t, Options{Dir: dir}, func(k *Sink) { require.EqualValues(t, 7, hits(k.Restored())) })
	data, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "precious", string(data))

	require.NoError(t, os.Remove(filepath.Join(dir, lockName)))
	require.NoError(t, os.Symlink(victim, filepath.Join(dir, lockName)))
	_, err = Open(Options{Dir: dir})
	require.Error(t, err, "the lock leads out of the directory")
}

func TestForeignFilesAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	foreign := []string{"README", "01.tmp", "x.tmp", strings.Repeat("0", 32) + "-1.hcs", "z" + fileName(snapshot.WriterID{1}, 1)[1:]}
	for _, name := range foreign {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, tempName(7)), []byte("left over"), 0o600))
	live(t, Options{Dir: dir}, func(k *Sink) { require.Empty(t, k.Restored()) })
	require.ElementsMatch(t, foreign, names(t, dir))
}

// newer rewrites a snapshot file as a program of another format version would.
func newer(t testing.TB, path string, major bool) {
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	const versionAt, crcAt, headerSize = 8, 12, 16
	if major {
		binary.LittleEndian.PutUint16(data[versionAt:], 2)
		binary.LittleEndian.PutUint32(data[crcAt:], crc32.Checksum(data[:crcAt], castagnoli))
	} else { // add a frame of an unknown kind before the end frame
		const endFrame = 9 + 8 + 4
		end := len(data) - endFrame
		crc := binary.LittleEndian.Uint32(data[end-4:])
		frame := append([]byte{77, 1, 0, 0, 0, 3, 0, 0, 0}, "abc"...)
		crc = crc32.Update(crc, castagnoli, frame)
		tail := binary.LittleEndian.AppendUint64([]byte{255, 1, 0, 0, 0, 8, 0, 0, 0}, uint64(len(data)+len(frame)+4))
		data = binary.LittleEndian.AppendUint32(append(data[:end], frame...), crc)
		data = binary.LittleEndian.AppendUint32(append(data, tail...), crc32.Update(crc, castagnoli, tail))
	}
	require.NoError(t, os.WriteFile(path, data, fileMode))
}

func TestNewerVersions(t *testing.T) {
	for _, major := range []bool{true, false} {
		o := Options{Dir: t.TempDir()}
		w := snapshot.NewWriterID()
		live(t, o, func(k *Sink) {
			write(t, k, state(t, w, 1, 7))
			write(t, k, state(t, w, 2, 8))
		})
		newer(t, filepath.Join(o.Dir, fileName(w, 2)), major)
		before := names(t, o.Dir)
		if major {
			_, err := Open(o)
			require.ErrorIs(t, err, snapshot.ErrVersion)
		} else {
			live(t, o, func(k *Sink) {
				require.EqualValues(t, 8, hits(k.Restored()))
				require.ErrorContains(t, k.Fold(w), "newer", "folding would lose what is not known")
				require.EqualValues(t, 8, hits(k.Restored()))
			})
		}
		require.Equal(t, before, names(t, o.Dir))
	}
}
