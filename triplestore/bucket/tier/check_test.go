package tier

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
	"odarchive/triplestore/disk"
)

// late is a bucket that lists what was there before something happened.
type late struct {
	bucket.Bucket
	happen func() error
}

func (l *late) List(ctx context.Context, prefix, after string) iter.Seq2[bucket.Info, error] {
	var before []bucket.Info
	for info, err := range l.Bucket.List(ctx, prefix, after) {
		if err != nil {
			return func(yield func(bucket.Info, error) bool) { yield(bucket.Info{}, err) }
		}
		before = append(before, info)
	}
	if l.happen != nil {
		if err := l.happen(); err != nil {
			return func(yield func(bucket.Info, error) bool) { yield(bucket.Info{}, err) }
		}
	}
	return func(yield func(bucket.Info, error) bool) {
		for _, info := range before {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func TestWhatChangesDuringACheckIsNoFault(t *testing.T) {
	t.Parallel()
	objects := &buckettest.Memory{}
	l, dir := &late{Bucket: objects}, t.TempDir()
	f, err := Open(t.Context(),
		Options{Bucket: l, Dir: dir, Finished: func(name string) bool { return filepath.Ext(name) == ".pack" }, Archive: "archive"})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	write := func(name, text string) error {
		return disk.WriteFile(f, filepath.Join(dir, name), []byte(text), 0o644)
	}
	flush := func() error { return f.Flush(t.Context()) }
	for _, name := range []string{"same.pack", "replaced.pack", "removed.pack", "again.pack", "lost.pack"} {
		if err := write(name, "the first "+name); err != nil {
			t.Fatal(err)
		}
	}
	if err := flush(); err != nil {
		t.Fatal(err)
	}
	if err := objects.Delete(t.Context(), "lost.pack"); err != nil {
		t.Fatal(err)
	}
	for _, deep := range []bool{false, true} {
		l.happen = func() error {
			return errors.Join(write("new.pack", "new"), write("replaced.pack", "another, which is longer"),
				f.Remove(filepath.Join(dir, "removed.pack")),
				f.Remove(filepath.Join(dir, "again.pack")), flush(), write("again.pack", "the first again.pack"), flush())
		}
		faults, err := f.Check(t.Context(), CheckOptions{Deep: deep})
		if l.happen = nil; err != nil {
			t.Fatal(err)
		}
		names := make([]string, len(faults))
		for i, fault := range faults {
			names[i] = fault.Name
		}
		if !slices.Equal(names, []string{"lost.pack"}) {
			t.Errorf("deep %v: %+v, want lost.pack only", deep, faults)
		}
		if err := errors.Join(write("removed.pack", "the first removed.pack"), f.Remove(filepath.Join(dir, "new.pack")),
			flush()); err != nil {
			t.Fatal(err)
		}
	}
}
