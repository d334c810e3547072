package wal_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"odarchive/triplestore/disk"
	"odarchive/triplestore/disk/disktest"
	"odarchive/triplestore/wal"
)

const firstSegment, secondSegment, tipFile = "log/00000000000000000001.log", "log/00000000000000000003.log", "log/tip"

// files returns a log of two segments with two records each.
func files(t testing.TB) (first, second, tip []byte) {
	t.Helper()
	fsys := disktest.NewCrash(1)
	l, _, err := wal.Open("log", wal.Options{FS: fsys, Segment: 60})
	if err == nil {
		err = l.Reset(1, false)
	}
	for _, record := range []string{"one", "the second, which is longer", "", "four"} {
		if err == nil {
			_, err = l.Append([]byte(record))
		}
	}
	if err == nil {
		err = errors.Join(l.Sync(), l.Close())
	}
	for name, b := range map[string]*[]byte{firstSegment: &first, secondSegment: &second, tipFile: &tip} {
		var readErr error
		*b, readErr = disk.ReadFile(fsys, name, 1<<20)
		err = errors.Join(err, readErr)
	}
	if err != nil {
		t.Fatal(err)
	}
	return first, second, tip
}

// For any content of the files: Open returns; the records it reports as readable are, from an undamaged first segment
// on; and a log not reported as damaged accepts records and has them after reopening.
func FuzzOpen(f *testing.F) {
	first, second, tip := files(f)
	f.Add(first, second, tip)
	f.Add(first, second[:len(second)-1], tip)
	f.Add(first, []byte{}, []byte{})
	f.Add(first[:50], second, tip[:3])
	f.Add(first[:20], []byte{}, tip)
	newer := bytes.Clone(first)
	newer[5] = '2'
	f.Add(newer, second, tip)
	f.Fuzz(func(t *testing.T, first, second, tip []byte) {
		fsys := disktest.NewCrash(1)
		if err := fsys.MkdirAll("log", 0o755); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{firstSegment: first, secondSegment: second, tipFile: tip} {
			if err := disk.WriteFile(fsys, name, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		ctx := context.Background()
		l, found, err := wal.Open("log", wal.Options{FS: fsys})
		if err != nil {
			return
		}
		defer l.Close()
		err = l.Read(ctx, l.First(), func(uint64, []byte) error { return nil })
		if err != nil && !errors.Is(err, wal.ErrDamaged) && !errors.Is(err, wal.ErrNewer) {
			t.Fatalf("reading: %v", err)
		}
		if _, err := l.Verify(ctx, nil, nil); err != nil && !errors.Is(err, wal.ErrNewer) {
			t.Fatalf("verify: %v", err)
		}
		number, err := l.Append([]byte("new"))
		if err == nil {
			err = l.Sync()
		}
		if (err == nil) != (found.Damage == nil) {
			t.Fatalf("damage %v, append: %v", found.Damage, err)
		}
		if err != nil {
			return
		}
		l, found, err = wal.Open("log", wal.Options{FS: fsys.Crash()})
		if err != nil || found.Damage != nil || found.Next != number+1 {
			t.Fatalf("opened again: %+v, %v; want next %d", found, err, number+1)
		}
		l.Close()
	})
}

func TestTheFilesOfTheLogAreTheOnesThatFORMATmdNames(t *testing.T) {
	first, second, tip := files(t)
	if string(first[:8]) != "ODLOG1\r\n" || string(second[:8]) != "ODLOG1\r\n" || len(tip) != 28 {
		t.Errorf("segments begin with %q and %q, the tip has %d bytes", first[:8], second[:8], len(tip))
	}
}
