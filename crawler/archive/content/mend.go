package content

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"odarchive/triplestore/disk"
)

// VerifyAll reads every pack and parity file, compares it with its checksums, and returns the damages. It does not
// check files; Verify does. progress, if not nil, is called with bytes, from one goroutine.
func (s *Store) VerifyAll(ctx context.Context, progress func(done, total int64)) (list []disk.Damage, err error) {
	s.parity.waitIdle(ctx)
	err = s.eachPack(ctx, nil, progress, func(num uint64, x *examined) error {
		s.noteAll(x)
		list = append(list, s.damagesOf(x)...)
		return nil
	})
	return list, err
}

// eachPack examines every pack, and calls f for each that is damaged.
func (s *Store) eachPack(ctx context.Context, slow *disk.Throttle, progress func(done, total int64),
	f func(num uint64, x *examined) error) error {
	return s.eachPackIf(ctx, slow, func(string) bool { return true }, progress, f)
}

// eachPackIf does the same for the packs whose names it is given.
func (s *Store) eachPackIf(ctx context.Context, slow *disk.Throttle, take func(name string) bool, progress func(done, total int64),
	f func(num uint64, x *examined) error) error {
	if s.isClosed() {
		return ErrClosed
	}
	nums, missing, total, err := s.listPacks()
	if err != nil {
		return fmt.Errorf("content: verify: %w", err)
	}
	for _, num := range missing {
		if err := f(num, missingPack(s.packs.nameOf(num))); err != nil {
			return err
		}
	}
	done := int64(0)
	for _, num := range nums {
		if !take(s.packs.nameOf(num)) {
			continue
		}
		x, err := s.examine(ctx, num, slow)
		if errors.Is(err, errNoPack) || errors.Is(err, fs.ErrNotExist) {
			if !s.packs.has(num, s.packs.nameOf(num)) { // dropped meanwhile
				continue
			}
			x, err = *missingPack(s.packs.nameOf(num)), nil
		}
		if err != nil {
			return fmt.Errorf("content: verify pack %s: %w", s.packs.nameOf(num), err)
		}
		if done += x.size; progress != nil {
			progress(done, max(done, total))
		}
		if x.sound() {
			s.mended(x.name, "nothing: it is whole")
			s.mended(parityName(x.name), "nothing: it is whole")
			continue
		}
		if err := f(num, &x); err != nil {
			return err
		}
	}
	return nil
}

// Mend heals closed packs from their parity, corrects their names, replaces damaged and missing parity, and seals packs
// in which nothing needs the damaged bytes: these keep everything sound that they hold. It returns the remaining
// damages, except those of waste, and the files that are unreadable because of them. After Forget of those files, a
// second Mend leaves no damage.
func (s *Store) Mend(ctx context.Context) (left []disk.Damage, files []Digest, err error) {
	if err := s.writable(); err != nil {
		return nil, nil, err
	}
	s.parity.waitIdle(ctx)
	for _, job := range s.parity.missing() {
		s.parity.enqueue(job)
	}
	err = s.eachPack(ctx, nil, nil, func(num uint64, x *examined) error {
		s.noteAll(x)
		return s.mendPack(ctx, num, x)
	})
	if err != nil {
		return nil, nil, err
	}
	v, err := s.Verify(ctx, VerifyOptions{Damaged: func(d Damage) {
		if len(d.Files) == 0 && !d.Healable && !d.Unsealed {
			return
		}
		left = append(left, disk.Damage{File: s.fileName(d.Pack), Offset: d.Offset, Why: d.Why, Found: time.Now()})
		files = append(files, d.Files...)
	}})
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(files, func(a, b Digest) int { return slices.Compare(a[:], b[:]) })
	s.log.Info("packs mended", "packs", v.Packs, "damagesLeft", len(left))
	return left, slices.Compact(files), nil
}

// mendPack repairs one pack as far as possible. Damage that remains is not an error.
func (s *Store) mendPack(ctx context.Context, num uint64, x *examined) error {
	s.sweep.Lock()
	defer s.sweep.Unlock()
	if x.missing {
		return s.forgetMissing(ctx, num, x.name)
	}
	if !s.packs.has(num, x.name) { // dropped, or closed, meanwhile
		return nil
	}
	var err error
	switch {
	case x.noHead && len(x.spans) == 1:
		err = s.mendHead(num, x.name)
	case x.rightName != "":
		return s.mendName(num, x.name, x.rightName)
	case isClosed(x.name) && len(x.spans) > 0:
		err = s.mendClosed(num, x.name)
	}
	if err == nil && len(x.spans) > 0 {
		again, failed := s.examine(ctx, num, nil)
		if failed != nil {
			return failed
		}
		if len(again.spans) > 0 {
			err = s.seal(num, x.name, again.spans)
		}
	} else if err != nil && len(x.spans) > 0 {
		s.log.Warn("pack not mended from its parity", "pack", x.name, "error", err)
		err = s.seal(num, x.name, x.spans)
	}
	if x.parity != "" && s.packs.has(num, x.name) {
		s.parity.remake(num, x.name)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		s.log.Warn("pack not mended", "pack", x.name, "error", err)
	}
	return s.db.WritesStopped()
}

// mendHead writes the head of an open pack again, from its name.
func (s *Store) mendHead(num uint64, name string) error {
	f, err := s.fs.OpenFile(filepath.Join(s.dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(headOf(num), 0); err == nil && !s.opts.NoSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		s.mended(name, "its name")
	}
	return err
}

// mendName renames a closed pack to its hash, after all its records matched their checksums.
func (s *Store) mendName(num uint64, name, right string) error {
	if err := s.packs.rename(num, name, right); err != nil {
		s.log.Warn("pack not renamed", "pack", name, "error", err)
		return nil
	}
	s.parity.enqueue(parityJob{num: num, name: right, again: true})
	s.renamedFile(name, right)
	s.mended(right, "its contents")
	s.parity.remove(name)
	return s.syncDir()
}

// mendClosed replaces a damaged pack by a copy that is healed from its parity. The damaged file stays until the copy,
// compared with the hash in its name, is on disk.
func (s *Store) mendClosed(num uint64, name string) error {
	h, err := s.packs.acquire(num)
	if err != nil {
		return err
	}
	defer s.packs.release(h)
	g, err := s.guard(name, h.f)
	if err != nil {
		return err
	}
	defer g.Close()
	g.strict = true
	path := filepath.Join(s.dir, name)
	sum, err := s.writeCopy(path+tempSuffix, g, g.parity.pack.size)
	if err != nil {
		return err
	}
	if sum != g.parity.pack.whole {
		return errors.Join(errors.New("the pack rebuilt from parity differs from its SHA-256"), s.fs.Remove(path+tempSuffix))
	}
	if err := s.fs.Rename(path+tempSuffix, path); err != nil {
		return errors.Join(err, s.fs.Remove(path+tempSuffix))
	}
	s.packs.reopen(num)
	if err := s.syncDir(); err != nil {
		return err
	}
	s.mended(name, "parity")
	return nil
}

// writeCopy copies the first size bytes of a pack to a file, durably, and returns their SHA-256. On an error it removes
// the file.
func (s *Store) writeCopy(path string, r io.ReaderAt, size int64) (sum [sha256.Size]byte, err error) {
	f, err := s.fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return sum, diskError("mend", err)
	}
	h := sha256.New()
	_, err = io.CopyBuffer(struct{ io.Writer }{io.MultiWriter(f, h)}, io.NewSectionReader(r, 0, size), make([]byte, walkBlock))
	if err == nil && !s.opts.NoSync {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return sum, errors.Join(diskError("mend", err), s.fs.Remove(path))
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// acquireSound returns a reader of a pack that heals what it can. It is valid until free is called.
func (s *Store) acquireSound(num uint64) (r io.ReaderAt, free func(), err error) {
	h, err := s.packs.acquire(num)
	if err != nil {
		return nil, nil, err
	}
	r, shut := s.soundReader(num, h)
	return r, func() { shut(); s.packs.release(h) }, nil
}

// hits reports whether one of the spans overlaps the bytes from a to b. A span without a place overlaps all.
func hits(spans []span, a, b int64) bool {
	return slices.ContainsFunc(spans, func(p span) bool { return p.from < 0 || p.from < b && a < p.to })
}
