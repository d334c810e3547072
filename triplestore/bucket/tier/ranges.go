package tier

import (
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

// ColdFolder is the folder, in that of the files, of ranges that were read. It is emptied when a folder is opened.
const ColdFolder = "cold"

// part is the file of the ranges of a cold object that are in the cache.
type part struct {
	f       disk.File
	path    string
	have    []interval // ordered, not touching
	flights []*flight  // being fetched
	users   int        // readers that keep it from being dropped
	bytes   int64      // of have
}

type interval struct{ from, to int64 }

// flight is a range that one reader fetches while others wait.
type flight struct {
	interval
	done chan struct{}
}

// gap returns the first range between two offsets that is not there; ok is false if all of it is.
func (p *part) gap(from, to int64) (interval, bool) {
	for _, i := range p.have {
		if i.to <= from {
			continue
		}
		if i.from > from {
			return interval{from, min(to, i.from)}, from < to
		}
		if from = i.to; from >= to {
			return interval{}, false
		}
	}
	return interval{from, to}, from < to
}

// add adds a range and returns by how many bytes there are more.
func (p *part) add(n interval) int64 {
	before := p.bytes
	i, _ := slices.BinarySearchFunc(p.have, n.from, func(a interval, from int64) int {
		if a.to < from {
			return -1
		}
		return 1
	})
	k := i
	for ; k < len(p.have) && p.have[k].from <= n.to; k++ {
		n.from, n.to = min(n.from, p.have[k].from), max(n.to, p.have[k].to)
		p.bytes -= p.have[k].to - p.have[k].from
	}
	p.have = slices.Replace(p.have, i, k, n)
	p.bytes += n.to - n.from
	return p.bytes - before
}

// cut removes a range and returns how many bytes there are less.
func (p *part) cut(c interval) int64 {
	var left []interval
	before := p.bytes
	p.bytes = 0
	for _, i := range p.have {
		for _, rest := range []interval{{i.from, min(i.to, c.from)}, {max(i.from, c.to), i.to}} {
			if rest.from < rest.to && (len(left) == 0 || left[len(left)-1] != rest) {
				left = append(left, rest)
				p.bytes += rest.to - rest.from
			}
		}
	}
	p.have = left
	return before - p.bytes
}

// ReadRange implements File.
func (h *handle) ReadRange(b []byte, at, until int64) (int, error) {
	f, o := h.f, h.o
	size := f.sizeOf(o)
	want := interval{at, min(at+int64(len(b)), size)}
	if n, err, ok := h.readLocal(b, at); ok || want.from >= want.to {
		if !ok {
			err = io.EOF
		}
		return n, err
	}
	until = min(max(until, want.to), want.from+maxFetch, size)
	until = max(until, want.to)
	p, err := f.usePart(o)
	if err != nil { // no room, or no folder: without the cache
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.readThrough(b, at)
	}
	defer f.leavePart(o, p)
	part := b[:want.to-want.from]
	done, err := f.fill(o, p, want, until, part)
	if err == nil && !done {
		_, err = p.f.ReadAt(part, at)
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF): // the object is too short; ReadAt returns what there is
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.readThrough(b, at)
	case err != nil:
		return 0, err
	case len(part) < len(b):
		return len(part), io.EOF
	}
	return len(part), nil
}

// fill fetches what is missing of a range, and of what is to be read after it. It reports whether it has put the bytes
// of the range into b.
func (f *FS) fill(o *object, p *part, want interval, until int64, b []byte) (done bool, err error) {
	f.mu.Lock()
	_, missing := p.gap(want.from, want.to)
	if !missing {
		f.stats.Hits++
		f.touch(o)
	}
	f.mu.Unlock()
	for missing {
		f.mu.Lock()
		gap, ok := p.gap(want.from, want.to)
		if !ok {
			f.mu.Unlock()
			return false, nil
		}
		if i := slices.IndexFunc(p.flights, func(fl *flight) bool { return fl.from <= gap.from && gap.from < fl.to }); i >= 0 {
			fl := p.flights[i]
			f.mu.Unlock()
			<-fl.done // ends within Options.Limit
			continue
		}
		whole, _ := p.gap(gap.from, until) // further than what is wanted at once, up to what is there or on its way
		for _, fl := range p.flights {
			if fl.from > gap.from {
				whole.to = min(whole.to, fl.from)
			}
		}
		fl := &flight{interval: whole, done: make(chan struct{})}
		p.flights = append(p.flights, fl)
		f.mu.Unlock()
		data, err := f.get(o, whole.from, whole.to-whole.from, nil)
		kept := false
		if err == nil {
			_, failed := p.f.WriteAt(data, whole.from)
			if kept = failed == nil; !kept {
				f.notKept(failed)
			}
		}
		f.mu.Lock()
		p.flights = slices.DeleteFunc(p.flights, func(one *flight) bool { return one == fl })
		close(fl.done)
		var drop []*object
		if kept && o.part == p {
			f.cached += p.add(whole)
			drop = f.excess()
		}
		f.mu.Unlock()
		f.evict(drop)
		if err != nil {
			return false, err
		}
		if whole.from <= want.from && whole.to >= want.to {
			copy(b, data[want.from-whole.from:])
			return true, nil
		}
		if !kept {
			return false, fmt.Errorf("read %s: the cache cannot be written", o.name)
		}
	}
	return false, nil
}

// usePart returns the file of an object's ranges, which stays until leavePart.
func (f *FS) usePart(o *object) (*part, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.part == nil {
		if f.ended {
			return nil, fs.ErrClosed
		}
		if f.colds == "" {
			if f.borrowed() {
				dir, err := os.MkdirTemp("", "odarchive-cold-*")
				if err != nil {
					return nil, err
				}
				f.colds = dir
			} else {
				f.colds = filepath.Join(f.o.Dir, ColdFolder)
			}
		}
		fsys := f.coldFS()
		if err := fsys.MkdirAll(f.colds, 0o700); err != nil {
			return nil, err
		}
		path := filepath.Join(f.colds, o.name)
		file, err := fsys.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return nil, err
		}
		o.part = &part{f: file, path: path}
	}
	o.part.users++
	return o.part, nil
}

// coldFS is where ranges are: if the folder must not change, in one of the system's.
func (f *FS) coldFS() disk.FS {
	if f.borrowed() {
		return disk.OS{}
	}
	return f.local
}

func (f *FS) leavePart(o *object, p *part) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.users--; p.users == 0 && o.part != p {
		p.f.Close() // it was dropped meanwhile
	}
}

// dropPart forgets the ranges of an object. The caller holds mu.
func (f *FS) dropPart(o *object) {
	p := o.part
	if p == nil {
		return
	}
	o.part = nil
	f.cached -= p.bytes
	if p.users == 0 {
		p.f.Close()
	}
	if err := f.coldFS().Remove(p.path); err != nil {
		f.log.Warn("bytes of the cache not removed", "file", p.path, "error", err)
	}
}

// Distrust implements File.
func (h *handle) Distrust(from, to int64) bool {
	f, o := h.f, h.o
	h.mu.Lock()
	h.win = h.win[:0]
	h.mu.Unlock()
	f.mu.Lock()
	if p := o.part; p != nil && !o.local {
		cut := p.cut(interval{from, to})
		f.cached -= cut
		f.mu.Unlock()
		return cut > 0
	}
	local := o.local
	f.mu.Unlock()
	return local && f.dropLocal(o)
}

// emptyColds removes the ranges of an earlier process.
func (f *FS) emptyColds() error {
	dir := filepath.Join(f.o.Dir, ColdFolder)
	entries, err := f.local.ReadDir(dir)
	if err != nil {
		return nil // there are none
	}
	for _, e := range entries {
		if err := f.local.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// removeColds removes the ranges of a folder that is open for reading only.
func (f *FS) removeColds() error {
	if f.borrowed() && f.colds != "" {
		return os.RemoveAll(f.colds)
	}
	return nil
}

// Fetch puts a range of a file into the cache, if the file is only in the bucket.
func (f *FS) Fetch(name string, from, to int64) error {
	o := f.find(name)
	if o == nil {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	defer f.release(o)
	if !f.Cold(name) {
		return nil
	}
	p, err := f.usePart(o)
	if err != nil {
		return err
	}
	defer f.leavePart(o, p)
	to = min(to, f.sizeOf(o))
	if from >= to {
		return nil
	}
	_, err = f.fill(o, p, interval{from, to}, to, nil)
	return err
}

// saysNotKept is how often at most it is logged that ranges cannot be kept: a full disk refuses each of them.
const saysNotKept = time.Minute

func (f *FS) notKept(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.unkept++
	if now := time.Now(); f.saidUnkept.IsZero() || now.Sub(f.saidUnkept) >= saysNotKept {
		f.log.Warn("bytes from the bucket cannot be kept", "error", err, "times", f.unkept)
		f.saidUnkept, f.unkept = now, 0
	}
}
