package content

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// closedPacks puts random files until some packs are closed, and waits for their parity.
func closedPacks(t *testing.T, o Options, files, size int) (s *testStore, packs []string, stored [][]byte) {
	t.Helper()
	s = newStore(t, o)
	for i := range files {
		data := noise(rng(uint64(i)+100), size)
		s.put(data, Digest{})
		stored = append(stored, data)
	}
	s.parity.waitIdle(t.Context())
	for _, num := range s.packs.numbers() {
		if name := s.packs.nameOf(num); isClosed(name) {
			packs = append(packs, filepath.Join(s.dir, name))
		}
	}
	if len(packs) == 0 {
		t.Fatal("no pack is closed")
	}
	return s, packs, stored
}

// rounds returns the number of repetitions of a random test.
func rounds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// harm damages some bytes as a failing disk does.
func harm(r *rand.Rand, data []byte) (harmed []byte, how string) {
	data = slices.Clone(data)
	switch r.IntN(4) {
	case 0:
		for range 1 + r.IntN(2) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		return data, "flipped bits"
	case 1:
		at := r.IntN(len(data)) / 512 * 512
		clear(data[at:min(len(data), at+512)])
		return data, "a lost sector"
	case 2:
		at := r.IntN(len(data)) / 4096 * 4096
		clear(data[at:min(len(data), at+4096)])
		return data, "a lost block"
	}
	return data[:len(data)-1-r.IntN(min(len(data)-1, 6000))], "a lost end"
}

func TestDamageInAClosedPackHealsFromParityWithoutLoss(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rng(seed)
	s, packs, stored := closedPacks(t, Options{MaxPack: 400 << 10}, 9, 120_000)
	for range rounds(30) {
		name := packs[r.IntN(len(packs))]
		whole := read(t, name)
		harmed, how := harm(r, whole)
		if bytes.Equal(harmed, whole) {
			continue
		}
		write(t, name, harmed)
		for _, data := range stored {
			s.check(data)
		}
		list, err := s.VerifyAll(t.Context(), nil)
		if err != nil || len(list) == 0 || !strings.HasPrefix(list[0].File, filepath.Base(s.dir)+"/") {
			t.Fatalf("%s in %s: found %v, %v", how, name, list, err)
		}
		v, err := s.Verify(t.Context(), VerifyOptions{Deep: true})
		if err != nil || v.Damaged == 0 || slices.ContainsFunc(v.Damages, func(d Damage) bool { return !d.Healable || len(d.Files) > 0 }) {
			t.Fatalf("%s in %s: verified %+v, %v", how, name, v.Damages, err)
		}
		left, files, err := s.Mend(t.Context())
		if err != nil || len(left)+len(files) > 0 || !bytes.Equal(read(t, name), whole) {
			t.Fatalf("%s in %s: left are %v, %v, %v", how, name, left, files, err)
		}
		for _, d := range s.Damages() {
			if d.Mended.IsZero() || d.How != "parity" {
				t.Errorf("%s: %v", how, d)
			}
		}
	}
	s.verify()
}

func TestManyBadSectorsHealAsLongAsNoRowHasThree(t *testing.T) {
	t.Parallel()
	s, packs, stored := closedPacks(t, Options{MaxPack: 6 << 20}, 3, 3<<20)
	whole := read(t, packs[0])
	rows := rowsOf(int64(len(whole)))
	harmed := slices.Clone(whole)
	r := rng(9)
	for row := range rows { // two bad blocks in each row
		for _, shard := range r.Perm(dataShards - 1)[:2] {
			at := (shard*rows + row) * parityBlock
			clear(harmed[at : at+parityBlock])
		}
	}
	write(t, packs[0], harmed)
	for _, data := range stored {
		s.check(data)
	}
	if left, _, err := s.Mend(t.Context()); err != nil || len(left) > 0 || !bytes.Equal(read(t, packs[0]), whole) {
		t.Errorf("left are %v, %v", left, err)
	}
	stretch := slices.Clone(whole)
	clear(stretch[len(whole)/3 : len(whole)/3+2*rows*parityBlock-parityBlock])
	write(t, packs[0], stretch)
	if left, _, err := s.Mend(t.Context()); err != nil || len(left) > 0 || !bytes.Equal(read(t, packs[0]), whole) {
		t.Errorf("a lost stretch of almost two shards: left are %v, %v", left, err)
	}
}

func TestDamageBeyondParityNamesTheFilesAndLeavesTheRest(t *testing.T) {
	t.Parallel()
	s, packs, stored := closedPacks(t, Options{MaxPack: 400 << 10}, 9, 50_000)
	whole := read(t, packs[0])
	rows := rowsOf(int64(len(whole)))
	harmed := slices.Clone(whole)
	for shard := range 3 { // of one row
		clear(harmed[shard*rows*parityBlock+100 : shard*rows*parityBlock+200])
	}
	write(t, packs[0], harmed)
	lost := map[Digest]bool{}
	for _, data := range stored {
		if readAll(s.Store, sha256.Sum256(data)) != nil {
			lost[sha256.Sum256(data)] = true
		}
	}
	left, files, err := s.Mend(t.Context())
	if err != nil || len(left) == 0 || len(files) != len(lost) || len(lost) == 0 || len(lost) > 3 {
		t.Fatalf("left are %v, %d files (%d cannot be read), %v", left, len(files), len(lost), err)
	}
	for _, sha := range files {
		if !lost[sha] {
			t.Errorf("%s is named and can be read", sha)
		}
	}
	for _, data := range stored {
		if sha := Digest(sha256.Sum256(data)); lost[sha] {
			if err := s.Forget(t.Context(), sha); err != nil {
				t.Error(err)
			}
		}
	}
	if left, files, err := s.Mend(t.Context()); err != nil || len(left)+len(files) > 0 {
		t.Errorf("after the files were forgotten, left are %v, %v, %v", left, files, err)
	}
	for _, data := range stored {
		s.put(data, Digest{})
		s.check(data)
	}
	s.onlyWaste()
}

// counted counts reads.
type counted struct {
	r io.ReaderAt
	n int
}

func (c *counted) ReadAt(b []byte, at int64) (int, error) {
	c.n++
	return c.r.ReadAt(b, at)
}

func TestATruncatedPackIsNotReadBehindItsEndForEachOfItsBlocks(t *testing.T) {
	t.Parallel()
	s, packs, _ := closedPacks(t, Options{MaxPack: 4 << 20}, 12, 500_000)
	whole := read(t, packs[0])
	there := &counted{r: bytes.NewReader(whole[:len(whole)/3])}
	g, err := s.guard(filepath.Base(packs[0]), there)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	got := make([]byte, len(whole))
	if n, err := g.ReadAt(got, 0); n != len(whole) || err != nil || !bytes.Equal(got[:len(whole)/3], whole[:len(whole)/3]) {
		t.Errorf("%d of %d bytes, %v", n, len(whole), err)
	}
	if blocks := blocksOf(int64(len(whole))); g.lost < blocks/2 || there.n > 2*blocks {
		t.Errorf("%d reads for %d blocks, of which %d are lost", there.n, blocks, g.lost)
	}
}

func TestDamagedParityIsFoundAndMadeAnewAndStillHeals(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rng(seed)
	s, packs, stored := closedPacks(t, Options{MaxPack: 400 << 10}, 5, 120_000)
	pack, parity := packs[0], parityName(packs[0])
	whole, wholeParity := read(t, pack), read(t, parity)
	if int64(len(wholeParity)) != parityLen(int64(len(whole))) {
		t.Errorf("the parity of %d bytes has %d, expected %d", len(whole), len(wholeParity), parityLen(int64(len(whole))))
	}
	for i := range rounds(30) {
		harmed := slices.Clone(wholeParity)
		harmed[r.IntN(len(harmed))] ^= 1 << r.IntN(8)
		if i%4 == 3 {
			harmed, _ = harm(r, wholeParity)
		}
		if bytes.Equal(harmed, wholeParity) {
			continue
		}
		write(t, parity, harmed)
		if i%2 == 0 { // one bit of each
			both := slices.Clone(whole)
			both[r.IntN(len(both))] ^= 4
			write(t, pack, both)
			for _, data := range stored {
				s.check(data)
			}
		}
		if list, err := s.VerifyAll(t.Context(), nil); err != nil || len(list) == 0 {
			t.Fatalf("found %v, %v", list, err)
		}
		if left, _, err := s.Mend(t.Context()); err != nil || len(left) > 0 {
			t.Fatalf("left are %v, %v", left, err)
		}
		if !bytes.Equal(read(t, pack), whole) || !bytes.Equal(read(t, parity), wholeParity) {
			t.Fatal("pack and parity are not what they were")
		}
	}
	os.Remove(parity)
	if left, _, err := s.Mend(t.Context()); err != nil || len(left) > 0 || !bytes.Equal(read(t, parity), wholeParity) {
		t.Errorf("missing parity: left are %v, %v", left, err)
	}
	os.Remove(parity)
	s.reopen()
	s.parity.waitIdle(t.Context())
	if !bytes.Equal(read(t, parity), wholeParity) {
		t.Error("opening has not made missing parity anew")
	}
	s.verify()
}

func TestScrubFindsAndMendsWhatReadersMeet(t *testing.T) {
	t.Parallel()
	s, packs, stored := closedPacks(t, Options{MaxPack: 400 << 10, pause: time.Nanosecond}, 5, 120_000)
	whole := read(t, packs[0])
	flip(t, packs[0], 1000)
	for _, data := range stored {
		s.check(data)
	}
	if list := s.Damages(); len(list) != 1 || !list[0].Mended.IsZero() {
		t.Errorf("readers have noted %v", list)
	}
	if err := s.scrubRound(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(read(t, packs[0]), whole) {
		t.Error("the pack is not mended")
	}
	for _, d := range s.Damages() {
		if d.Mended.IsZero() {
			t.Errorf("it is still said to be damaged: %v", d)
		}
	}
	if r := s.Scrubbed(); r.Rounds != 1 || r.Done == 0 || r.Done > r.Total || r.Finished.IsZero() {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Scrub(ctx, 0) }()
	for s.Scrubbed().Rounds < 3 {
		runtime.Gosched()
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestParityGoesWithItsPack(t *testing.T) {
	t.Parallel()
	s, packs, stored := closedPacks(t, Options{MaxPack: 400 << 10}, 9, 120_000)
	for _, data := range stored {
		if err := s.Forget(t.Context(), sha256.Sum256(data)); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := s.Compact(t.Context()); err != nil || c.Packs < len(packs) {
		t.Fatalf("%+v, %v", c, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "*"+paritySuffix)); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

func TestABackupOfADamagedPackIsWhole(t *testing.T) {
	t.Parallel()
	s, packs, _ := closedPacks(t, Options{MaxPack: 400 << 10}, 5, 120_000)
	whole := read(t, packs[0])
	flip(t, packs[0], 7000)
	defer s.KeepPacks()()
	list, err := s.Packs()
	if err != nil {
		t.Fatal(err)
	}
	var copied bytes.Buffer
	if err := s.CopyPack(&copied, list[0]); err != nil || !bytes.Equal(copied.Bytes(), whole) {
		t.Errorf("copied %d bytes of %d, %v", copied.Len(), len(whole), err)
	}
}

func TestParityRefusesAPackThatDiffersFromItsName(t *testing.T) {
	t.Parallel()
	s, packs, _ := closedPacks(t, Options{MaxPack: 400 << 10, NoParity: true}, 5, 120_000)
	flip(t, packs[0], 7000)
	s.opts.NoParity = false
	s.reopen()
	s.parity.waitIdle(t.Context())
	if _, err := os.Stat(parityName(packs[0])); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("damage would be kept for ever: %v", err)
	}
	if len(s.Damages()) != 1 {
		t.Errorf("noted is %v", s.Damages())
	}
}
