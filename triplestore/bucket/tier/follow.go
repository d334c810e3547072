package tier

import (
	"context"
	"path/filepath"
)

// What the owner of a folder with Options.Follow does beside reading: it says what the other folder has removed, and
// drops copies of what is in the bucket.

// borrowed reports whether the folder must not change.
func (f *FS) borrowed() bool { return f.o.ReadOnly && (!f.o.Follow || f.o.Beside) }

// Refresh lists the bucket and the folder again, and returns the names of the files that are in the bucket. If the
// bucket is away, they are those that were there when it last answered.
func (f *FS) Refresh(ctx context.Context) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, f.o.Limit)
	defer cancel()
	if err := f.list(ctx); err != nil {
		f.log.Warn("the bucket cannot be listed", "error", err)
	}
	f.reload()
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, o := range f.objects {
		if o.stored && !o.deleting {
			names = append(names, name)
		}
	}
	return names
}

// Stored reports whether a file of this name and size was in the bucket when it was last listed.
func (f *FS) Stored(name string, size int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[name]
	return o != nil && o.stored && !o.replace && !o.deleting && o.size == size
}

// Drop removes the local copy of a file that is in the bucket. It waits for readers. A folder that is only read stays
// as it is.
func (f *FS) Drop(name string) error {
	o := f.find(name)
	if o == nil || f.borrowed() {
		return nil
	}
	defer f.release(o)
	o.reading.Lock()
	defer o.reading.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !o.stored || o.replace || o.deleting {
		return nil
	}
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
	o.local = false
	return removeIfThere(f.local, filepath.Join(f.o.Dir, name))
}

// Forget ends a name that the other folder has removed, also if its object is still in the bucket, and drops what is
// here of its bytes, except for the local file.
func (f *FS) Forget(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[name]
	if o == nil {
		return
	}
	f.dropPart(o)
	if o.deleting, o.local = true, false; !o.stored {
		delete(f.objects, name)
	}
}
