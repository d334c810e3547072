package tier

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

var _ disk.FS = (*FS)(nil)

// finished returns the name of a finished file in the folder; ok is false for any other path.
func (f *FS) finished(path string) (name string, ok bool) {
	dir, name := filepath.Split(path)
	return name, filepath.Clean(dir) == filepath.Clean(f.o.Dir) && f.o.Finished(name)
}

// OpenFile opens a file. A finished one can only be read, unless it is being created.
func (f *FS) OpenFile(path string, flag int, perm fs.FileMode) (disk.File, error) {
	name, ok := f.finished(path)
	if !ok || flag != os.O_RDONLY {
		return f.local.OpenFile(path, flag, perm)
	}
	o := f.find(name)
	if o == nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return &handle{f: f, o: o, path: path}, nil
}

// find returns an object that is not removed, with one more handle, or nil.
func (f *FS) find(name string) *object {
	f.mu.Lock()
	o := f.objects[name]
	f.mu.Unlock()
	if o == nil && f.o.ReadOnly {
		f.reload()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if o = f.objects[name]; o == nil || o.deleting {
		return nil
	}
	o.handles++
	f.touch(o)
	return o
}

// touch makes an object the most recently used one. The caller holds mu.
func (f *FS) touch(o *object) {
	f.tick++
	o.used = f.tick
}

// reload reads the journal, or the bucket, and the folder again, which another process may have changed.
func (f *FS) reload() {
	if f.o.Follow {
		f.mu.Lock()
		recent := time.Since(f.listed) < listEvery
		f.mu.Unlock()
		ctx, cancel := context.WithTimeout(f.ctx, f.o.Limit)
		defer cancel()
		if recent {
		} else if err := f.list(ctx); err != nil {
			f.log.Warn("the bucket cannot be listed", "error", err)
		}
	}
	var state journalState
	var err error
	if !f.o.Follow {
		if state, err = readJournal(f.local, filepath.Join(f.o.Dir, JournalName)); err != nil {
			return
		}
	}
	entries, err := f.local.ReadDir(f.o.Dir)
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, e := range state.entries {
		o := f.objects[name]
		if o == nil {
			o = &object{name: name, size: e.size}
			f.objects[name] = o
		}
		o.stored, o.etag, o.sum = true, e.etag, e.sum
	}
	for _, e := range entries {
		name := e.Name()
		if !f.o.Finished(name) || f.objects[name] != nil {
			continue
		}
		if info, err := e.Info(); err == nil {
			f.objects[name] = &object{name: name, size: info.Size(), local: true}
		}
	}
}

// listEvery is how often a follower lists the bucket at most.
const listEvery = time.Second

// list makes the objects of the bucket the files of a follower.
func (f *FS) list(ctx context.Context) error {
	there := map[string]bucket.Info{}
	for info, err := range f.o.Bucket.List(ctx, "", "") {
		if err != nil {
			return err
		}
		if f.o.Finished(info.Key) {
			there[info.Key] = info
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listed = time.Now()
	for name, info := range there {
		o := f.objects[name]
		if o == nil {
			o = &object{name: name}
			f.objects[name] = o
		}
		if o.stored && o.etag != info.ETag { // it was replaced
			f.dropPart(o)
		}
		o.stored, o.etag = true, info.ETag
		if !o.local {
			o.size = info.Size
		}
		o.replace = o.local && o.size != info.Size
	}
	for name, o := range f.objects {
		if _, ok := there[name]; !ok && o.stored {
			if o.stored, o.replace = false, false; !o.local {
				f.dropPart(o)
				delete(f.objects, name)
			}
		}
	}
	return nil
}

// Rename renames a local file. One that gets the name of a finished file will be uploaded, and replaces the object of
// that name if there is one.
func (f *FS) Rename(from, to string) error {
	source, was := f.finished(from)
	name, ok := f.finished(to)
	if was { // its object is deleted, and the bytes are uploaded under the new name
		if err := f.fetchWhole(source); err != nil {
			return err
		}
	}
	if !ok {
		return f.local.Rename(from, to)
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	o := f.objects[name]
	if o == nil {
		o = &object{name: name}
	}
	stored := o.stored
	f.mu.Unlock()
	if stored {
		if err := f.note(line("r", name)); err != nil {
			return err
		}
	}
	if was && source != name {
		if err := f.retire(source); err != nil {
			return err
		}
	}
	o.reading.Lock()
	defer o.reading.Unlock()
	if err := f.local.Rename(from, to); err != nil {
		return err
	}
	info, err := f.local.Stat(to)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.local && o.stored && !o.replace {
		f.cached -= o.size
	}
	f.dropPart(o)
	if o.file != nil {
		o.file.Close()
		o.file = nil
	}
	f.objects[name] = o
	o.size, o.local, o.replace, o.deleting, o.sum = info.Size(), true, o.stored, false, ""
	o.renewed++
	o.after, o.wait = time.Time{}, 0
	f.touch(o)
	f.cond.Broadcast()
	return nil
}

// Remove removes a file. If it is in the bucket, its object is deleted in the background.
func (f *FS) Remove(path string) error {
	name, ok := f.finished(path)
	if !ok {
		return f.local.Remove(path)
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	o := f.objects[name]
	there := o != nil && !o.deleting
	local := there && o.local
	f.mu.Unlock()
	if !there {
		return &fs.PathError{Op: "remove", Path: path, Err: fs.ErrNotExist}
	}
	if err := f.retire(name); err != nil {
		return err
	}
	if local {
		return f.local.Remove(path)
	}
	return nil
}

// retire records that a name is removed. The file itself is left to the caller, which holds writing. An upload that is
// under way, or one of an earlier process, may have made an object of it; so one is deleted in any case.
func (f *FS) retire(name string) error {
	if err := f.note(line("x", name)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[name]
	if o.local && o.stored && !o.replace {
		f.cached -= o.size
	}
	o.local, o.deleting, o.replace = false, true, false
	o.renewed++
	o.after, o.wait = time.Time{}, 0
	f.cond.Broadcast()
	return nil
}

// MkdirAll creates a local folder.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error { return f.local.MkdirAll(name, perm) }

// SyncDir makes local names durable.
func (f *FS) SyncDir(name string) error { return f.local.SyncDir(name) }

// ReadDir lists a folder: the folder itself with the files that are only in the bucket.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.local.ReadDir(name)
	if err != nil || filepath.Clean(name) != filepath.Clean(f.o.Dir) {
		return entries, err
	}
	if f.o.ReadOnly {
		f.reload()
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return f.o.Finished(e.Name()) })
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		if !o.deleting {
			entries = append(entries, fs.FileInfoToDirEntry(fileInfo{o.name, o.size}))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// Stat describes a file, also one that is only in the bucket.
func (f *FS) Stat(path string) (fs.FileInfo, error) {
	name, ok := f.finished(path)
	if !ok {
		return f.local.Stat(path)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[name]
	if o == nil || o.deleting {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	return fileInfo{name, o.size}, nil
}

// fileInfo describes a finished file.
type fileInfo struct {
	name string
	size int64
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return 0o444 }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return false }
func (i fileInfo) Sys() any           { return nil }

// fetchWhole makes a file local.
func (f *FS) fetchWhole(name string) error {
	o := f.find(name)
	if o == nil {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	defer f.release(o)
	f.mu.Lock()
	local := o.local
	f.mu.Unlock()
	if local {
		return nil
	}
	temp := filepath.Join(f.o.Dir, name+".fetched.new")
	if err := f.download(o, temp); err != nil {
		return errors.Join(err, removeIfThere(f.local, temp))
	}
	o.reading.Lock()
	defer o.reading.Unlock()
	if err := f.local.Rename(temp, filepath.Join(f.o.Dir, name)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	o.local = true
	f.cached += o.size
	f.dropPart(o)
	return nil
}

func removeIfThere(fsys disk.FS, path string) error {
	if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an unfinished file: %w", err)
	}
	return nil
}

// Cold reports whether a file is only in the bucket.
func (f *FS) Cold(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[name]
	return o != nil && o.stored && !o.local
}
