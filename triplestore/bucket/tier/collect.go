package tier

import (
	"context"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// sweepFirst is when the bucket is looked through for the first time after Open; then it is once in Options.Age.
const sweepFirst = 10 * time.Minute

// sweepDaily looks for objects that no journal knows, now and then.
func (f *FS) sweepDaily() {
	wait := min(sweepFirst, f.o.Age)
	for {
		select {
		case <-f.ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = f.o.Age
		if _, err := f.Sweep(f.ctx); err != nil && f.ctx.Err() == nil {
			f.log.Warn("objects of the bucket not looked through", "error", err)
		}
	}
}

// adopt adds the objects of a bucket whose journal is missing or damaged.
func (f *FS) adopt(ctx context.Context) error {
	n := 0
	for info, err := range f.o.Bucket.List(ctx, "", "") {
		if err != nil {
			return err
		}
		if o := f.objects[info.Key]; o != nil || !f.o.Finished(info.Key) {
			continue
		}
		wanted := true
		if f.o.Wanted != nil {
			if wanted, err = f.o.Wanted(info.Key); err != nil {
				return err
			}
		}
		if wanted {
			f.objects[info.Key] = &object{name: info.Key, size: info.Size, etag: info.ETag, stored: true}
			n++
		}
	}
	if n > 0 {
		f.log.Info("files found in the bucket", "files", n)
	}
	return nil
}

// Sweep lists the bucket. Objects that no journal knows become files of the folder if they are wanted; otherwise they
// are deleted once they are older than Options.Age: they are uploads whose record was lost. It returns how many were
// deleted.
func (f *FS) Sweep(ctx context.Context) (deleted int, err error) {
	if f.o.ReadOnly {
		return 0, nil
	}
	if err := f.stillOwner(ctx); err != nil {
		return 0, err
	}
	var unknown []bucket.Info
	for info, err := range f.o.Bucket.List(ctx, "", "") {
		if err != nil {
			return 0, err
		}
		f.mu.Lock()
		known := f.objects[info.Key] != nil
		f.mu.Unlock()
		if !known && f.o.Finished(info.Key) {
			unknown = append(unknown, info)
		}
	}
	for _, info := range unknown {
		wanted := false
		if f.o.Wanted != nil {
			if wanted, err = f.o.Wanted(info.Key); err != nil {
				return deleted, err
			}
		}
		switch {
		case wanted:
			err = f.take(info)
		case time.Since(info.Modified) >= f.o.Age:
			if err = f.o.Bucket.Delete(ctx, info.Key); err == nil {
				f.log.Info("an object that nothing needs was deleted from the bucket", "object", info.Key)
				deleted++
			}
		}
		if err != nil {
			return deleted, err
		}
	}
	return deleted, nil
}

// take makes an unknown object a file of the folder.
func (f *FS) take(info bucket.Info) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	o := &object{name: info.Key, size: info.Size, etag: info.ETag, stored: true}
	f.mu.Lock()
	known := f.objects[o.name] != nil
	f.mu.Unlock()
	if known {
		return nil
	}
	if err := f.note(storedLine(o)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.objects[o.name] = o
	f.log.Info("a file was found in the bucket", "file", o.name)
	return nil
}

// Detach makes every file local and then deletes the objects, the mark of the owner and the journal: the folder is one
// without a bucket. It may be repeated after an interruption. The FS must not be used afterwards, except for Close.
func (f *FS) Detach(ctx context.Context, progress func(done, total int)) error {
	if f.o.ReadOnly {
		return errors.New("the folder is open for reading only")
	}
	for i, name := range f.idle() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := f.fetchWhole(name); err != nil {
			return err
		}
		if progress != nil {
			progress(i+1, len(f.objects))
		}
	}
	if !f.o.NoSync {
		if err := f.local.SyncDir(f.o.Dir); err != nil {
			return err
		}
	}
	return f.forget(ctx)
}

// idle ends uploads, deletions and evictions, and returns the names of all files.
func (f *FS) idle() (names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.detached = true
	f.o.Cache = math.MaxInt64
	f.cond.Broadcast()
	for slices.ContainsFunc(slices.Collect(maps.Values(f.objects)), func(o *object) bool { return o.busy }) {
		f.cond.Wait()
	}
	for name, o := range f.objects {
		if !o.deleting {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// forget makes all files ones that were never uploaded, and deletes what is in the bucket. From its first step on, no
// later process takes a local file for a copy of an object.
func (f *FS) forget(ctx context.Context) error {
	if err := f.stillOwner(ctx); err != nil {
		return err
	}
	path := filepath.Join(f.o.Dir, JournalName)
	header := line(journalMagic, strconv.Itoa(journalVersion), f.o.Archive, f.owner.holder)
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := errors.Join(f.journal.close(), disk.WriteFile(f.local, path, []byte(header), 0o600)); err != nil {
		return err
	}
	f.journal = nil
	var keys []string
	for info, err := range f.o.Bucket.List(ctx, "", "") {
		if err != nil {
			return err
		}
		if f.o.Finished(info.Key) || f.o.Guests != "" && strings.HasPrefix(info.Key, f.o.Guests) {
			keys = append(keys, info.Key)
		}
	}
	for _, key := range append(keys, ownerKey) {
		if err := f.o.Bucket.Delete(ctx, key); err != nil {
			return err
		}
	}
	if err := removeIfThere(f.local, path); err != nil || f.o.NoSync {
		return err
	}
	return f.local.SyncDir(f.o.Dir)
}
