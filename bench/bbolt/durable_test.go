package bbolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/hotcount/hotcount/series"
	"github.com/hotcount/hotcount/snapshot"
	"github.com/hotcount/hotcount/snapshot/filesink"
)

// rows is the number of counters. All have changed since the last write, which
// is the case that a full snapshot is for.
const rows = 10_000

// BenchmarkDurable makes 10,000 counters durable, once per iteration. Both sides
// fsync. bbolt runs as an engine would use it for this: one transaction, one
// bucket, keys in order, the file as large as it gets.
func BenchmarkDurable(b *testing.B) {
	b.Run("impl=filesink", benchFilesink)
	b.Run("impl=bbolt", benchBbolt)
	b.Run("impl=bbolt-nofreelistsync", func(b *testing.B) {
		benchBboltWith(b, &bbolt.Options{NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	})
}

func counters(b *testing.B) *snapshot.Snapshot {
	desc, err := series.NewDesc("http_requests_total", "path", "code")
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now()
	s := &snapshot.Snapshot{Writer: snapshot.NewWriterID(), Started: now, Taken: now}
	for i := range rows {
		s.Counters = append(s.Counters, snapshot.CounterRow{
			Key:     desc.Key(fmt.Sprintf("/posts/%05d", i), "200"),
			Created: now.UnixNano(),
		})
	}
	return s
}

func benchFilesink(b *testing.B) {
	k, err := filesink.Open(filesink.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	s := counters(b)
	for b.Loop() {
		s.Seq++
		for i := range s.Counters {
			s.Counters[i].Value++
		}
		if err := k.Write(context.Background(), s); err != nil {
			b.Fatal(err)
		}
	}
}

func benchBbolt(b *testing.B) { benchBboltWith(b, nil) }

func benchBboltWith(b *testing.B, o *bbolt.Options) {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "counters.db"), 0o600, o)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	s := counters(b)
	keys := make([][]byte, rows)
	for i, c := range s.Counters {
		keys[i] = []byte(c.Key.String())
	}
	value := make([]byte, 8)
	for b.Loop() {
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("counters"))
			if err != nil {
				return err
			}
			for i := range s.Counters {
				s.Counters[i].Value++
				binary.LittleEndian.PutUint64(value, uint64(s.Counters[i].Value))
				if err := bucket.Put(keys[i], value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}
