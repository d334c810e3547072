package content

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/bucket/tier"
	"odarchive/triplestore/kv"
)

// remoteStore is a store whose closed packs are in a bucket in memory.
type remoteStore struct {
	*testStore
	memory *buckettest.Memory
	faulty *buckettest.Faulty
}

// newRemote returns a store with files of 120,000 bytes in packs of 300 KiB, all closed ones of which are only in the
// bucket if cache is 1.
func newRemote(t *testing.T, cache int64, files int) (s *remoteStore, stored [][]byte) {
	t.Helper()
	if os.Getenv(bucketMode) != "" {
		t.Skip("has a bucket of its own")
	}
	memory := &buckettest.Memory{}
	faulty := buckettest.NewFaulty(memory, 1)
	s = &remoteStore{memory: memory, faulty: faulty}
	s.testStore = newStore(t, Options{MaxPack: 300 << 10, Remote: faulty, RemoteCache: cache, RemoteLimit: time.Second,
		remoteBackoff: time.Millisecond, remotePause: 20 * time.Millisecond})
	for i := range files {
		data := noise(rng(uint64(i)+100), 120_000)
		s.put(data, Digest{})
		stored = append(stored, data)
	}
	if err := s.tail.closeCurrent(); err != nil {
		t.Fatal(err)
	}
	s.settle()
	for cache == 1 && len(s.local("*.pack")) > 0 { // the last one leaves just after it is in the bucket
		time.Sleep(time.Millisecond)
	}
	return s, stored
}

// settle waits until parity is made and everything is in the bucket.
func (s *remoteStore) settle() {
	s.t.Helper()
	s.parity.waitIdle(s.t.Context())
	if err := s.FlushRemote(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// local returns the names of packs in the folder.
func (s *remoteStore) local(pattern string) []string {
	names, _ := filepath.Glob(filepath.Join(s.dir, pattern))
	return names
}

func TestClosedPacksLeaveTheFolderAndAreReadFromTheBucket(t *testing.T) {
	t.Parallel()
	s, stored := newRemote(t, 1, 9)
	if left := s.local("*.pack"); len(left) > 0 || len(s.memory.Keys()) < 5 {
		t.Fatalf("in the folder are %q, in the bucket %q", left, s.memory.Keys())
	}
	for _, data := range stored {
		s.check(data)
	}
	s.verify()
	s.Store.Close()
	s.reopen()
	for _, data := range stored {
		s.check(data)
	}
	if faults, err := s.CheckRemote(t.Context(), true, 0, nil); err != nil || len(faults) > 0 {
		t.Errorf("faults: %v, %v", faults, err)
	}
}

func TestAPackThatLeftTheFolderIsNotKeptOpen(t *testing.T) {
	t.Parallel()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil || len(open) == 0 {
		t.Skip("the system does not tell which files are open")
	}
	s, _ := newRemote(t, 1, 0)
	data := noise(rng(1), 120_000)
	s.put(data, Digest{})
	s.check(data) // opens the pack that grows
	if err := s.tail.closeCurrent(); err != nil {
		t.Fatal(err)
	}
	s.settle()
	for len(s.local("*.pack")) > 0 {
		time.Sleep(time.Millisecond)
	}
	s.check(data)
	if open, err = os.ReadDir("/proc/self/fd"); err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if name, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && strings.HasPrefix(name, s.dir) &&
			strings.Contains(name, "deleted") {
			t.Errorf("%s is open", name)
		}
	}
}

func TestTheCacheKeepsItsBound(t *testing.T) {
	t.Parallel()
	const bound = 700_000
	s, stored := newRemote(t, bound, 20)
	for range 3 {
		for _, data := range stored {
			s.check(data)
			size := int64(0)
			for _, name := range append(s.local("*.pack"), append(s.local("*.parity"), s.local("cold/*")...)...) {
				if info, err := os.Stat(name); err == nil {
					size += info.Size()
				}
			}
			if st := s.stats(); st.Cached > bound+300<<10 || st.Waiting > 0 {
				t.Fatalf("cached are %d bytes of %d, %d files wait", st.Cached, bound, st.Waiting)
			}
		}
	}
}

func TestReadingColdBytesWhileTheBucketIsAwayFailsSoonAndIsNoDamage(t *testing.T) {
	t.Parallel()
	s, stored := newRemote(t, 1, 6)
	s.faulty.Away(true)
	for _, data := range stored {
		err := readAll(s.Store, sha256.Sum256(data))
		if !errors.Is(err, bucket.ErrUnavailable) || errors.Is(err, ErrDamaged) {
			t.Fatalf("reading while the bucket is away: %v", err)
		}
	}
	if _, err := s.Verify(t.Context(), VerifyOptions{}); !errors.Is(err, bucket.ErrUnavailable) {
		t.Errorf("verify: %v", err)
	}
	if _, _, err := s.Mend(t.Context()); !errors.Is(err, bucket.ErrUnavailable) {
		t.Errorf("mend: %v", err)
	}
	if err := s.scrubCold(t.Context(), nil); !errors.Is(err, bucket.ErrUnavailable) {
		t.Errorf("scrub: %v", err)
	}
	if _, err := s.CheckRemote(t.Context(), false, 0, nil); !errors.Is(err, bucket.ErrUnavailable) {
		t.Errorf("check of the bucket: %v", err)
	}
	// Puts go on; what is closed waits, and stays readable.
	late := noise(rng(7), 250_000)
	s.put(late, Digest{})
	if err := s.tail.closeCurrent(); err != nil {
		t.Fatal(err)
	}
	s.check(late)
	if err := s.FlushRemote(t.Context()); err == nil {
		t.Error("everything is said to be in a bucket that is away")
	}
	if st := s.stats(); st.Waiting == 0 || st.Problem == "" || st.Failures == 0 {
		t.Errorf("%+v", st)
	}
	if list := s.Damages(); len(list) > 0 {
		t.Errorf("damages: %v", list)
	}
	s.faulty.Away(false)
	time.Sleep(30 * time.Millisecond) // after remotePause
	for _, data := range append(stored, late) {
		s.check(data)
	}
	s.verify()
}

func TestAStoreOpensAndAnswersWhileItsBucketIsAway(t *testing.T) {
	t.Parallel()
	s, stored := newRemote(t, 1, 6)
	s.Store.Close()
	s.faulty.Away(true)
	s.reopen()
	if _, ok, err := s.Stat(sha256.Sum256(stored[0])); !ok || err != nil {
		t.Errorf("stat: %v, %v", ok, err)
	}
	s.put(noise(rng(8), 100_000), Digest{})
	s.faulty.Away(false)
	for _, data := range stored {
		s.check(data)
	}
}

func TestPurgedBytesAreGoneFromTheBucketAlsoAfterItWasAway(t *testing.T) {
	t.Parallel()
	for _, away := range []bool{false, true} {
		s, stored := newRemote(t, 1, 6)
		own := stored[2][50_000:50_100]
		holds := func() (keys []string) {
			for _, key := range s.memory.Keys() {
				data, _, err := buckettest.Read(t.Context(), s.memory, key, 0, -1)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Contains(data, own) {
					keys = append(keys, key)
				}
			}
			return keys
		}
		if len(holds()) == 0 {
			t.Fatal("the bytes are not found in the bucket")
		}
		if away { // once the packs are rewritten
			s.faulty.Hook(func(op, key string) error {
				if op == "delete" {
					return bucket.ErrUnavailable
				}
				return nil
			})
			if _, err := s.Purge(t.Context(), []Digest{sha256.Sum256(stored[2])}, nil); err == nil ||
				!strings.Contains(err.Error(), "the bucket still has the bytes") {
				t.Fatalf("purge without deletions: %v", err)
			}
			s.Store.Close() // killed: the next process goes on
			s.faulty.Hook(nil)
			s.reopen()
		}
		if _, err := s.Purge(t.Context(), []Digest{sha256.Sum256(stored[2])}, nil); err != nil {
			t.Fatal(err)
		}
		s.settle()
		if keys := holds(); len(keys) > 0 {
			t.Errorf("away %v: purged bytes are in %q", away, keys)
		}
		for i, data := range stored {
			if i != 2 {
				s.check(data)
			}
		}
		s.verify()
	}
}

func TestASecondArchiveCannotUseTheSameBucket(t *testing.T) {
	t.Parallel()
	s, _ := newRemote(t, 1, 3)
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := Open(t.TempDir(), db, Options{MinFree: -1, NoSync: true, Remote: s.faulty, TakeOver: true}); !errors.Is(err,
		tier.ErrOwned) || !strings.Contains(err.Error(), "choose another") {
		t.Errorf("another archive: %v", err)
	}
	s.Store.Close()
	// A copy of the folder's database, without the folder.
	if _, err := Open(t.TempDir(), s.kv, Options{MinFree: -1, NoSync: true, Remote: s.faulty}); !errors.Is(err, tier.ErrOwned) ||
		!strings.Contains(err.Error(), "take the bucket over") {
		t.Errorf("another copy: %v", err)
	}
	other := t.TempDir()
	copied, err := Open(other, s.kv, Options{MinFree: -1, NoSync: true, Remote: s.faulty, TakeOver: true})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if v, err := copied.Verify(t.Context(), VerifyOptions{Deep: true}); err != nil || v.Damaged > 0 || v.Files != 3 {
		t.Errorf("the copy that took over: %+v, %v", v, err)
	}
	if _, err := Open(s.dir, s.kv, s.opts); !errors.Is(err, tier.ErrOwned) {
		t.Errorf("the former folder: %v", err)
	}
}

func TestAStoreWhosePacksAreInABucketIsNotOpenedWithout(t *testing.T) {
	t.Parallel()
	s, _ := newRemote(t, 1, 3)
	s.Store.Close()
	if _, err := Open(s.dir, s.kv, Options{MinFree: -1, NoSync: true}); !errors.Is(err, ErrRemote) {
		t.Errorf("got %v", err)
	}
}

func TestDamagedAndMissingObjectsAreFoundAndMended(t *testing.T) {
	t.Parallel()
	for _, cache := range []int64{1, 1 << 40} {
		s, stored := newRemote(t, cache, 9)
		var packs, parities []string
		for _, key := range s.memory.Keys() {
			if strings.HasSuffix(key, closedSuffix) {
				packs = append(packs, key)
			} else if strings.HasSuffix(key, paritySuffix) {
				parities = append(parities, key)
			}
		}
		s.memory.Change(packs[0], func(b []byte) []byte { copy(b[20_000:24_000], make([]byte, 4000)); return b })
		s.memory.Change(packs[1], func(b []byte) []byte { return b[:len(b)-1000] })
		s.memory.Change(parities[2], func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		for _, data := range stored { // through parity, or from here
			s.check(data)
		}
		quick, err := s.CheckRemote(t.Context(), false, 0, nil)
		if err != nil || len(quick) != 1 || quick[0].Name != packs[1] {
			t.Errorf("cache %d: a listing finds %+v, %v", cache, quick, err)
		}
		deep, err := s.CheckRemote(t.Context(), true, 0, nil)
		if err != nil || len(deep) != 3 {
			t.Errorf("cache %d: reading finds %+v, %v", cache, deep, err)
		}
		if err := s.memory.Delete(t.Context(), parities[3]); err != nil {
			t.Fatal(err)
		}
		if deep, err = s.CheckRemote(t.Context(), true, 0, nil); err != nil || len(deep) != 4 {
			t.Errorf("cache %d: reading finds %+v, %v", cache, deep, err)
		}
		if err := s.MendRemote(t.Context(), deep); err != nil {
			t.Fatal(err)
		}
		if left, files, err := s.Mend(t.Context()); err != nil || len(left)+len(files) > 0 {
			t.Errorf("cache %d: left are %v, %v, %v", cache, left, files, err)
		}
		s.settle()
		if deep, err = s.CheckRemote(t.Context(), true, 0, nil); err != nil || len(deep) > 0 {
			t.Errorf("cache %d: after the repair, reading finds %+v, %v", cache, deep, err)
		}
		for _, data := range stored {
			s.check(data)
		}
	}
}

func TestAMissingObjectNamesTheFilesThatAreLost(t *testing.T) {
	t.Parallel()
	s, stored := newRemote(t, 1, 9)
	var pack string
	for _, key := range s.memory.Keys() {
		if strings.HasSuffix(key, closedSuffix) {
			pack = key
		}
	}
	if err := s.memory.Delete(t.Context(), pack); err != nil {
		t.Fatal(err)
	}
	lost := 0
	for _, data := range stored {
		if err := readAll(s.Store, sha256.Sum256(data)); errors.Is(err, ErrDamaged) {
			lost++
		} else if err != nil {
			t.Error(err)
		}
	}
	if lost == 0 {
		t.Error("no file is lost")
	}
	faults, err := s.CheckRemote(t.Context(), false, 0, nil)
	if err != nil || len(faults) != 1 || !faults[0].Missing {
		t.Fatalf("%+v, %v", faults, err)
	}
	if err := s.MendRemote(t.Context(), faults); err != nil {
		t.Fatal(err)
	}
	if _, files, err := s.Mend(t.Context()); err != nil || len(files) != lost {
		t.Errorf("mend gives up %d files, %v; %d cannot be read", len(files), err, lost)
	}
}

func TestAnArchiveMovesIntoABucketAndOutAgain(t *testing.T) {
	t.Parallel()
	if os.Getenv(bucketMode) != "" {
		t.Skip("begins without a bucket")
	}
	s := newStore(t, Options{MaxPack: 300 << 10})
	var stored [][]byte
	for i := range 6 {
		stored = append(stored, noise(rng(uint64(i)), 120_000))
		s.put(stored[i], Digest{})
	}
	s.parity.waitIdle(t.Context())
	memory := &buckettest.Memory{}
	faulty := buckettest.NewFaulty(memory, 2)
	s.Store.Close()
	s.opts.Remote, s.opts.RemoteCache, s.opts.remoteBackoff, s.opts.remotePause = faulty, 1, time.Millisecond, time.Millisecond
	s.reopen()
	if err := s.FlushRemote(t.Context()); err != nil {
		t.Fatal(err)
	}
	r := &remoteStore{testStore: s, memory: memory, faulty: faulty}
	if left := r.local("*.pack"); len(left) > 0 {
		t.Errorf("left in the folder: %q", left)
	}
	for _, data := range stored {
		s.check(data)
	}
	s.Store.Close()
	for _, key := range []string{ParcelPrefix + "A", "of-somebody-else"} {
		if err := memory.Put(t.Context(), key, 1, strings.NewReader("x"), bucket.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// Out again, interrupted at every request to the bucket in turn.
	s.opts.Detach = true
	tries := 0
	for ; ; tries++ {
		n := 0
		faulty.Hook(func(op, key string) error {
			if n++; n > tries*2 {
				return bucket.ErrUnavailable
			}
			return nil
		})
		store, err := Open(s.dir, s.kv, s.opts)
		if err == nil {
			s.Store = store
			break
		}
		if !errors.Is(err, bucket.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	faulty.Hook(nil)
	if keys := memory.Keys(); !slices.Equal(keys, []string{"of-somebody-else"}) || tries < 3 {
		t.Errorf("left in the bucket after %d interruptions: %q", tries, keys)
	}
	for _, data := range stored {
		s.check(data)
	}
	s.verify()
	s.Store.Close()
	s.opts.Detach, s.opts.Remote = false, nil
	s.reopen() // no bucket is needed
	s.verify()
}

func TestAnUploadWhoseRecordIsLostIsCollectedAndAPackThatIsNeededIsAdopted(t *testing.T) {
	t.Parallel()
	s, stored := newRemote(t, 1, 6)
	junk := fmt.Sprintf("%012d-%032x.pack", 999, 5)
	if err := s.memory.Put(t.Context(), junk, 3, strings.NewReader("abc"), bucket.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if n, err := s.tier.Sweep(t.Context()); err != nil || n != 0 {
		t.Errorf("a young object was collected: %d, %v", n, err)
	}
	s.memory.Age(junk, 25*time.Hour)
	if n, err := s.tier.Sweep(t.Context()); err != nil || n != 1 {
		t.Errorf("an old object: %d collected, %v", n, err)
	}
	s.Store.Close()
	if err := os.Remove(filepath.Join(s.dir, tier.JournalName)); err != nil {
		t.Fatal(err)
	}
	s.opts.TakeOver = true // without its journal, the folder is another copy
	s.reopen()
	for _, data := range stored {
		s.check(data)
	}
	s.verify()
}

func TestAZipOfColdFilesDownloadsLittleMoreThanItNeeds(t *testing.T) {
	t.Parallel()
	s, stored := newRemote(t, 100<<20, 1)
	s.opts.RemoteCache = 100 << 20
	var need int64
	for i := range 60 {
		data := noise(rng(uint64(i)+900), 30_000)
		s.put(data, Digest{})
		if i%3 == 0 {
			stored = append(stored, data)
		}
	}
	if err := s.tail.closeCurrent(); err != nil {
		t.Fatal(err)
	}
	s.settle()
	s.Store.Close()
	for _, name := range append(s.local("*.pack"), s.local("*.parity")...) { // as evicted
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	s.reopen()
	before := s.faulty.Count()
	for round := range 2 {
		for _, data := range stored {
			d, err := s.Deflated(sha256.Sum256(data), Current)
			if err != nil {
				t.Fatal(err)
			}
			if round == 0 {
				need += d.Size()
			}
			if _, err := io.Copy(io.Discard, d); err != nil {
				t.Fatal(err)
			}
			d.Close()
		}
	}
	after := s.faulty.Count()
	if got := after.Read - before.Read; float64(got) > 1.3*float64(need) || after.Gets-before.Gets > len(stored) {
		t.Errorf("%d bytes in %d requests for %d bytes of %d files", got, after.Gets-before.Gets, need, len(stored))
	}
}

func TestAFollowerReadsClosedPacksFromTheBucketOfAnotherStore(t *testing.T) {
	t.Parallel()
	if os.Getenv(bucketMode) != "" {
		t.Skip("has a bucket of its own")
	}
	memory, dir, theirs := &buckettest.Memory{}, t.TempDir(), t.TempDir()
	db, err := kv.Open(filepath.Join(dir, "db"), kv.Options{MinFree: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := &testStore{t: t, dir: filepath.Join(dir, "packs"), kv: db,
		opts: Options{MinFree: -1, NoSync: true, MaxPack: 300 << 10, Remote: memory}}
	s.reopen()
	defer s.Store.Close()
	var stored [][]byte
	put := func(n int) {
		for range n {
			data := noise(rng(uint64(len(stored))), 120_000)
			s.put(data, Digest{})
			stored = append(stored, data)
		}
		if err := s.FlushRemote(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	put(5)
	fsys, err := Follow(t.Context(), theirs, memory, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer fsys.Close()
	put(5)
	name := openName(s.tail.current())
	write(t, filepath.Join(theirs, name), read(t, filepath.Join(s.dir, name)))
	time.Sleep(time.Second) // after which the bucket is listed again
	for range 2 {           // a follower opens one store after another
		state, err := kv.Open(filepath.Join(dir, "db"), kv.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		follower, err := Open(theirs, state, Options{FS: fsys})
		if err != nil {
			t.Fatal(err)
		}
		for _, data := range stored {
			if err := readAll(follower, sha256.Sum256(data)); err != nil {
				t.Error(err)
			}
		}
		if st, ok := follower.Remote(); !ok || st.Cold == 0 || st.Read > 1_200_000 {
			t.Errorf("the follower's figures are %+v, %v", st, ok)
		}
		if err := errors.Join(follower.Close(), state.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestParcelsOfWorkersAreNotPacks is about the objects that crawler/copies/dispatch has in the same bucket: the archive
// must not take them for packs, which it would delete.
func TestParcelsOfWorkersAreNotPacks(t *testing.T) {
	for _, key := range []string{"parcels/ABCDEFGHIJKLMNOPQRSTUVWXYZ", "parcels/ABCDEFGHIJKLMNOPQRSTUVWXYZ-inside",
		"parcels/writer-ABCDEFGHIJKLMNOPQRSTUVWXYZ"} {
		if isRemote(key) {
			t.Errorf("%s is taken for a pack", key)
		}
	}
}
