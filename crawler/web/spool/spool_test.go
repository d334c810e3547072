package spool

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

func newSpool(t *testing.T, o Options) (*Spool, string) {
	t.Helper()
	dir := t.TempDir()
	s, err := New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func TestSmallFilesStayInMemoryAndLargeOnesGoToDisk(t *testing.T) {
	t.Parallel()
	s, dir := newSpool(t, Options{MemoryPerFile: 1000})
	for _, size := range []int{0, 1, 999, 1000, 1001, 200_000} {
		data := bytes.Repeat([]byte("0123456789abcde"), size/15+1)[:size]
		f := s.Create()
		for p := data; len(p) > 0; {
			n := min(len(p), 300)
			if _, err := f.Write(p[:n]); err != nil {
				t.Fatal(err)
			}
			p = p[n:]
		}
		if err := f.Finish(); err != nil {
			t.Fatal(err)
		}
		if f.Size() != int64(size) || f.Digests().SHA256 != sha256.Sum256(data) || f.Digests().MD5 != md5.Sum(data) ||
			f.CRC32() != crc32.ChecksumIEEE(data) {
			t.Errorf("%d bytes: size or digests are wrong", size)
		}
		files, _ := os.ReadDir(dir)
		if onDisk := len(files) == 1; onDisk != (size > 1000) {
			t.Errorf("%d bytes: on disk %v", size, onDisk)
		}
		for range 2 {
			got, err := io.ReadAll(f.Open())
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes: read back %d bytes, %v", size, len(got), err)
			}
		}
		for _, n := range []int{0, 10, 1800, 70_000, 1 << 20} {
			if head, err := f.Head(n); err != nil || !bytes.Equal(head, data[:min(n, size)]) {
				t.Errorf("%d bytes: head of %d is %d bytes, %v", size, n, len(head), err)
			}
		}
		if err := f.Remove(); err != nil {
			t.Fatal(err)
		}
		if err := f.Remove(); err != nil {
			t.Errorf("removing twice: %v", err)
		}
		if memory, disk := s.Usage(); memory != 0 || disk != 0 {
			t.Errorf("%d bytes: after removal %d in memory, %d on disk", size, memory, disk)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("%d files are left", len(files))
	}
}

func TestTheTotalOnDiskIsBounded(t *testing.T) {
	t.Parallel()
	s, _ := newSpool(t, Options{MemoryPerFile: 10, Disk: 1000})
	a, b := s.Create(), s.Create()
	if _, err := a.Write(make([]byte, 900)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Write(make([]byte, 101)); !errors.Is(err, ErrFull) {
		t.Errorf("the 1001st byte: %v, want ErrFull", err)
	}
	if err := errors.Join(a.Remove(), b.Remove()); err != nil {
		t.Fatal(err)
	}
	if _, disk := s.Usage(); disk != 0 {
		t.Errorf("%d bytes are still counted", disk)
	}
}

func TestTheTotalInMemoryIsBounded(t *testing.T) {
	t.Parallel()
	s, dir := newSpool(t, Options{MemoryPerFile: 100, Memory: 150})
	a, b := s.Create(), s.Create()
	for _, f := range []*File{a, b} {
		if _, err := f.Write(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files on disk, want the second", len(files))
	}
	_ = errors.Join(a.Remove(), b.Remove())
}

func TestNewClearsWhatAFormerProcessLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"spool-123", "other"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := New(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 1 || files[0].Name() != "other" {
		t.Errorf("left: %v", files)
	}
}

func TestAFinishedFileTakesNoMore(t *testing.T) {
	t.Parallel()
	s, _ := newSpool(t, Options{})
	f := s.Create()
	_ = f.Finish()
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("wrote to a finished file")
	}
	_ = f.Remove()
}

func TestAfterARefusalTheDiskIsAskedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // the clock does not run
		dir := filepath.Join(t.TempDir(), "disk")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		room := NewRoom(dir, 1)
		first := room.Short()
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		again := room.Short()
		room.Refused()
		if then := room.Short(); first != "" || again != "" || then == "" {
			t.Errorf("%q, within the same second %q, after a refusal %q", first, again, then)
		}
	})
}

func TestTooLittleRoomIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if why := NewRoom(dir, 1).Short(); why != "" {
		t.Errorf("for a byte: %q", why)
	}
	if why := NewRoom(dir, 1<<62).Short(); !strings.Contains(why, "nearly full") {
		t.Errorf("for more than any disk has: %q", why)
	}
	if why := NewRoom(filepath.Join(dir, "missing"), 1).Short(); why == "" {
		t.Error("of a directory that is missing: nothing")
	}
}
