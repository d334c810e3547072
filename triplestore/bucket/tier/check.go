package tier

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/disk"
)

// Fault is an object that is not what was uploaded.
type Fault struct {
	Name    string
	Why     string
	Missing bool
	Local   bool // a sound local copy can replace it
}

// CheckOptions are the options of Check.
type CheckOptions struct {
	Deep     bool // read every object and compare its SHA-256
	Slow     *disk.Throttle
	Progress func(done, total int64) // bytes; may be nil
}

// Check compares what is in the bucket with the journal: names, sizes and ETags by listing, and with Deep all bytes.
func (f *FS) Check(ctx context.Context, o CheckOptions) (faults []Fault, err error) {
	known, total := f.settled() // before the listing, in which an upload of this moment need not be
	there := map[string]bucket.Info{}
	for info, err := range f.o.Bucket.List(ctx, "", "") {
		if err != nil {
			return nil, fmt.Errorf("check the bucket: %w", err)
		}
		there[info.Key] = info
	}
	var done int64
	for _, name := range slices.Sorted(maps.Keys(known)) {
		one := known[name]
		info, ok := there[name]
		why := ""
		switch {
		case !ok:
			why = "its object is missing"
		case info.Size != one.size:
			why = fmt.Sprintf("its object has %d bytes instead of %d", info.Size, one.size)
		case one.etag != "" && info.ETag != one.etag:
			why = "its object was replaced by somebody else"
		}
		if ok && one.size == info.Size && o.Deep && f.isStill(one) {
			if why, err = f.checkDeep(ctx, one, o.Slow); err != nil {
				return faults, fmt.Errorf("check the bucket: %w", err)
			}
		}
		if done += one.size; o.Progress != nil {
			o.Progress(done, total)
		}
		if why != "" && f.isStill(one) {
			faults = append(faults, Fault{Name: name, Why: why, Missing: !ok, Local: one.local && f.soundHere(name, one.size, one.sum)})
		}
	}
	return faults, nil
}

// settled copies the objects that are in the bucket, and that no request is about to change, and returns their bytes.
func (f *FS) settled() (known map[string]*object, bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known = map[string]*object{}
	for name, o := range f.objects {
		if o.settled() {
			known[name] = &object{name: name, size: o.size, etag: o.etag, sum: o.sum, local: o.local, renewed: o.renewed}
			bytes += o.size
		}
	}
	return known, bytes
}

// isStill reports whether an object has not changed since it was settled. One that has is no fault: a later check sees
// it.
func (f *FS) isStill(was *object) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := f.objects[was.name]
	return o != nil && o.settled() && o.etag == was.etag && o.renewed == was.renewed
}

func (f *FS) checkDeep(ctx context.Context, o *object, slow *disk.Throttle) (why string, err error) {
	sum, size, err := f.digestOf(ctx, o.name, slow)
	f.mu.Lock()
	f.stats.Read += size
	f.mu.Unlock()
	want := o.sum
	if want == "" && f.o.Digest != nil {
		want = f.o.Digest(o.name)
	}
	switch {
	case errors.Is(err, bucket.ErrNotFound):
		return "its object is missing", nil
	case err != nil:
		return "", err
	case size != o.size:
		return fmt.Sprintf("its object has %d bytes instead of %d", size, o.size), nil
	case !strings.HasPrefix(sum, want):
		return "the bytes of its object differ from its SHA-256", nil
	}
	return "", nil
}

// soundHere reports whether the local copy of a file is what was uploaded.
func (f *FS) soundHere(name string, size int64, sum string) bool {
	file, err := f.openWhole(&object{name: name})
	if err != nil {
		return false
	}
	defer file.Close()
	got, err := digest(file, size)
	if sum == "" && f.o.Digest != nil {
		return err == nil && f.o.Digest(name) != "" && strings.HasPrefix(got, f.o.Digest(name))
	}
	return err == nil && got == sum
}

// Repair uploads sound local copies in the place of faulty objects. A file whose object is missing, and that is not
// local, ceases to exist; one whose object is damaged stays as it is, for whoever can heal it.
func (f *FS) Repair(ctx context.Context, faults []Fault) error {
	for _, fault := range faults {
		if !fault.Local && !fault.Missing {
			continue
		}
		if err := f.repair(fault); err != nil {
			return fmt.Errorf("repair the bucket: %w", err)
		}
	}
	return f.Flush(ctx)
}

func (f *FS) repair(fault Fault) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	o := f.objects[fault.Name]
	gone := o == nil || o.deleting
	f.mu.Unlock()
	if gone {
		return nil
	}
	if !fault.Local {
		if err := f.note(line("-", fault.Name)); err != nil {
			return err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.dropPart(o)
		if !o.local {
			delete(f.objects, fault.Name)
			o.stored, o.deleting = false, true
			return nil
		}
		o.stored, o.replace = false, false // damaged here: whoever can heal it may
		f.cached -= o.size
		o.renewed++
		return nil
	}
	if err := f.note(line("r", fault.Name)); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if o.local && !o.replace {
		f.cached -= o.size
	}
	o.replace = true
	o.renewed++
	f.cond.Broadcast()
	return nil
}
