package vault

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// restorePacks writes the packs that a database needs, with as many bytes as it needs.
func (h *History) restorePacks(ctx context.Context, t Target, dir string, need map[uint64]int64, log *slog.Logger, p Progress) error {
	if err := h.eachPack(ctx, t, need, func(one packPlan) error { return h.restorePack(ctx, dir, one, log, p) }); err != nil {
		return err
	}
	return disk.OS{}.SyncDir(dir)
}

// eachPack plans each pack that a database needs, and calls f with the plan. The writer may replace objects by others
// meanwhile: then f is called again with another plan. Restore and Verify read what the plans name, and nothing else.
func (h *History) eachPack(ctx context.Context, t Target, need map[uint64]int64, f func(packPlan) error) error {
	there, err := listPacks(ctx, h.b)
	if err != nil {
		return err
	}
	for _, num := range sortedKeys(need) {
		for try := 0; ; try++ {
			var one packPlan
			if one, err = h.planPack(there, t, num, need[num]); err == nil {
				err = f(one)
			}
			if !errors.Is(err, bucket.ErrNotFound) || try == 3 {
				break
			}
			if there, err = listPacks(ctx, h.b); err != nil {
				return err
			}
		}
		if err != nil {
			return fmt.Errorf("pack %d: %w", num, err)
		}
	}
	return nil
}

// packPlan says how a pack is made of objects.
type packPlan struct {
	name  string // of the file
	size  int64
	parts []part // written in this order
}

// planPack plans a pack of which a database counts some bytes. The error is ErrBroken if there are fewer.
func (h *History) planPack(there packsThere, t Target, num uint64, need int64) (packPlan, error) {
	parts := h.partsOf(there, t, num)
	if len(parts) == 0 {
		return packPlan{}, fmt.Errorf("%w: no object has it", ErrBroken)
	}
	if top := parts[len(parts)-1]; top.whole.name != "" && top.length >= need {
		return packPlan{name: top.whole.name, size: top.length, parts: []part{top}}, nil
	}
	one := packPlan{name: fmt.Sprintf("%012d%s", num, openSuffix), size: need}
	for _, p := range parts {
		if p.offset < need {
			one.parts = append(one.parts, p)
		}
	}
	if covered := coverage(one.parts); covered < need {
		return packPlan{}, fmt.Errorf("%w: it needs %d bytes, and there are %d", ErrBroken, need, covered)
	}
	return one, nil
}

func sortedKeys(m map[uint64]int64) []uint64 {
	keys := make([]uint64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// part is bytes of a pack in the vault: a piece or the whole.
type part struct {
	epoch          uint64
	offset, length int64
	crc            uint32
	whole          wholePack // if it has a name
	key            string
}

// partsOf returns what a vault has of a pack, by epoch: where two have the same bytes, the later one counts. A writer
// that was replaced may have copied bytes that it never committed. A whole pack that was damaged when it was copied
// counts least: pieces may be older than the damage. Histories that began after the target are left out unless
// nothing else has the pack.
func (h *History) partsOf(there packsThere, t Target, num uint64) (list []part) {
	var later []part
	after := h.nextHistory(t.Epoch)
	add := func(p part) {
		if p.epoch >= after {
			later = append(later, p)
		} else {
			list = append(list, p)
		}
	}
	for _, w := range there.whole {
		if packNumber(w.name) == num {
			add(part{epoch: w.epoch, length: w.size, whole: w, key: w.key})
		}
	}
	for _, p := range there.pieces[num] {
		add(part{epoch: p.epoch, offset: p.offset, length: p.length, crc: p.crc, key: p.key})
	}
	damaged := func(p part) int {
		if p.whole.damaged {
			return 1
		}
		return 0
	}
	byEpoch := func(a, b part) int {
		return cmp.Or(-cmp.Compare(damaged(a), damaged(b)), cmp.Compare(a.epoch, b.epoch),
			cmp.Compare(len(a.whole.name), len(b.whole.name)), cmp.Compare(a.offset, b.offset))
	}
	slices.SortStableFunc(list, byEpoch)
	slices.SortStableFunc(later, byEpoch)
	if len(list) == 0 {
		return later
	}
	return append(later, list...) // painted over by what comes last
}

// nextHistory returns the first epoch of the history after that of an epoch.
func (h *History) nextHistory(epoch uint64) uint64 {
	for _, b := range h.branches() {
		if b.epochs[0].Epoch > epoch {
			return b.epochs[0].Epoch
		}
	}
	return noLimit
}

// restorePack writes one pack, unless an interrupted restore has done so.
func (h *History) restorePack(ctx context.Context, dir string, one packPlan, log *slog.Logger, p Progress) error {
	path := filepath.Join(dir, one.name)
	if info, err := os.Stat(path); err == nil && info.Size() == one.size { // it got its name when it was complete
		return nil
	}
	f, err := os.OpenFile(path+".part", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	var adding sync.Mutex
	add := Progress(func(step string, n int64) {
		adding.Lock()
		defer adding.Unlock()
		p.add(step, n)
	})
	for parts := one.parts; len(parts) > 0; {
		n := disjoint(parts)
		errs := make([]error, n)
		var group sync.WaitGroup
		for i, one := range parts[:n] {
			group.Go(func() { errs[i] = h.copyPart(ctx, f, one, log, add) })
		}
		if group.Wait(); errors.Join(errs...) != nil {
			return errors.Join(errs...)
		}
		parts = parts[n:]
	}
	if err := f.Truncate(one.size); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// partsAtOnce is how many parts of a pack are read at a time: one that was not closed may have hundreds.
const partsAtOnce = 32

// disjoint returns how many of the first parts can be written at a time, since none has bytes of another one.
func disjoint(parts []part) int {
	n := 1
	for ; n < min(len(parts), partsAtOnce); n++ {
		p := parts[n]
		if slices.ContainsFunc(parts[:n], func(o part) bool { return p.offset < o.offset+o.length && o.offset < p.offset+p.length }) {
			break
		}
	}
	return n
}

// coverage returns how many bytes parts have, from the start on and without gaps.
func coverage(parts []part) (n int64) {
	sorted := slices.Clone(parts)
	slices.SortFunc(sorted, func(a, b part) int { return cmp.Compare(a.offset, b.offset) })
	for _, p := range sorted {
		if p.offset <= n {
			n = max(n, p.offset+p.length)
		}
	}
	return n
}

// copyPart writes bytes of a pack to their place, and compares them with their checksum.
func (h *History) copyPart(ctx context.Context, w io.WriterAt, one part, log *slog.Logger, p Progress) error {
	r, _, err := h.b.Get(ctx, one.key, 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	sum, crc := sha256.New(), crc32.New(castagnoli)
	n, err := io.Copy(io.MultiWriter(io.NewOffsetWriter(w, one.offset), sum, crc), &counted{r: r, f: func(n int64) { p.add("packs", n) }})
	switch {
	case err != nil:
		return err
	case n != one.length:
		return fmt.Errorf("%w: %s has %d bytes", ErrBroken, one.key, n)
	case one.whole.damaged:
		log.Warn("the pack was already damaged when it was copied", "pack", one.whole.name)
	case one.whole.name != "" && !nameMatches(one.whole.name, sum.Sum(nil)), one.whole.name == "" && crc.Sum32() != one.crc:
		return fmt.Errorf("%w: %s differs from its checksum", ErrBroken, one.key)
	}
	return nil
}

// fillPacks gets packs of which a directory has fewer bytes than the database counts.
func (h *History) fillPacks(ctx context.Context, epoch uint64, dir string, need map[uint64]int64, log *slog.Logger, p Progress) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	short := make(map[uint64]string) // packs that have too few bytes
	for _, e := range entries {
		num := packNumber(e.Name())
		if num == 0 {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.Size() >= need[num] {
			delete(need, num)
			delete(short, num)
		} else if need[num] > 0 {
			short[num] = e.Name()
		}
	}
	if err := h.restorePacks(ctx, Target{Epoch: epoch}, dir, need, log, p); err != nil {
		return err
	}
	for num, name := range short { // restorePacks has replaced it, unless the names differ
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() < need[num] {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	return disk.OS{}.SyncDir(dir)
}
