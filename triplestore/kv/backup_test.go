package kv

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4/pb"
)

// fill writes enough for several tables on disk.
func fill(t *testing.T, db *DB) {
	t.Helper()
	for n := range 12 {
		err := db.Update(t.Context(), func(tx *Txn) error {
			for i := range 500 {
				if err := tx.Set(space, fmt.Appendf(nil, "m%02d%03d", n, i), bytes.Repeat([]byte{byte(i)}, 1500)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func fillOther(t *testing.T, db *DB) {
	t.Helper()
	for n := range 20 {
		put(t, db, fmt.Sprintf("n%02d", n), string(bytes.Repeat([]byte{byte(n)}, 800<<10)))
	}
}

// pairs repeatedly writes a number under the first and the last of many keys, until stopped.
func pairs(t *testing.T, db *DB) (stop func()) {
	t.Helper()
	fill(t, db)
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for n := uint64(1); ctx.Err() == nil; n++ {
			val := binary.BigEndian.AppendUint64(nil, n)
			err := db.Update(context.Background(), func(tx *Txn) error {
				for _, key := range []string{"a", "z", fmt.Sprintf("a%08d", n), fmt.Sprintf("z%08d", n)} {
					if err := tx.Set(space, []byte(key), val); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	return func() { cancel(); writing.Wait() }
}

func TestBackupsOfADatabaseThatIsWrittenHoldWholeTransactionsAndAllOfThem(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), Options{NoSync: true, MemTable: 8 << 20})
	stop := pairs(t, db)
	defer stop()
	copied := inMemory(t)
	var since uint64
	for round := range 3 {
		var b bytes.Buffer
		next, err := db.Backup(&b, since)
		if err != nil {
			t.Fatal(err)
		}
		since = next
		if err := copied.Load(&b); err != nil {
			t.Fatal(err)
		}
		err = copied.View(func(tx *Txn) error {
			a, _, err := tx.Get(space, []byte("a"))
			if err != nil {
				return err
			}
			z, _, err := tx.Get(space, []byte("z"))
			if err != nil {
				return err
			}
			count := uint64(0)
			err = tx.Scan(space, []byte("z0"), nil, func(_, _ []byte) (bool, error) { count++; return true, nil })
			if last := binary.BigEndian.Uint64(append(make([]byte, 8-len(z)), z...)); !bytes.Equal(a, z) || count != last {
				t.Errorf("round %d: a is %x, z is %x, and there are %d numbers", round, a, z, count)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatWasDeletedIsNotInAnIncrementEvenAfterCompaction(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir(), Options{NoSync: true, MemTable: 8 << 20})
	fill(t, db)
	var full, incr bytes.Buffer
	since, err := db.Backup(&full, 0)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 12 {
		err = db.Update(t.Context(), func(tx *Txn) error {
			for i := range 400 {
				if err := tx.Delete(space, fmt.Appendf(nil, "m%02d%03d", n, i)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // so that the deletions leave memory and reach the tables of what they delete
		fillOther(t, db)
		if err := db.cache.Load().badger.Flatten(2); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Backup(&incr, since); err != nil {
		t.Fatal(err)
	}
	copied := inMemory(t)
	for _, b := range []*bytes.Buffer{&full, &incr} {
		if err := copied.Load(b); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := all(t, copied, "", ""), all(t, db, "", ""); got != want {
		t.Errorf("%d bytes, not %d", len(got), len(want))
	}
}

// Regression: streams with valid checksums but entries that no database can have written must be rejected. The number
// of the next write set once overflowed to 0 after such an entry, and nothing written later could be read.
func TestABackupWithEntriesThatNoDatabaseWritesIsRefused(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]*pb.KV{
		"the last number":         {Key: []byte("\x01a"), Version: math.MaxUint64},
		"no key":                  {Version: 1},
		"no number":               {Key: []byte("\x01a")},
		"a key of the machinery":  {Key: []byte{byte(spaceApplied)}, Version: 1},
		"a value that is too big": {Key: []byte("\x01a"), Value: make([]byte, MaxValue+1), Version: 1},
		"a key that is too long":  {Key: make([]byte, MaxKey+2), Version: 1},
	} {
		var entry []byte
		for _, n := range []uint64{uint64(len(e.Key)), uint64(len(e.Value)), e.Version} {
			entry = binary.AppendUvarint(entry, n)
		}
		stream := bytes.NewBufferString(backupMagic)
		for _, part := range [][]byte{append(append(entry, e.Key...), e.Value...), append([]byte{0, byte(len(e.Key))}, e.Key...)} {
			c := &chunkWriter{w: stream}
			if _, err := c.Write(part); err != nil {
				t.Fatal(err)
			}
			if err := c.end(); err != nil {
				t.Fatal(err)
			}
		}
		if err := inMemory(t).Load(stream); !errors.Is(err, ErrBadBackup) || !strings.Contains(err.Error(), "an entry") {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := bytes.NewBufferString(backupFamily + "3\n")
	if err := inMemory(t).Load(other); !errors.Is(err, ErrBadBackup) || !strings.Contains(err.Error(), "version 3, not 1") {
		t.Errorf("another version: %v", err)
	}
}
