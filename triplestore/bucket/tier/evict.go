package tier

import (
	"path/filepath"
	"slices"
)

// excess returns what must go so that the cache keeps its bound, least recently used first. The caller holds mu.
func (f *FS) excess() (drop []*object) {
	if f.cached <= f.o.Cache || f.o.ReadOnly && f.colds == "" {
		return nil
	}
	var all []*object
	for _, o := range f.objects {
		if o.settled() && (o.local && !f.o.ReadOnly || o.part != nil && o.part.users == 0) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *object) int {
		if a.used < b.used {
			return -1
		}
		return 1
	})
	left := f.cached
	for _, o := range all {
		if left <= f.o.Cache {
			break
		}
		if o.local && !f.o.ReadOnly {
			left -= o.size
		} else {
			left -= o.part.bytes
		}
		drop = append(drop, o)
	}
	return drop
}

// evict drops local copies, of objects that are still in the state in which excess chose them.
func (f *FS) evict(drop []*object) {
	for _, o := range drop {
		f.dropLocal(o)
	}
}

// dropLocal drops the local copy of a stored object, and its ranges. It waits for readers of the file.
func (f *FS) dropLocal(o *object) (dropped bool) {
	o.reading.Lock()
	defer o.reading.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !o.settled() {
		return false
	}
	if o.part != nil && o.part.users == 0 {
		f.dropPart(o)
		dropped = true
	}
	if !o.local || f.borrowed() {
		return dropped
	}
	if err := f.local.Remove(filepath.Join(f.o.Dir, o.name)); err != nil {
		f.log.Warn("local copy of a stored file not removed", "file", o.name, "error", err)
		return dropped
	}
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
	o.local = false
	if !f.o.ReadOnly {
		f.cached -= o.size
	}
	return true
}
