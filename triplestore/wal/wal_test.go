package wal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/disk/disktest"
)

func begin(t testing.TB, dir string, o Options) *Log {
	t.Helper()
	l, found, err := Open(dir, o)
	if err != nil || !found.Empty {
		t.Fatalf("%+v %v", found, err)
	}
	if err := l.Reset(1, false); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func reopen(t testing.TB, dir string, o Options) (*Log, Found) {
	t.Helper()
	l, found, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, found
}

// body returns the body of a record, which encodes its number.
func body(n uint64) []byte {
	return []byte(fmt.Sprintf("%d:%s", n, strings.Repeat("x", int(n*37%300))))
}

func appendTo(t testing.TB, l *Log, upTo uint64) {
	t.Helper()
	for l.Next() <= upTo {
		if _, err := l.Append(body(l.Next())); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
}

// numbers reads from a number on and returns how many whole records it read in order.
func numbers(t testing.TB, l *Log, from uint64) (count uint64, err error) {
	t.Helper()
	err = l.Read(context.Background(), from, func(n uint64, b []byte) error {
		if n != from+count || !bytes.Equal(b, body(n)) {
			t.Errorf("record %d reads %.30q, expected number %d", n, b, from+count)
		}
		count++
		return nil
	})
	return count, err
}

func TestWhatWasAppendedIsReadAfterReopening(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := begin(t, dir, Options{Segment: 1000})
	appendTo(t, l, 100)
	l.Close()
	l, found := reopen(t, dir, Options{Segment: 1000})
	if found.First != 1 || found.Next != 101 || found.Tip != 100 || found.Damage != nil {
		t.Errorf("%+v", found)
	}
	appendTo(t, l, 200)
	for _, from := range []uint64{1, 2, 57, 200, 201} {
		if n, err := numbers(t, l, from); err != nil || n != 201-from {
			t.Errorf("from %d: %d records, %v", from, n, err)
		}
	}
	if bad, err := l.Verify(t.Context(), nil, nil); err != nil || len(bad) > 0 {
		t.Errorf("%v %v", bad, err)
	}
}

func TestTrimmingLeavesWhatIsNeeded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := begin(t, dir, Options{Segment: 1000})
	appendTo(t, l, 100)
	if err := l.Trim(50); err != nil {
		t.Fatal(err)
	}
	if first := l.First(); first > 51 || first == 1 {
		t.Errorf("it begins with %d", first)
	}
	if n, err := numbers(t, l, 51); err != nil || n != 50 {
		t.Errorf("%d %v", n, err)
	}
	if _, err := numbers(t, l, 1); !errors.Is(err, ErrGap) {
		t.Errorf("reading from 1: %v", err)
	}
	if err := l.Trim(1000); err != nil || l.Next() != 101 {
		t.Errorf("%v, next %d", err, l.Next())
	}
}

// After a crash, a record that was not synced is truncated; a missing record that was synced is damage.
func TestATornEndIsCutOffAndAMissingOneIsDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := begin(t, dir, Options{})
	appendTo(t, l, 10)
	l.Close()
	name := filepath.Join(dir, segmentName(1))
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	next, _ := appendRecord(nil, l.chain, 11, body(11))
	for cut := range next {
		if err := os.WriteFile(name, append(bytes.Clone(whole), next[:cut]...), 0o644); err != nil {
			t.Fatal(err)
		}
		l, found := reopen(t, dir, Options{})
		if found.Damage != nil || found.Next != 11 {
			t.Fatalf("%d bytes more: %+v", cut, found)
		}
		l.Close()
	}
	for _, cut := range []int{1, 30, len(whole) - headerSize, len(whole) - 1, len(whole)} {
		if err := os.WriteFile(name, whole[:len(whole)-cut], 0o644); err != nil {
			t.Fatal(err)
		}
		l, found := reopen(t, dir, Options{})
		if !errors.Is(found.Damage, ErrDamaged) {
			t.Errorf("%d bytes fewer: %+v", cut, found)
		}
		if _, err := l.Append(nil); err == nil {
			t.Error("a damaged log takes records")
		}
		if info, _ := os.Stat(name); info.Size() != int64(len(whole)-cut) {
			t.Error("a damaged log was cut off")
		}
	}
}

// For a flipped bit anywhere, a lost sector, a missing or swapped file: Open or Verify reports it, and what is read is
// right.
func TestDamageIsFoundAndNothingWrongIsRead(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	source := disktest.NewCrash(seed)
	l := begin(t, "/log", Options{Segment: 4000, FS: source})
	appendTo(t, l, 100)
	l.Close()
	names, err := source.ReadDir("/log")
	if err != nil {
		t.Fatal(err)
	}
	for round := range 300 {
		fs := disktest.NewCrash(seed)
		if err := fs.MkdirAll("/log", 0o755); err != nil {
			t.Fatal(err)
		}
		victim := rnd.IntN(len(names))
		what := ""
		for i, entry := range names {
			name := filepath.Join("/log", entry.Name())
			b, err := disk.ReadFile(source, name, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if i == victim {
				switch rnd.IntN(4) {
				case 0, 1:
					at := rnd.IntN(len(b))
					b[at] ^= 1 << rnd.IntN(8)
					what = fmt.Sprintf("byte %d of %s", at, filepath.Base(name))
				case 2:
					from := rnd.IntN(len(b))
					clear(b[from:min(len(b), from+512)])
					what = fmt.Sprintf("zeros from %d of %s", from, filepath.Base(name))
				default:
					what = "missing " + filepath.Base(name)
					continue
				}
			}
			if err := disk.WriteFile(fs, name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		l, found, err := Open("/log", Options{Segment: 4000, FS: fs})
		if err != nil {
			t.Fatalf("seed %d, round %d, %s: %v", seed, round, what, err)
		}
		n, readErr := numbers(t, l, found.First)
		bad, err := l.Verify(t.Context(), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		harmless := found.First == 1 && found.Next == 101 && n == 100 && readErr == nil
		if !harmless && found.Damage == nil && len(bad) == 0 && found.First == 1 {
			t.Errorf("seed %d, round %d, %s: not found: %+v", seed, round, what, found)
		}
		l.Close()
	}
}

func TestAFailedWriteOrSyncStopsTheLogAndAFullDiskDoesNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind disktest.Kind
		err  error
		goes bool
	}{
		{disktest.Write, syscall.EIO, false},
		{disktest.Sync, syscall.EIO, false},
		{disktest.Sync, syscall.ENOSPC, false},
		{disktest.Write, syscall.ENOSPC, true},
		{disktest.Write, syscall.EDQUOT, true},
	} {
		for _, short := range []bool{false, true} {
			under := disktest.NewCrash(1)
			fs := disktest.NewErrors(under)
			fs.Short = short
			dir := "/log"
			l := begin(t, dir, Options{FS: fs})
			appendTo(t, l, 5)
			fs.Only(c.kind, "*.log")
			fs.FailAt(fs.Count()+1, c.err)
			_, err := l.Append(body(6))
			if err == nil {
				err = l.Sync()
			}
			if !errors.Is(err, c.err) || errors.Is(err, ErrFailed) == c.goes {
				t.Errorf("%v %v: %v", c.kind, c.err, err)
			}
			_, err = l.Append(body(6))
			if goes := err == nil && l.Sync() == nil; goes != c.goes {
				t.Errorf("%v %v: it goes on: %v, %v", c.kind, c.err, goes, err)
			}
			l.Close()
			l, found := reopen(t, dir, Options{FS: under.Crash()})
			n, err := numbers(t, l, 1)
			if err != nil || found.Damage != nil || n < 5 || c.goes && n != 6 {
				t.Errorf("%v %v: afterwards %d records, %+v, %v", c.kind, c.err, n, found, err)
			}
		}
	}
}

func TestAResetLogBeginsElsewhereAndKeepsNothingOfBefore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := begin(t, dir, Options{Segment: 1000})
	appendTo(t, l, 60)
	if err := l.Reset(100, false); err != nil {
		t.Fatal(err)
	}
	appendTo(t, l, 120)
	l.Close()
	l, found := reopen(t, dir, Options{Segment: 1000})
	if found.First != 100 || found.Next != 121 || found.Damage != nil {
		t.Errorf("%+v", found)
	}
	if n, err := numbers(t, l, 100); err != nil || n != 21 {
		t.Errorf("%d %v", n, err)
	}
}

func TestALogIsReadBesideItsWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := begin(t, dir, Options{Segment: 1000})
	appendTo(t, l, 30)
	r, found := reopen(t, dir, Options{ReadOnly: true})
	appendTo(t, l, 60)
	if n, err := numbers(t, r, 1); err != nil || n != 30 || found.Next != 31 {
		t.Errorf("%d %v %+v", n, err, found)
	}
	if _, err := r.Append(nil); err == nil {
		t.Error("a log that was opened for reading takes records")
	}
}

// FuzzSegment opens a log whose only segment has arbitrary content.
func FuzzSegment(f *testing.F) {
	head := header{first: 1}.encode()
	one, sum := appendRecord(bytes.Clone(head), leSum(head), 1, []byte("record"))
	two, _ := appendRecord(bytes.Clone(one), sum, 2, nil)
	f.Add(head)
	f.Add(one)
	f.Add(two)
	f.Add(append(two, make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, segmentName(1)), b, 0o644); err != nil {
			t.Fatal(err)
		}
		l, found, err := Open(dir, Options{ReadOnly: true})
		if err != nil {
			return
		}
		defer l.Close()
		count := uint64(0)
		err = l.Read(t.Context(), found.First, func(uint64, []byte) error { count++; return nil })
		if err == nil && count != found.Next-found.First {
			t.Errorf("%d records, found %+v", count, found)
		}
	})
}

func leSum(head []byte) uint32 {
	b := head[headerSize-4:]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}
