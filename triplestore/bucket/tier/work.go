package tier

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// errDamagedHere reports a local file that differs from the digest in its name. It is not uploaded; whoever knows how
// may replace it.
var errDamagedHere = errors.New("the local file differs from the digest in its name")

// work uploads and deletes what there is, one object at a time, until Close.
func (f *FS) work() {
	for {
		o := f.next()
		if o == nil {
			return
		}
		f.mu.Lock()
		deleting := o.deleting
		f.mu.Unlock()
		var err error
		if deleting {
			err = f.delete(f.ctx, o)
		} else {
			err = f.upload(f.ctx, o)
		}
		f.finish(o, err)
	}
}

// next waits for an object that is to be uploaded or deleted, and marks it busy. It returns nil once the folder closes.
func (f *FS) next() *object {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.ended {
		var first *object
		var soon time.Time
		now := time.Now()
		for _, o := range f.objects {
			if f.detached || o.busy || !o.deleting && (!o.local || o.stored && !o.replace) {
				continue
			}
			if o.after.After(now) {
				if soon.IsZero() || o.after.Before(soon) {
					soon = o.after
				}
				continue
			}
			if first == nil || o.deleting && !first.deleting || o.deleting == first.deleting && o.name < first.name {
				first = o
			}
		}
		if first != nil {
			first.busy = true
			return first
		}
		if soon.IsZero() {
			f.cond.Wait()
			continue
		}
		wake := time.AfterFunc(time.Until(soon), f.wake)
		f.cond.Wait()
		wake.Stop()
	}
	return nil
}

func (f *FS) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cond.Broadcast()
}

// finish notes the result of a request, and when to try again.
func (f *FS) finish(o *object, err error) {
	f.mu.Lock()
	o.busy = false
	var drop []*object
	switch {
	case err == nil:
		o.wait, o.after = 0, time.Time{}
		f.stats.Problem = ""
		if f.why != nil { // the bucket answers again
			f.away, f.why = time.Time{}, nil
		}
		drop = f.excess()
	case f.ctx.Err() != nil:
	default:
		o.wait = min(max(2*o.wait, f.o.Backoff), maxBackoff)
		if errors.Is(err, errDamagedHere) {
			o.wait = maxBackoff
		}
		o.after = time.Now().Add(o.wait)
		f.stats.Failures++
		f.stats.Problem = err.Error()
		f.log.Warn("file not uploaded to, or deleted from, the bucket", "file", o.name, "again", o.wait, "error", err)
	}
	f.cond.Broadcast()
	f.mu.Unlock()
	f.evict(drop)
}

// uploadTime bounds one attempt to upload a file of this size: a slow line may take long, but not for ever.
func uploadTime(size int64) time.Duration {
	return 2*time.Minute + time.Duration(size/(32<<10))*time.Second
}

// upload puts a local file into the bucket and records that in the journal.
func (f *FS) upload(ctx context.Context, o *object) error {
	if err := f.stillOwner(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	renewed, size, replace := o.renewed, o.size, o.replace
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, uploadTime(size))
	defer cancel()
	if !f.o.NoSync { // its name must not be lost once the bucket has it
		if err := f.local.SyncDir(f.o.Dir); err != nil {
			return err
		}
	}
	file, err := f.openWhole(o)
	if err != nil {
		if f.changed(o, renewed) {
			return nil
		}
		return err
	}
	defer file.Close()
	sum, err := digest(file, size)
	if err != nil {
		return err
	}
	if f.o.Digest != nil && !strings.HasPrefix(sum, f.o.Digest(o.name)) {
		return errDamagedHere
	}
	info, err := f.put(ctx, o.name, file, size, sum, replace)
	if err != nil {
		return err
	}
	return f.stored(o, renewed, info, sum)
}

// put stores a file under its name. An object of that name that is there already is compared with it.
func (f *FS) put(ctx context.Context, name string, file disk.File, size int64, sum string, replace bool) (bucket.Info, error) {
	options := bucket.PutOptions{IfAbsent: !replace, SHA256: sum}
	err := f.o.Bucket.Put(ctx, name, size, io.NewSectionReader(file, 0, size), options)
	if errors.Is(err, bucket.ErrExists) {
		same, failed := f.holds(ctx, name, size, sum)
		if failed != nil {
			return bucket.Info{}, failed
		}
		if err = nil; !same { // an upload whose answer was lost, of a file that was replaced since
			err = f.o.Bucket.Put(ctx, name, size, io.NewSectionReader(file, 0, size), bucket.PutOptions{SHA256: sum})
		}
	}
	if err != nil {
		return bucket.Info{}, err
	}
	info, err := f.o.Bucket.Stat(ctx, name)
	if err == nil && info.Size != size {
		err = fmt.Errorf("the bucket says that %s has %d bytes instead of %d", name, info.Size, size)
	}
	return info, err
}

// holds reports whether an object has these bytes.
func (f *FS) holds(ctx context.Context, name string, size int64, sum string) (bool, error) {
	got, n, err := f.digestOf(ctx, name, nil)
	if errors.Is(err, bucket.ErrNotFound) {
		return false, nil
	}
	return n == size && got == sum, err
}

// digestOf reads an object and returns its SHA-256 and its size.
func (f *FS) digestOf(ctx context.Context, name string, slow *disk.Throttle) (sum string, size int64, err error) {
	r, _, err := f.o.Bucket.Get(ctx, name, 0, -1)
	if err != nil {
		return "", 0, err
	}
	defer r.Close()
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for {
		n, err := r.Read(buf)
		h.Write(buf[:n])
		size += int64(n)
		if err == io.EOF {
			return hex.EncodeToString(h.Sum(nil)), size, nil
		}
		if err != nil {
			return "", size, err
		}
		if err := slow.Wait(ctx, n); err != nil {
			return "", size, err
		}
	}
}

// stored records an upload, unless the file was replaced or removed meanwhile.
func (f *FS) stored(o *object, renewed int, info bucket.Info, sum string) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.changed(o, renewed) {
		return nil // next uploads or deletes it
	}
	f.mu.Lock()
	done := &object{name: o.name, size: o.size, etag: info.ETag, sum: sum}
	f.mu.Unlock()
	if err := f.note(storedLine(done)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	o.stored, o.replace, o.etag, o.sum = true, false, info.ETag, sum
	f.cached += o.size
	f.stats.Uploads++
	f.stats.Uploaded += o.size
	return nil
}

func (f *FS) changed(o *object, renewed int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return o.renewed != renewed
}

// delete deletes the object of a file that is removed.
func (f *FS) delete(ctx context.Context, o *object) error {
	if err := f.stillOwner(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	f.mu.Lock()
	renewed := o.renewed
	f.mu.Unlock()
	if err := f.o.Bucket.Delete(ctx, o.name); err != nil {
		return err
	}
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	again := o.renewed != renewed
	if again { // a new file has the name, and is not in the bucket any more
		o.stored, o.replace = false, false
	}
	f.mu.Unlock()
	if err := f.note(line("-", o.name)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !again && o.deleting {
		f.dropPart(o)
		delete(f.objects, o.name)
	}
	return nil
}

func digest(r io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, io.NewSectionReader(r, 0, size), make([]byte, 1<<20))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// Flush waits until all files are in the bucket and all removed ones are gone from it. It returns the error of the
// first request that fails meanwhile, or that has failed before and is not repeated yet.
func (f *FS) Flush(ctx context.Context) error { return f.flush(ctx, false) }

// FlushDeleted waits until all removed files are gone from the bucket.
func (f *FS) FlushDeleted(ctx context.Context) error { return f.flush(ctx, true) }

func (f *FS) flush(ctx context.Context, deleted bool) error {
	if f.o.ReadOnly {
		return nil
	}
	defer context.AfterFunc(ctx, f.wake)()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.objects {
		if o.deleting || !deleted {
			o.after, o.wait = time.Time{}, 0
		}
	}
	f.cond.Broadcast()
	for {
		left := 0
		for _, o := range f.objects {
			if o.deleting || !deleted && o.local && (!o.stored || o.replace) {
				left++
				if o.wait > 0 {
					return fmt.Errorf("a request to the bucket has failed, and is repeated while the folder is open: %s", f.stats.Problem)
				}
			}
		}
		switch {
		case left == 0:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case f.ended:
			return errors.New("the folder is closed")
		}
		f.cond.Wait()
	}
}
