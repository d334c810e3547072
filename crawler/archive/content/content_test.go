package content

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"odarchive/triplestore/compression"
	"odarchive/triplestore/kv"

	"github.com/klauspost/compress/flate"
)

// testStore is a store with its database, each in a temporary folder.
type testStore struct {
	*Store
	t    testing.TB
	dir  string
	kv   *kv.DB
	opts Options
}

func newStore(t testing.TB, o Options) *testStore {
	t.Helper()
	if o.MinFree == 0 {
		o.MinFree = -1
	}
	o = withBucket(t, o)
	o.NoSync = o.FS == nil // tests of failing writes also count fsyncs
	s := &testStore{t: t, dir: t.TempDir(), opts: o}
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	s.kv = db
	t.Cleanup(func() {
		s.Store.Close()
		db.Close()
	})
	s.reopen()
	return s
}

// reopen opens the store again from what is on disk. Without a Close before, that is what a killed process leaves.
func (s *testStore) reopen() {
	s.t.Helper()
	if s.Store != nil {
		s.Store.parity.stop()
		if s.Store.tier != nil {
			s.Store.tier.Close()
		}
	}
	store, err := Open(s.dir, s.kv, s.opts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Store = store
}

func (s *testStore) put(data []byte, previous Digest) Ref {
	s.t.Helper()
	ref, err := s.Put(context.Background(), bytes.NewReader(data), PutOptions{Previous: previous})
	if err != nil {
		s.t.Fatal(err)
	}
	return ref
}

// check compares everything that can be read of a file with its bytes.
func (s *testStore) check(want []byte) {
	s.t.Helper()
	sha := sha256.Sum256(want)
	ref, ok, err := s.Stat(sha)
	if err != nil || !ok {
		s.t.Fatalf("Stat: %v, %v", ok, err)
	}
	if ref.SHA256 != sha || ref.MD5 != md5.Sum(want) || ref.CRC32 != crc32.ChecksumIEEE(want) || ref.Size != int64(len(want)) {
		s.t.Fatalf("wrong ref %+v", ref)
	}
	r, err := s.Open(sha)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Close()
	if err := iotest.TestReader(r, want); err != nil && len(want) < 1<<12 {
		s.t.Fatal(err)
	}
	r.Seek(0, io.SeekStart)
	var got bytes.Buffer
	if _, err := r.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
		s.t.Fatalf("read %d bytes of %d: %v", got.Len(), len(want), err)
	}
	d, err := s.Deflated(sha, ref.Layout)
	if err != nil {
		s.t.Fatal(err)
	}
	defer d.Close()
	stream, err := io.ReadAll(d)
	if err != nil || int64(len(stream)) != ref.DeflateSize || d.Size() != ref.DeflateSize {
		s.t.Fatalf("deflated: %d bytes of %d: %v", len(stream), ref.DeflateSize, err)
	}
	plain, err := io.ReadAll(flate.NewReader(io.MultiReader(bytes.NewReader(stream), strings.NewReader(Tail))))
	if err != nil || !bytes.Equal(plain, want) {
		s.t.Fatalf("inflated: %d bytes of %d: %v", len(plain), len(want), err)
	}
	r2 := rng(uint64(len(want)))
	for range 3 {
		off := r2.Int64N(ref.DeflateSize + 1)
		d.Seek(off, io.SeekStart)
		if rest, err := io.ReadAll(d); err != nil || !bytes.Equal(rest, stream[off:]) {
			s.t.Fatalf("deflated from %d: %v", off, err)
		}
	}
}

func (s *testStore) verify() {
	s.t.Helper()
	v, err := s.Verify(context.Background(), VerifyOptions{Deep: true})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, d := range v.Damages {
		s.t.Errorf("damage: %v", &d.DamageError)
	}
	st, err := s.Stats()
	if err != nil || st.Files != v.Files || st.RawBytes != v.RawBytes {
		s.t.Errorf("stats say %+v, verify %+v (%v)", st, v, err)
	}
	live := int64(0)
	s.kv.View(func(tx *kv.Txn) error {
		return eachExtent(tx, func(x *extent) error {
			for i := range x.segments {
				if g := &x.segments[i]; g.pack != 0 && g.cut == 0 {
					live += g.stored()
				}
			}
			return nil
		})
	})
	if want := st.Bytes - st.Waste - st.Records - int64(st.Packs)*packHead; live != want {
		s.t.Errorf("the records point to %d bytes of segments, the packs count %d", live, want)
	}
}

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 5)) }

// table is CSV text of about n bytes.
func table(r *rand.Rand, n int) []byte {
	words := []string{"Wien", "Graz", "Linz", "Salzburg", "Innsbruck", "closed", "open", "unknown", "Hauptplatz"}
	b := []byte("id,place,state,value,measured\n")
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "%d,%s,%s,%.3f,2026-%02d-%02dT%02d:00:00Z\n", i, words[r.IntN(len(words))], words[r.IntN(len(words))],
			r.Float64()*100, 1+r.IntN(12), 1+r.IntN(28), r.IntN(24))
	}
	return b
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// edit returns a next version: with changed, appended or deleted parts.
func edit(r *rand.Rand, old []byte) []byte {
	newer := slices.Clone(old)
	switch r.IntN(5) {
	case 0:
		return append(newer, table(r, 1+r.IntN(5000))...)
	case 1:
		a := r.IntN(len(newer) + 1)
		return slices.Delete(newer, a, min(len(newer), a+r.IntN(9000)))
	case 2:
		return slices.Insert(newer, r.IntN(len(newer)+1), noise(r, r.IntN(3000))...)
	case 3:
		return slices.Concat(newer[len(newer)/2:], newer[:len(newer)/2])
	}
	for range 1 + r.IntN(6) {
		if len(newer) > 0 {
			newer[r.IntN(len(newer))] ^= byte(1 + r.IntN(255))
		}
	}
	return newer
}

func TestFilesOfEverySizeAndKindComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 300 << 10})
	r := rng(1)
	for _, n := range []int{0, 1, 2, 63, 1000, maxRaw - 1, maxRaw, maxRaw + 1, 3*maxRaw + 17} {
		for _, data := range [][]byte{table(r, n)[:n], noise(r, n), bytes.Repeat([]byte{0}, n)} {
			s.put(data, Digest{})
			s.check(data)
		}
	}
	s.verify()
}

func TestManyVersionsOfSeveralFilesAgreeWithAModelThroughCrashesAndCompaction(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 250 << 10, Waste: 0.1})
	r := rng(2)
	var all [][]byte
	chains := [][]byte{table(r, 140_000), table(r, 3000), noise(r, 70_000), {}, bytes.Repeat([]byte("abc\n"), 20_000)}
	shas := make([]Digest, len(chains))
	for i, data := range chains {
		shas[i] = s.put(data, Digest{}).SHA256
		all = append(all, data)
	}
	for step := range 50 {
		i := r.IntN(len(chains))
		base := i
		if r.IntN(10) == 0 { // two addresses with the same file
			base = r.IntN(len(chains))
		}
		data := edit(r, chains[base])
		ref := s.put(data, shas[base])
		chains[i], shas[i] = data, ref.SHA256
		all = append(all, data)
		s.check(data)
		switch {
		case step%17 == 3:
			s.reopen() // without Close: what a killed process leaves
		case step%23 == 5:
			if _, err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, data := range all {
		s.check(data)
	}
	s.verify()
	keep := func(sha [32]byte) bool { return sha[0]%2 == 0 }
	s.recent = recent{}
	c, err := s.GC(t.Context(), keep)
	if err != nil || c.Files == 0 {
		t.Fatalf("gc: %+v %v", c, err)
	}
	s.verify()
	for _, data := range all {
		if sha := sha256.Sum256(data); keep(sha) {
			s.check(data)
		} else if _, ok, _ := s.Stat(sha); ok {
			t.Errorf("a file that nobody names is still there")
		}
	}
	s.recent = recent{}
	if _, err := s.GC(t.Context(), func([32]byte) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Stats(); err != nil || st.Files != 0 || st.RawBytes != 0 || st.Bytes > packHead {
		t.Errorf("after everything was collected: %+v %v", st, err)
	}
}

func TestTheSameBytesAreStoredOnceAndKnownBytesAreNotRead(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	data := table(rng(3), 100_000)
	first := s.put(data, Digest{})
	before, _ := s.Stats()
	again, err := s.Put(t.Context(), iotest.ErrReader(errors.New("it was read")),
		PutOptions{Known: &Digests{SHA256: first.SHA256, MD5: first.MD5}})
	if err != nil || again != first {
		t.Errorf("got %+v, %v", again, err)
	}
	s.put(data, Digest{1})
	if after, _ := s.Stats(); after != before {
		t.Errorf("stats were %+v, are %+v", before, after)
	}
}

func TestBytesThatAreNotWhatTheirDigestSaysAreRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	_, err := s.Put(t.Context(), strings.NewReader("hello"), PutOptions{Known: &Digests{SHA256: [32]byte{1}}})
	if !errors.Is(err, ErrDigest) {
		t.Errorf("got %v", err)
	}
}

func TestAReaderThatCannotSeekIsCopied(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{inMemory: 100_000})
	data := table(rng(4), 1500<<10)
	for range 2 {
		if _, err := s.Put(t.Context(), io.MultiReader(bytes.NewReader(data)), PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.check(data)
	next := edit(rng(5), data) // both are too big for memory
	s.put(next, sha256.Sum256(data))
	s.check(next)
	s.check(data)
	if left, _ := os.ReadDir(filepath.Join(s.dir, spoolDir)); len(left) != 0 {
		t.Errorf("%d files are left in the spool", len(left))
	}
	if _, err := s.Put(t.Context(), iotest.ErrReader(io.ErrUnexpectedEOF), PutOptions{}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a reader that fails: %v", err)
	}
}

func TestASmallEditCostsLittle(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	r := rng(6)
	data := table(r, 1<<20)
	ref := s.put(data, Digest{})
	first, _ := s.Stats()
	for range 10 {
		data = slices.Clone(data)
		at := r.IntN(len(data) - 100)
		copy(data[at:], "a changed value")
		ref = s.put(data, ref.SHA256)
	}
	if _, err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, _ := s.Stats()
	grown := (after.Bytes - after.Waste) - first.Bytes
	t.Logf("first version %d bytes, ten more %d", first.Bytes, grown)
	if grown > first.Bytes/10 {
		t.Errorf("ten versions with one changed value each cost %d bytes, the first one %d", grown, first.Bytes)
	}
}

func TestConcurrentPutsOfRelatedFilesAllSucceed(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 500 << 10, Waste: 0.05})
	base := table(rng(7), 150_000)
	sha := s.put(base, Digest{}).SHA256
	versions := make([][]byte, 12)
	var wg, back sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	back.Go(func() {
		for range 8 {
			if ctx.Err() != nil {
				return
			}
			if _, err := s.Compact(ctx); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
			s.check(base)
		}
	})
	for i := range versions {
		versions[i] = edit(rng(uint64(100+i/2)), base) // each twice
		wg.Go(func() {
			if _, err := s.Put(t.Context(), bytes.NewReader(versions[i]), PutOptions{Previous: sha}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	stop()
	back.Wait()
	for _, data := range versions {
		s.check(data)
	}
	s.verify()
}

func TestAnOpenLayoutStaysReadableWhileSegmentsAreCutAndCompacted(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{Waste: 0.01})
	r := rng(8)
	data := table(r, 400_000)
	release := s.Hold()
	old := s.put(data, Digest{})
	open, err := s.Deflated(old.SHA256, old.Layout)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	io.CopyN(io.Discard, open, 1000)
	sha, newer := old.SHA256, data
	for range 5 {
		newer = slices.Clone(newer)
		copy(newer[r.IntN(len(newer)-50):], "something else stands here")
		sha = s.put(newer, sha).SHA256
	}
	now, _, _ := s.Stat(old.SHA256)
	if now.Layout == old.Layout || now.DeflateSize == old.DeflateSize {
		t.Fatalf("nothing was cut: %+v", now)
	}
	if c, err := s.Compact(t.Context()); err != nil || c.Packs == 0 {
		t.Fatalf("%+v, %v", c, err)
	}
	if n, err := io.Copy(io.Discard, open); err != nil || n != old.DeflateSize-1000 {
		t.Errorf("the open stream gave %d bytes more of %d: %v", n, old.DeflateSize-1000, err)
	}
	again, err := s.Deflated(old.SHA256, old.Layout)
	if err != nil || again.Size() != old.DeflateSize {
		t.Fatalf("opened again: %v", err)
	}
	if stream, err := io.ReadAll(again); err != nil || int64(len(stream)) != old.DeflateSize {
		t.Errorf("the old layout: %d bytes, %v", len(stream), err)
	}
	again.Close()
	open.Close()
	release()
	release()
	big, _ := s.Stats()
	if c, err := s.Compact(t.Context()); err != nil || c.Freed <= 0 {
		t.Errorf("after the hold: %+v, %v", c, err)
	}
	if small, _ := s.Stats(); small.Bytes >= big.Bytes {
		t.Errorf("nothing was given back: %d bytes, then %d", big.Bytes, small.Bytes)
	}
	if d, err := s.Deflated(old.SHA256, old.Layout); err == nil {
		if _, err := io.ReadAll(d); !errors.Is(err, ErrDamaged) {
			t.Errorf("a layout that is gone reads as %v", err)
		}
		d.Close()
	}
	s.check(data)
	s.check(newer)
	s.verify()
}

func TestAClosedPackIsNamedByItsContent(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{MaxPack: 200 << 10})
	for i := range 6 {
		s.put(noise(rng(uint64(i)), 80_000), Digest{})
	}
	closed := 0
	for _, num := range s.packs.numbers() {
		name := s.packs.nameOf(num)
		got, hash, ok := parsePackName(name)
		if !ok || got != num {
			t.Errorf("name %q", name)
		}
		if hash == "" {
			continue
		}
		closed++
		data, err := os.ReadFile(filepath.Join(s.dir, name))
		if sum := sha256.Sum256(data); err != nil || closedName(num, sum) != name {
			t.Errorf("pack %s has the hash %x (%v)", name, sum, err)
		}
	}
	if closed < 2 {
		t.Errorf("%d packs are closed", closed)
	}
}

func TestAnotherFormatIsRefused(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	s.Close()
	s.kv.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(refsSpace, stateKey("format"), []byte{remoteFormat + 1}) })
	if _, err := Open(s.dir, s.kv, s.opts); err == nil ||
		!strings.Contains(err.Error(), "the content store has format 3, and this program reads format 1") {
		t.Errorf("got %v", err)
	}
}

func TestACancelledPutLeavesNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Put(ctx, bytes.NewReader(table(rng(9), 1<<20)), PutOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if st, _ := s.Stats(); st.Files != 0 {
		t.Errorf("%+v", st)
	}
}

func TestCombinedChecksumsAreThoseOfTheWhole(t *testing.T) {
	t.Parallel()
	r := rng(10)
	for range 100 {
		a, b := noise(r, r.IntN(3000)), noise(r, r.IntN(3000))
		got := compression.CombineCRC(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), int64(len(b)))
		if want := crc32.ChecksumIEEE(append(a, b...)); got != want {
			t.Fatalf("got %08x, want %08x for %d and %d bytes", got, want, len(a), len(b))
		}
	}
}

func TestPutTellsWhenItOnlyWaitsForTheDisk(t *testing.T) {
	t.Parallel()
	s := newStore(t, Options{})
	data, calls := table(rng(11), 100_000), 0
	sha := sha256.Sum256(data)
	put := func() {
		t.Helper()
		_, err := s.Put(t.Context(), bytes.NewReader(data), PutOptions{Written: func() {
			calls++
			if _, stored, err := s.Stat(sha); stored || err != nil {
				t.Errorf("stored %v, %v", stored, err)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	put()
	s.check(data)
	if put(); calls != 1 {
		t.Errorf("calls %d times of one file that was put twice", calls)
	}
}
