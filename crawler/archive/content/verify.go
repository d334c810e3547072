package content

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"odarchive/triplestore/compression"
	"odarchive/triplestore/kv"
)

// VerifyOptions are the options of Verify. The zero value is valid.
type VerifyOptions struct {
	Deep     bool                    // also inflate every file and compare its SHA-256
	SkipCold bool                    // do not read packs that are only in a bucket; CheckRemote compares their sizes
	Suspects []RemoteFault           // with SkipCold: read these nevertheless
	Progress func(done, total int64) // bytes of packs, then (Deep) raw bytes of files; called often, from one goroutine
	Damaged  func(Damage)            // called for each damage, at the end, from one goroutine
}

// Damage is one damage of the store.
type Damage struct {
	DamageError
	Files    []Digest // the files that are unreadable because of it
	Healable bool     // Mend can repair it without loss
	Unsealed bool     // it is in bytes of an open pack that no file needs; Mend seals the pack
}

// Verified is what Verify read.
type Verified struct {
	Packs, Segments int64
	Bytes           int64 // of packs
	Files, RawBytes int64
	Damages         []Damage // the first hundred
	Damaged         int64    // the number of all damages
}

const damagesKept = 100

// Verify reads every pack and compares each segment with its checksum, each closed pack as a whole with its parity or
// its name, and parity with its checksums. Then it compares every file's record with its segments: their places, sizes
// and CRC-32. The store may be used meanwhile. Damage is in the result; an error means that Verify could not continue.
func (s *Store) Verify(ctx context.Context, o VerifyOptions) (v Verified, err error) {
	s.parity.waitIdle(ctx)
	s.sweep.Lock() // so that no pack is dropped
	defer s.sweep.Unlock()
	if s.isClosed() {
		return v, ErrClosed
	}
	release := s.Hold()
	defer release()
	c := &checker{s: s, o: o, v: &v, bad: make(map[place]*Damage), gone: make(map[uint64]*Damage)}
	if err := c.checkPacks(ctx); err != nil {
		return v, fmt.Errorf("content: verify: %w", err)
	}
	if err := c.checkFiles(ctx); err != nil {
		return v, fmt.Errorf("content: verify: %w", err)
	}
	c.report()
	return v, nil
}

type checker struct {
	s     *Store
	o     VerifyOptions
	v     *Verified
	bad   map[place]*Damage
	gone  map[uint64]*Damage // of missing packs
	other []*Damage          // that are not of one segment
	done  int64
	total int64
	buf   []byte
}

func (c *checker) progress(n int64) {
	c.done += n
	if c.o.Progress != nil {
		c.o.Progress(c.done, c.total)
	}
}

func (c *checker) checkPacks(ctx context.Context) error {
	ends := make(map[uint64]int64)
	err := c.s.db.View(func(tx *kv.Txn) error {
		return tx.Scan(refsSpace, []byte{keyPack}, nil, func(key, val []byte) (bool, error) {
			num, ok := keyNumber(key)
			p, err := decodePack(val)
			if !ok || err != nil {
				return false, recordError(errRecord)
			}
			ends[num] = p.end
			c.total += p.end
			return true, nil
		})
	})
	if err != nil {
		return err
	}
	for _, num := range slices.Sorted(maps.Keys(ends)) {
		if err := c.checkPack(ctx, num, ends[num]); err != nil {
			return err
		}
		c.v.Packs++
		c.v.Bytes += ends[num]
	}
	return nil
}

func (c *checker) checkPack(ctx context.Context, num uint64, end int64) error {
	if c.skips(num) {
		c.progress(end)
		return nil
	}
	h, err := c.s.packs.acquire(num)
	if errors.Is(err, errNoPack) {
		c.progress(end)
		return c.missing(num)
	}
	if err != nil {
		return err
	}
	defer c.s.packs.release(h)
	m := &mover{s: c.s, pack: num} // finds where segments begin after a damaged one
	at, name := int64(0), c.s.packs.nameOf(num)
	w := &walker{r: &tolerant{r: h.f}, end: end, limit: m.nextSegment}
	var bad []span
	err = w.walk(func(seg found) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.v.Segments++
		c.progress(seg.offset - at)
		if at = seg.offset; len(bad) > 0 && bad[len(bad)-1].to > at {
			bad[len(bad)-1].to = at
		}
		if seg.wrong != "" {
			c.bad[place{num, at}] = &Damage{DamageError: DamageError{Pack: name, Offset: at, Why: seg.wrong}}
			bad = append(bad, span{from: at, to: anySize})
		}
		return nil
	})
	c.progress(end - at)
	if errors.Is(err, fs.ErrNotExist) { // its object is missing
		return c.missing(num)
	}
	if err != nil {
		return err
	}
	return c.checkWhole(ctx, num, name, bad)
}

// missing adds the damage of a pack that does not exist.
func (c *checker) missing(num uint64) error {
	// unless a file needs it
	c.gone[num] = &Damage{DamageError: DamageError{Pack: c.s.packs.nameOf(num), Why: "the pack is missing"}, Healable: true}
	c.other = append(c.other, c.gone[num])
	return nil
}

// skips reports whether a pack is not to be read, because it is only in a bucket.
func (c *checker) skips(num uint64) bool {
	if !c.o.SkipCold {
		return false
	}
	name := c.s.packs.nameOf(num)
	return c.s.cold(name) && !slices.ContainsFunc(c.o.Suspects, func(f RemoteFault) bool { return f.Name == name })
}

// checkWhole adds the damages of a pack and its parity that are not in one of the damaged records bad.
func (c *checker) checkWhole(ctx context.Context, num uint64, name string, bad []span) error {
	x, err := c.s.examine(ctx, num, nil)
	if err != nil || x.sound() {
		return err
	}
	c.s.noteAll(&x)
	if x.parity != "" {
		c.other = append(c.other, &Damage{DamageError: DamageError{Pack: parityName(name), Why: x.parity}, Healable: true})
	}
	r, free, err := c.s.acquireSound(num)
	if err != nil {
		return err
	}
	defer free()
	for _, p := range x.spans {
		if p.from >= 0 && hits(bad, p.from, p.to) {
			for _, b := range bad {
				if hits([]span{p}, b.from, b.to) {
					c.bad[place{num, b.from}].Healable = c.heals(r, p)
				}
			}
			continue
		}
		// of no record
		c.other = append(c.other, &Damage{DamageError: DamageError{Pack: name, Offset: max(p.from, 0), Why: p.why}, Healable: true})
	}
	return nil
}

// heals reports whether the bytes of a span can be recovered from parity.
func (c *checker) heals(r io.ReaderAt, p span) bool {
	g, ok := r.(*guarded)
	if !ok || p.from < 0 {
		return false
	}
	lost := g.lost
	_, err := io.Copy(io.Discard, io.NewSectionReader(g, p.from, p.to-p.from))
	return err == nil && g.lost == lost
}

// checkFiles compares the files' records with their segments.
func (c *checker) checkFiles(ctx context.Context) error {
	snap := c.s.db.Snapshot()
	defer snap.Close()
	if c.o.Deep {
		_, raw, err := totals(snap)
		if err != nil {
			return err
		}
		c.done, c.total = 0, raw
	}
	return eachFile(snap, nil, func(sha Digest) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		f, found, err := readRuns(snap, sha)
		if err == nil && found {
			err = c.checkFile(ctx, snap, f)
		}
		var d *DamageError
		if errors.As(err, &d) {
			one := &Damage{DamageError: *d, Files: []Digest{sha}}
			one.File = sha
			c.other = append(c.other, one)
			return nil
		}
		return err
	})
}

func (c *checker) checkFile(ctx context.Context, tx getter, f fileRecord) error {
	c.v.Files++
	c.v.RawBytes += f.size
	last, err := lastCut(tx, f.family)
	if err != nil {
		return err
	}
	l, err := resolve(tx, f, last)
	if err != nil {
		return err
	}
	if last == f.layout && l.file.deflateSize != f.deflateSize {
		return &DamageError{File: f.sha,
			Why: fmt.Sprintf("its record says %d deflated bytes, its segments have %d", f.deflateSize, l.file.deflateSize)}
	}
	var crc uint32
	hit := false
	for i := range l.leaves {
		g := &l.leaves[i]
		hit = hit || c.skips(g.pack)
		crc = compression.CombineCRC(crc, g.crc, int64(g.raw))
		d := c.bad[place{g.pack, g.offset}]
		if d == nil {
			d = c.gone[g.pack]
		}
		if d != nil && d.Healable {
			if _, err := c.s.bodies(l, i, i+1, &c.buf); err != nil {
				d.Healable = false
			}
		}
		if d != nil && !d.Healable {
			hit = true
			if n := len(d.Files); n == 0 || d.Files[n-1] != f.sha {
				d.Files = append(d.Files, f.sha)
			}
		}
		if g.pack == 0 {
			return c.s.damage(l, i, "it is no longer stored")
		}
	}
	if crc != f.crc {
		return &DamageError{File: f.sha, Why: "its CRC-32 is not that of its segments"}
	}
	if c.o.Deep && !hit {
		return c.readWhole(ctx, f)
	}
	return nil
}

func (c *checker) readWhole(ctx context.Context, f fileRecord) error {
	r, err := c.s.Open(f.sha)
	if errors.Is(err, ErrNotFound) { // collected meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	n, err := io.Copy(sum, contextReader{ctx, r})
	c.progress(n)
	if err == nil && Digest(sum.Sum(nil)) != f.sha {
		err = &DamageError{File: f.sha, Why: "its bytes differ from its SHA-256"}
	}
	return err
}

// report adds the damages to the result, in the order of the packs.
func (c *checker) report() {
	places := slices.SortedFunc(maps.Keys(c.bad), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.pack, b.pack), cmp.Compare(a.offset, b.offset))
	})
	all := make([]*Damage, 0, len(places)+len(c.other))
	for _, p := range places {
		all = append(all, c.bad[p])
	}
	for _, d := range append(all, c.other...) {
		d.Unsealed = len(d.Files) == 0 && !d.Healable && d.Pack != "" && !isClosed(d.Pack)
		c.v.Damaged++
		if len(c.v.Damages) < damagesKept {
			c.v.Damages = append(c.v.Damages, *d)
		}
		if c.o.Damaged != nil {
			c.o.Damaged(*d)
		}
	}
}

// eachFile calls f with the digest of every file, or of the files of one family.
func eachFile(tx scanner, family *uint64, f func(Digest) error) error {
	space, prefix, skip := filesSpace, []byte(nil), 0
	if family != nil {
		space, prefix, skip = refsSpace, numKey(keyMember, *family), 9
	}
	return tx.Scan(space, prefix, nil, func(key, _ []byte) (bool, error) {
		if len(key) != skip+len(Digest{}) { // a further page
			return true, nil
		}
		return true, f(Digest(key[skip:]))
	})
}

type scanner interface {
	getter
	Scan(space kv.Space, prefix, from []byte, f func(key, val []byte) (bool, error)) error
}
