package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// makeReplica makes a replica of a database as its newest state has it.
func makeReplica(t testing.TB, of *DB, dir string, o Options) {
	t.Helper()
	s, err := of.OpenState(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ReplicaFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var body io.Reader
	if s.Size > 0 {
		body = io.NewSectionReader(s, 0, s.Size)
	}
	if err := CreateReplica(context.Background(), dir, o, body, s.Position); err != nil {
		t.Fatal(err)
	}
}

func openReplica(t testing.TB, dir string, o Options) *DB {
	t.Helper()
	o.Replica = true
	db, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// apply applies what the writer has beyond the replica, up to a few records at a time.
func applyAll(replica, writer *DB, atOnce int) error {
	var list []Record
	for r, err := range writer.Records(context.Background(), replica.Position(), false) {
		if err != nil {
			return err
		}
		r.Body = bytes.Clone(r.Body)
		list = append(list, r)
	}
	for len(list) > 0 {
		n := min(atOnce, len(list))
		if err := replica.Apply(context.Background(), list[:n]); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

func contentOf(t testing.TB, db *DB) map[string]string {
	t.Helper()
	s := db.Snapshot()
	defer s.Close()
	if err := s.acquire(); err != nil {
		t.Fatal(err)
	}
	defer s.release()
	out := map[string]string{}
	err := s.each(context.Background(), func(key, val []byte, version uint64) error {
		out[string(key)] = fmt.Sprintf("%x of %d", val, version)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sameContent(t testing.TB, writer, replica *DB) {
	t.Helper()
	if w, r := writer.Position(), replica.Position(); w != r {
		t.Fatalf("the replica is at %v, the writer at %v", r, w)
	}
	want, got := contentOf(t, writer), contentOf(t, replica)
	if len(want) != len(got) {
		t.Fatalf("the replica has %d entries, the writer %d", len(got), len(want))
	}
	for k, v := range want {
		if got[k] != v {
			t.Fatalf("key %x is %s, on the writer %s", k, got[k], v)
		}
	}
}

func TestAReplicaHasTheStatesOfItsWriter(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 7))
			opts := Options{MinFree: -1, SaveAt: 20 << 10, NoSync: true, MemTable: 8 << 20, HoldBytes: 50 << 10}
			writerDir, dir := t.TempDir(), filepath.Join(t.TempDir(), "replica")
			writer, err := Open(writerDir, opts)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { writer.Close() }()
			makeReplica(t, writer, dir, opts)
			replica := openReplica(t, dir, opts)
			restored := 0
			for range 150 {
				change(t, writer, random)
				switch random.IntN(12) {
				case 0:
					if err := writer.save(context.Background()); err != nil {
						t.Fatal(err)
					}
				case 1:
					if err := replica.save(context.Background()); err != nil {
						t.Fatal(err)
					}
				case 2:
					if err := replica.Close(); err != nil {
						t.Fatal(err)
					}
					replica = openReplica(t, dir, opts)
				case 3:
					if err := writer.Close(); err != nil {
						t.Fatal(err)
					}
					if writer, err = Open(writerDir, opts); err != nil {
						t.Fatal(err)
					}
				case 4:
					if err := writer.Purge(context.Background()); err != nil {
						t.Fatal(err)
					}
				case 5:
					if err := replica.Purge(context.Background()); err != nil {
						t.Fatal(err)
					}
				default:
					if random.IntN(2) == 0 {
						continue // the replica falls behind
					}
				}
				err := applyAll(replica, writer, 1+random.IntN(4))
				if errors.Is(err, ErrLogTrimmed) {
					restored++
					replica.Close()
					dir = filepath.Join(t.TempDir(), "replica")
					makeReplica(t, writer, dir, opts)
					replica = openReplica(t, dir, opts)
					err = applyAll(replica, writer, 100)
				}
				if err == nil && replica.PurgeDue() {
					err = replica.Purge(context.Background())
				}
				if err != nil {
					t.Fatal(err)
				}
				sameContent(t, writer, replica)
			}
			if writer.Lineage() != replica.Lineage() {
				t.Error("the replica has another lineage")
			}
			t.Log("restored", restored, "times")
		})
	}
}

// change writes something by one of the ways to write.
func change(t testing.TB, db *DB, random *rand.Rand) {
	t.Helper()
	key := func() []byte { return []byte(fmt.Sprint("key ", random.IntN(300))) }
	val := func() []byte { return bytes.Repeat([]byte{byte(random.IntN(256))}, random.IntN(500)) }
	var err error
	switch random.IntN(10) {
	case 0:
		b := db.Batch()
		for range random.IntN(200) {
			err = errors.Join(err, b.Set(SpaceTest, key(), val()))
		}
		err = errors.Join(err, b.Flush())
	case 1:
		err = db.DropSpace([]Space{SpaceMeta, SpaceDict}[random.IntN(2)])
	case 2:
		err = db.DeleteKeys(SpaceTest, [][]byte{key(), key(), key()})
	default:
		err = db.Update(context.Background(), func(tx *Txn) error {
			for range random.IntN(20) {
				space := []Space{SpaceTest, SpaceMeta, SpaceDict}[random.IntN(3)]
				if random.IntN(3) == 0 {
					err = errors.Join(err, tx.Delete(space, key()))
				} else {
					err = errors.Join(err, tx.Set(space, key(), val()))
				}
			}
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newPair(t *testing.T) (writer, replica *DB, writerDir, dir string) {
	t.Helper()
	opts := Options{MinFree: -1, MemTable: 8 << 20}
	writerDir, dir = t.TempDir(), filepath.Join(t.TempDir(), "replica")
	writer, err := Open(writerDir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { writer.Close() })
	put(t, writer, "first", "value")
	makeReplica(t, writer, dir, opts)
	replica = openReplica(t, dir, opts)
	if err := applyAll(replica, writer, 10); err != nil {
		t.Fatal(err)
	}
	sameContent(t, writer, replica)
	return writer, replica, writerDir, dir
}

func TestAReplicaTakesNoWritesAndItsDirectoryIsNoWriters(t *testing.T) {
	writer, replica, writerDir, dir := newPair(t)
	for name, err := range map[string]error{
		"update":     replica.Update(context.Background(), func(*Txn) error { t.Error("a transaction ran"); return nil }),
		"batch":      replica.DeleteKeys(SpaceTest, [][]byte{[]byte("first")}),
		"drop space": replica.DropSpace(SpaceTest),
		"fill":       replica.Fill(func(func(Space, []byte, []byte) error) error { return nil }),
		"load":       replica.Load(bytes.NewReader(nil)),
	} {
		if !errors.Is(err, ErrReplica) || !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := writer.Apply(context.Background(), nil); err == nil {
		t.Error("records applied to a writer")
	}
	replica.Close()
	writer.Close()
	if db, err := Open(dir, Options{MinFree: -1}); !errors.Is(err, ErrReplica) {
		db.Close()
		t.Errorf("a replica opened for writing: %v", err)
	}
	if db, err := Open(writerDir, Options{MinFree: -1, Replica: true}); err == nil {
		db.Close()
		t.Error("a writer's directory opened as a replica")
	}
	db, err := Open(dir, Options{MinFree: -1, ReadOnly: true})
	if err != nil {
		t.Fatalf("a replica cannot be opened for reading: %v", err)
	}
	db.Close()
	if err := os.Remove(filepath.Join(dir, ReplicaFile)); err != nil { // promoted
		t.Fatal(err)
	}
	if db, err = Open(dir, Options{MinFree: -1}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	put(t, db, "after promotion", "value")
}

func TestAReplicaAheadOfItsWriterIsOfAnotherHistory(t *testing.T) {
	writer, replica, writerDir, _ := newPair(t)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	before := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(before, os.DirFS(writerDir)); err != nil {
		t.Fatal(err)
	}
	opts := Options{MinFree: -1, MemTable: 8 << 20}
	writer, err := Open(writerDir, opts)
	if err != nil {
		t.Fatal(err)
	}
	put(t, writer, "lost later", "value")
	if err := applyAll(replica, writer, 10); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if writer, err = Open(before, opts); err != nil { // as if the disk had lost its last write
		t.Fatal(err)
	}
	defer writer.Close()
	if err := applyAll(replica, writer, 10); !errors.Is(err, ErrOtherHistory) {
		t.Errorf("the writer is behind: %v", err)
	}
	for _, key := range []string{"a", "b", "c"} {
		put(t, writer, key, "value")
		if err := applyAll(replica, writer, 10); !errors.Is(err, ErrOtherHistory) {
			t.Errorf("the writer has gone another way: %v", err)
		}
	}
}

func TestMalformedRecordsAreRefused(t *testing.T) {
	writer, replica, _, _ := newPair(t)
	put(t, writer, "next", "value")
	var next Record
	for r, err := range writer.Records(context.Background(), replica.Position(), false) {
		if err != nil {
			t.Fatal(err)
		}
		next = Record{Number: r.Number, Sum: r.Sum, Body: bytes.Clone(r.Body)}
	}
	for name, c := range map[string]struct {
		body []byte
		want error
	}{
		"empty":          {nil, ErrDamaged},
		"newer":          {[]byte{99}, ErrNewer},
		"own space":      {[]byte{kindFew, 1, byte(spaceApplied), 1}, ErrDamaged},
		"drop own space": {encodeDrop(spaceApplied), ErrDamaged},
		"torn":           {next.Body[:len(next.Body)-1], ErrDamaged},
		"changed":        {append(bytes.Clone(next.Body[:len(next.Body)-1]), 'X'), ErrOtherHistory},
	} {
		err := replica.Apply(context.Background(), []Record{{Number: next.Number, Sum: next.Sum, Body: c.body}})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := replica.Apply(context.Background(), []Record{next}); err != nil {
		t.Error(err)
	}
	sameContent(t, writer, replica)
}

func TestATruncatedOrChangedStateMakesNoReplica(t *testing.T) {
	writer, _, _, _ := newPair(t)
	if err := writer.save(context.Background()); err != nil {
		t.Fatal(err)
	}
	s, err := writer.OpenState(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	whole := make([]byte, s.Size)
	if _, err := s.ReadAt(whole, 0); err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		changed := bytes.Clone(whole)
		changed[n] ^= 1
		for _, b := range [][]byte{whole[:n], changed} {
			err := CreateReplica(context.Background(), t.TempDir(), Options{NoSync: true}, bytes.NewReader(b), s.Position)
			if !errors.Is(err, ErrDamaged) {
				t.Fatalf("byte %d: %v", n, err)
			}
		}
	}
}

func TestTheLogIsHeldForAReaderWithinABound(t *testing.T) {
	db, err := Open(t.TempDir(), Options{MinFree: -1, MemTable: 8 << 20, SaveAt: 16 << 10, HoldBytes: 200 << 10, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	random := rand.New(rand.NewPCG(3, 3))
	start := db.Position()
	grow := func(bytes int64) {
		for from := db.log.SizeFrom(1); db.log.Next() < 10 || db.log.SizeFrom(1) < from+bytes; {
			val := make([]byte, 1000)
			for i := range val {
				val[i] = byte(random.Uint32())
			}
			if err := db.Update(context.Background(), func(tx *Txn) error { return tx.Set(SpaceTest, val[:2], val) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	save := func() {
		if err := db.save(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	reads := func() error {
		for _, err := range db.Records(context.Background(), start, false) {
			return err
		}
		return nil
	}
	db.Hold("reader", start.Number)
	grow(100 << 10)
	if err := db.Purge(context.Background()); err == nil {
		err = reads()
		if !errors.Is(err, ErrLogTrimmed) {
			t.Errorf("a purge keeps the log: %v", err)
		}
	} else {
		t.Fatal(err)
	}
	start = db.Position()
	db.Hold("reader", start.Number)
	grow(100 << 10)
	save()
	grow(50 << 10)
	save()
	save()
	if err := reads(); err != nil {
		t.Errorf("the log is not held: %v", err)
	}
	if h := db.Holds(); len(h) != 1 || h[0].Number != start.Number {
		t.Errorf("holds: %v", h)
	}
}

func TestAWriteIsAcknowledgedWhenSomethingOutsideHasIt(t *testing.T) {
	asked := make(chan uint64, 10)
	answer := make(chan error)
	db, err := Open(t.TempDir(), Options{MinFree: -1, MemTable: 8 << 20, Acknowledge: func(_ context.Context, number uint64) error {
		asked <- number
		return <-answer
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, write := range map[string]func() error{
		"update": func() error {
			return db.Update(context.Background(), func(tx *Txn) error { return tx.Set(SpaceTest, []byte("a"), nil) })
		},
		"batch": func() error { return db.DeleteKeys(SpaceTest, [][]byte{[]byte("b")}) },
		"drop":  func() error { return db.DropSpace(SpaceTest) },
	} {
		for _, want := range []error{nil, errors.New("nobody has it")} {
			returned := make(chan error, 1)
			go func() { returned <- write() }()
			number := <-asked
			if at := db.Position(); at.Number != number {
				t.Errorf("%s: asked for write set %d, the log is at %d", name, number, at.Number)
			}
			select {
			case <-returned:
				t.Errorf("%s returned before the acknowledgement", name)
			default:
			}
			answer <- want
			if err := <-returned; want == nil && err != nil || want != nil && !errors.Is(err, ErrUnacknowledged) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestRecordsWaitAtTheEndAndEndWithTheDatabase(t *testing.T) {
	db, err := Open(t.TempDir(), Options{MinFree: -1, MemTable: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	start := db.Position()
	numbers, ended := make(chan uint64), make(chan error, 1)
	go func() {
		for r, err := range db.Records(context.Background(), start, true) {
			if err != nil {
				ended <- err
				return
			}
			numbers <- r.Number
		}
		ended <- nil
	}()
	for want := uint64(1); want < 5; want++ {
		put(t, db, "key", "value")
		if got := <-numbers; got != want {
			t.Errorf("record %d, expected %d", got, want)
		}
	}
	db.Close()
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("ended with %v", err)
	}
}

func TestWhatTheWriterPurgesVanishesFromAReplica(t *testing.T) {
	writer, replica, _, dir := newPair(t)
	secret := "a secret that nobody may read any more"
	put(t, writer, "secret", secret)
	if err := applyAll(replica, writer, 10); err != nil {
		t.Fatal(err)
	}
	if err := replica.save(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := writer.DeleteKeys(SpaceTest, [][]byte{[]byte("secret")}); err != nil {
		t.Fatal(err)
	}
	at := replica.Position()
	writer.Hold("replica", at.Number)
	follows := make(chan error, 1)
	go func() { // Purge waits for the replica
		for r, err := range writer.Records(context.Background(), at, true) {
			if err == nil {
				err = replica.Apply(context.Background(), []Record{r})
			}
			writer.Hold("replica", r.Number)
			if err != nil || replica.PurgeDue() {
				follows <- err
				return
			}
		}
	}()
	if err := writer.Purge(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := <-follows; err != nil {
		t.Fatal(err)
	}
	replica.Close()
	replica = openReplica(t, dir, Options{MinFree: -1, MemTable: 8 << 20})
	if !replica.PurgeDue() {
		t.Error("a restart forgets the purge")
	}
	if err := replica.Purge(context.Background()); err != nil {
		t.Fatal(err)
	}
	if replica.PurgeDue() {
		t.Error("the purge is still due")
	}
	sameContent(t, writer, replica)
	replica.Close()
	if replica = openReplica(t, dir, Options{MinFree: -1, MemTable: 8 << 20}); replica.PurgeDue() {
		t.Error("the purge is due again")
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s has it still", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAPinnedDatabaseStaysAsItWas(t *testing.T) {
	writer, replica, _, _ := newPair(t)
	put(t, writer, "key", "before")
	if err := applyAll(replica, writer, 10); err != nil {
		t.Fatal(err)
	}
	pin, err := replica.Pin()
	if err != nil {
		t.Fatal(err)
	}
	want := contentOf(t, pin)
	for i := range 200 {
		put(t, writer, "key", fmt.Sprint(i))
	}
	if err := errors.Join(writer.DropSpace(SpaceTest), applyAll(replica, writer, 7), replica.Compact()); err != nil {
		t.Fatal(err)
	}
	purged := make(chan error, 1)
	go func() { purged <- replica.Purge(context.Background()) }()
	for replica.cache.Load() == pin.cache.Load() {
		runtime.Gosched()
	}
	got := contentOf(t, pin)
	if len(got) != len(want) || got[string(fullKey(SpaceTest, []byte("key")))] != want[string(fullKey(SpaceTest, []byte("key")))] {
		t.Errorf("pinned: %v, it was %v", got, want)
	}
	if err := pin.Update(context.Background(), func(*Txn) error { return nil }); !errors.Is(err, ErrReadOnly) {
		t.Errorf("a write: %v", err)
	}
	kept := pin.Snapshot()
	if err := pin.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := kept.Get(SpaceTest, []byte("key")); err != nil || !ok {
		t.Errorf("a snapshot of it after it was closed: %v", err)
	}
	if err := pin.View(func(*Txn) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("read after it was closed: %v", err)
	}
	kept.Close()
	if err := <-purged; err != nil {
		t.Fatal(err)
	}
	sameContent(t, writer, replica)
}
