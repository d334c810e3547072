package tier

import (
	"bytes"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/disk"
)

func TestRangesAgreeWithASetOfBytes(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	const size = 40
	for range 300 {
		p, have := &part{}, [size]bool{}
		for range 20 {
			from := r.Int64N(size)
			n := interval{from, from + 1 + r.Int64N(size-from)}
			there := r.IntN(3) > 0
			if there {
				p.add(n)
			} else {
				p.cut(n)
			}
			for i := n.from; i < n.to; i++ {
				have[i] = there
			}
			said := [size]bool{}
			for _, i := range p.have {
				for k := i.from; k < i.to; k++ {
					said[k] = true
				}
			}
			if said != have {
				t.Fatalf("seed %d: %v are not the bytes %v", seed, p.have, have)
			}
			count := int64(0)
			for _, b := range have {
				if b {
					count++
				}
			}
			if count != p.bytes || !slices.IsSortedFunc(p.have, func(a, b interval) int { return int(a.from - b.from) }) {
				t.Fatalf("seed %d: %v has %d bytes, counted as %d", seed, p.have, count, p.bytes)
			}
			gap, missing := p.gap(n.from, n.to)
			want := slices.Index(have[n.from:n.to], false)
			if missing != (want >= 0) || missing && gap.from != n.from+int64(want) {
				t.Fatalf("seed %d: the first gap of %v in %v is %v, %v", seed, n, p.have, gap, missing)
			}
		}
	}
}

func TestAJournalIsReadAsFarAsItsLastWholeLine(t *testing.T) {
	t.Parallel()
	text := line(journalMagic, "1", "archive", "holder") + storedLine(&object{name: "a", size: 5, etag: "t", sum: "00"}) +
		storedLine(&object{name: "b", size: 6}) + line("r", "b") + storedLine(&object{name: "c", size: 7}) + line("x", "c") +
		storedLine(&object{name: "d", size: 8}) + line("-", "d")
	read := func(raw string) journalState {
		path := filepath.Join(t.TempDir(), JournalName)
		if err := disk.WriteFile(disk.OS{}, path, []byte(raw), 0o644); err != nil {
			t.Fatal(err)
		}
		state, err := readJournal(disk.OS{}, path)
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	whole := read(text)
	want := map[string]entry{"a": {size: 5, etag: "t", sum: "00"}, "b": {size: 6, replace: true}, "c": {size: 7, deleting: true}}
	if whole.torn || whole.archive != "archive" || whole.holder != "holder" || len(whole.entries) != len(want) {
		t.Errorf("%+v", whole)
	}
	for name, e := range want {
		if whole.entries[name] != e {
			t.Errorf("%s: %+v, want %+v", name, whole.entries[name], e)
		}
	}
	if last := read(text + "+ e 9 e:"); last.torn || len(last.entries) != len(want) {
		t.Errorf("with an unfinished line: %+v", last)
	}
	flipped := []byte(text)
	flipped[bytes.IndexByte(flipped, '\n')+3] ^= 1
	if !read(string(flipped)).torn {
		t.Error("a line that does not match its checksum was not noticed")
	}
	if !read("").torn {
		t.Error("an empty journal is taken for a whole one")
	}
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(line(journalMagic, "1", "a", "b") + line("+", "n", "5", "e:", "s:")))
	f.Add([]byte(line("+", "n", "-5", "e:", "s:")))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(t.TempDir(), JournalName)
		if err := disk.WriteFile(disk.OS{}, path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		state, err := readJournal(disk.OS{}, path)
		for name, e := range state.entries {
			if err == nil && e.size < 0 {
				t.Errorf("%q has %d bytes", name, e.size)
			}
		}
	})
}

// A full disk refuses every range that is read.
func TestRangesThatCannotBeKeptAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		f := &FS{log: slog.New(slog.NewTextHandler(&text, nil))}
		for range 100 {
			f.notKept(errors.New("no space"))
			time.Sleep(time.Second)
		}
		if n := strings.Count(text.String(), "cannot be kept"); n != 2 || !strings.Contains(text.String(), "times=60") {
			t.Errorf("%d lines: %s", n, text.String())
		}
	})
}
