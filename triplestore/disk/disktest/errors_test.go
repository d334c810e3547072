package disktest

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"odarchive/triplestore/disk"
)

func create(t *testing.T, fsys disk.FS, name string) disk.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func contentsOf(t *testing.T, fsys disk.FS, name string) string {
	t.Helper()
	data, err := disk.ReadFile(fsys, name, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, f disk.File, s string) {
	t.Helper()
	if n, err := io.WriteString(f, s); err != nil || n != len(s) {
		t.Fatalf("write %.20q: %d, %v", s, n, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheNthOperationFailsAndNoOther(t *testing.T) {
	e := NewErrors(NewCrash(1))
	e.FailAt(3, syscall.EIO)
	f := create(t, e, "a") // 1
	write(t, f, "one")     // 2
	if n, err := f.Write([]byte("two")); n != 0 || !errors.Is(err, syscall.EIO) {
		t.Errorf("the third operation: %d, %v; want 0 bytes and EIO", n, err)
	}
	write(t, f, "three")
	if got := contentsOf(t, e, "a"); got != "onethree" {
		t.Errorf("got %q; what failed is not to be done", got)
	}
	if got := e.Failed(); len(got) != 1 || got[0] != "write a" {
		t.Errorf("failed: %q", got)
	}
}

func TestFromTheNthOperationEveryOneFailsUntilReset(t *testing.T) {
	e := NewErrors(NewCrash(1))
	e.Only(Changes, "")
	e.FailFrom(2, syscall.ENOSPC)
	f := create(t, e, "a") // opening is not counted
	write(t, f, "one")
	for _, err := range []error{f.Sync(), f.Truncate(0), e.Rename("a", "b"), e.Remove("a"), e.MkdirAll("d", 0o755), e.SyncDir(".")} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("got %v, want ENOSPC", err)
		}
	}
	if e.Count() != 7 {
		t.Errorf("counted %d operations, want 7", e.Count())
	}
	e.Reset()
	if err := f.Sync(); err != nil || e.Count() != 1 || len(e.Failed()) != 0 {
		t.Errorf("after Reset: %v, counted %d, failed %q", err, e.Count(), e.Failed())
	}
}

func TestEveryKindOfOperationCanFailAlone(t *testing.T) {
	for kind, act := range map[Kind]func(disk.FS, disk.File) error{
		Open:     func(d disk.FS, _ disk.File) error { _, err := d.OpenFile("a", os.O_RDONLY, 0); return err },
		Read:     func(_ disk.FS, f disk.File) error { _, err := f.ReadAt(make([]byte, 1), 0); return err },
		Write:    func(_ disk.FS, f disk.File) error { _, err := f.WriteAt([]byte("x"), 0); return err },
		Sync:     func(_ disk.FS, f disk.File) error { return f.Sync() },
		Truncate: func(_ disk.FS, f disk.File) error { return f.Truncate(1) },
		Rename:   func(d disk.FS, _ disk.File) error { return d.Rename("a", "a") },
		Remove:   func(d disk.FS, _ disk.File) error { return d.Remove("spare") },
		Mkdir:    func(d disk.FS, _ disk.File) error { return d.MkdirAll("d", 0o755) },
		List:     func(d disk.FS, _ disk.File) error { _, err := d.ReadDir("."); return err },
		SyncDir:  func(d disk.FS, _ disk.File) error { return d.SyncDir(".") },
	} {
		e := NewErrors(NewCrash(1))
		create(t, e, "spare")
		f := create(t, e, "a")
		write(t, f, "hello")
		e.Only(kind, "")
		e.Reset()
		if err := act(e, f); err != nil || e.Count() != 1 {
			t.Errorf("%v: %v, counted %d times", kind, err, e.Count())
		}
		e.Reset()
		e.Only(All&^kind, "")
		if act(e, f); e.Count() != 0 {
			t.Errorf("%v: counted as another kind", kind)
		}
		e.Only(kind, "")
		e.FailAt(1, syscall.EIO)
		if err := act(e, f); !errors.Is(err, syscall.EIO) {
			t.Errorf("%v: got %v, want EIO", kind, err)
		}
	}
	if got := (Write | SyncDir).String(); got != "write|syncdir" {
		t.Errorf("kinds are called %q", got)
	}
}

func TestAPatternMatchesThePathOrItsLastElement(t *testing.T) {
	e := NewErrors(NewCrash(1))
	must(t, e.MkdirAll("data/log", 0o755))
	for pattern, want := range map[string]int{"*.log": 1, "data/log/*": 2, "nothing": 0, "": 3} {
		e.Only(Open, pattern)
		e.Reset()
		for _, name := range []string{"data/log/1.log", "data/log/1.tmp", "data/other"} {
			create(t, e, name)
		}
		if e.Count() != want {
			t.Errorf("pattern %q: counted %d, want %d", pattern, e.Count(), want)
		}
	}
	e.Only(Rename, "new")
	e.Reset()
	must(t, e.Rename("data/other", "data/new"))
	if e.Count() != 1 {
		t.Error("a rename is not counted by its new name")
	}
}

func TestAShortWriteWritesAHalf(t *testing.T) {
	e := NewErrors(NewCrash(1))
	e.Short = true
	f := create(t, e, "a")
	e.Only(Write, "")
	e.FailFrom(1, syscall.ENOSPC)
	if n, err := f.Write([]byte("abcdef")); n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if n, err := f.WriteAt([]byte("xy"), 3); n != 1 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("wrote %d, %v", n, err)
	}
	if got := contentsOf(t, e, "a"); got != "abcx" {
		t.Errorf("got %q", got)
	}
}

func TestErrorsStandsBeforeTheOperatingSystemsFilesToo(t *testing.T) {
	e := NewErrors(disk.OS{})
	name := filepath.Join(t.TempDir(), "a")
	must(t, disk.WriteFile(e, name, []byte("old"), 0o644))
	all := e.Count()
	for n := 1; n <= all; n++ {
		e.Reset()
		e.FailAt(n, syscall.EIO)
		if err := disk.WriteFile(e, name, []byte("new"), 0o644); !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d: %v, want EIO", n, err)
		}
		if got := contentsOf(t, disk.OS{}, name); got != "old" && got != "new" {
			t.Errorf("operation %d fails: the file holds %q", n, got)
		}
		if _, err := os.Stat(name + ".new"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("operation %d fails: a half-written file stays", n)
		}
	}
}

func TestOperationsOfSeveralGoroutinesAreCountedOnce(t *testing.T) {
	e := NewErrors(NewCrash(1))
	e.Only(Write, "")
	for n := 10; n <= 100; n += 10 {
		e.FailAt(n, syscall.EIO)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		f := create(t, e, string(rune('a'+i)))
		wg.Go(func() {
			for range 100 {
				f.Write([]byte("x"))
			}
		})
	}
	wg.Wait()
	if e.Count() != 800 || len(e.Failed()) != 10 {
		t.Errorf("counted %d, failed %d; want 800 and 10", e.Count(), len(e.Failed()))
	}
}
