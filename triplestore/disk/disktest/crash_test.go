package disktest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"odarchive/triplestore/disk"
)

// outcomes runs prepare on many seeds and collects what state returns for the file system after a power failure.
func outcomes(t *testing.T, ext4 bool, prepare func(*Crash), state func(*Crash) string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(300) {
		c := NewCrash(seed)
		c.Ext4 = ext4
		prepare(c)
		seen[state(c.Crash())]++
	}
	return seen
}

// expect checks that all wanted outcomes have occurred, and no others.
func expect(t *testing.T, seen map[string]int, want ...string) {
	t.Helper()
	for _, w := range want {
		if seen[w] == 0 {
			t.Errorf("%.60q never happens: %v", w, seen)
		}
		delete(seen, w)
	}
	for s, n := range seen {
		t.Errorf("%.60q happens %d times", s, n)
	}
}

func present(names ...string) func(*Crash) string {
	return func(c *Crash) string {
		var there []string
		for _, name := range names {
			if _, err := c.Stat(name); err == nil {
				there = append(there, name)
			}
		}
		return strings.Join(there, " ")
	}
}

func TestSyncedBytesSurviveAndOthersMay(t *testing.T) {
	seen := outcomes(t, false, func(c *Crash) {
		f := create(t, c, "a")
		must(t, c.SyncDir("/"))
		write(t, f, "ab")
		must(t, f.Sync())
		write(t, f, "cd")
	}, func(c *Crash) string { return contentsOf(t, c, "a") })
	expect(t, seen, "ab", "abc", "abcd", "ab\x00\x00")
}

func TestUnsyncedPagesSurviveOneByOne(t *testing.T) {
	page := func(b string) string { return strings.Repeat(b, pageSize) }
	seen := outcomes(t, false, func(c *Crash) {
		f := create(t, c, "a")
		must(t, c.SyncDir("/"))
		write(t, f, page("o")+page("o"))
		must(t, f.Sync())
		_, err := f.WriteAt([]byte(page("n")+page("n")), 0)
		must(t, err)
	}, func(c *Crash) string {
		s := contentsOf(t, c, "a")
		if len(s) != 2*pageSize {
			return fmt.Sprint(len(s), " bytes")
		}
		if n := strings.Count(s, "n"); n%pageSize != 0 { // the first bytes
			if s != strings.Repeat("n", n)+strings.Repeat("o", len(s)-n) {
				return "mixed"
			}
			return "first"
		}
		return s[:1] + s[pageSize:pageSize+1]
	})
	expect(t, seen, "oo", "on", "no", "nn", "first")
}

func TestATruncationThatWasNotSyncedMayBeUndone(t *testing.T) {
	seen := outcomes(t, false, func(c *Crash) {
		f := create(t, c, "a")
		must(t, c.SyncDir("/"))
		write(t, f, "old")
		must(t, f.Sync())
		must(t, f.Truncate(0))
	}, func(c *Crash) string { return contentsOf(t, c, "a") })
	expect(t, seen, "old", "")
}

func TestANameOfAStrictDiskIsDurableOnceItsDirectoryIsSynced(t *testing.T) {
	seen := outcomes(t, false, func(c *Crash) {
		create(t, c, "a")
		must(t, c.SyncDir("/"))
		f := create(t, c, "b")
		must(t, f.Sync()) // does not make its name durable
		create(t, c, "c")
	}, present("a", "b", "c"))
	expect(t, seen, "a", "a b", "a c", "a b c")
}

func TestAnySyncOfAnExt4DiskMakesEarlierNamesDurable(t *testing.T) {
	seen := outcomes(t, true, func(c *Crash) {
		create(t, c, "a")
		f := create(t, c, "b")
		must(t, f.Sync())
		create(t, c, "c")
		create(t, c, "d")
	}, present("a", "b", "c", "d"))
	expect(t, seen, "a b", "a b c", "a b c d") // in order
}

func TestARenameIsDurableAsAWholeOrUndone(t *testing.T) {
	seen := outcomes(t, false, func(c *Crash) {
		for _, name := range []string{"old", "new"} {
			f := create(t, c, name)
			write(t, f, name)
			must(t, f.Sync())
		}
		must(t, c.SyncDir("/"))
		must(t, c.Rename("new", "old"))
	}, func(c *Crash) string { return contentsOf(t, c, "old") + "," + present("new")(c) })
	expect(t, seen, "old,new", "new,")
}

func TestARemovalThatIsNotDurableMayBeUndone(t *testing.T) {
	prepare := func(synced bool) func(*Crash) {
		return func(c *Crash) {
			f := create(t, c, "a")
			write(t, f, "bytes")
			must(t, f.Sync())
			must(t, c.SyncDir("/"))
			must(t, c.Remove("a"))
			if synced {
				must(t, c.SyncDir("/"))
			}
		}
	}
	state := func(c *Crash) string {
		data, err := disk.ReadFile(c, "a", 100)
		if errors.Is(err, os.ErrNotExist) {
			return "gone"
		}
		return string(data)
	}
	expect(t, outcomes(t, false, prepare(false), state), "gone", "bytes")
	expect(t, outcomes(t, false, prepare(true), state), "gone")
}

func TestAFileIsLostWithADirectoryWhoseNameWasNotSynced(t *testing.T) {
	seen := outcomes(t, false, func(c *Crash) {
		must(t, c.MkdirAll("d", 0o755))
		f := create(t, c, "d/a")
		must(t, f.Sync())
		must(t, c.SyncDir("d"))
	}, present("d/a"))
	expect(t, seen, "", "d/a")
}

func TestAReplacedFileIsOldOrNewWhereverThePowerFails(t *testing.T) {
	for _, ext4 := range []bool{false, true} {
		acknowledged := 0
		for seed := range uint64(400) {
			c := NewCrash(seed)
			c.Ext4 = ext4
			must(t, disk.WriteFile(c, "a", []byte("old"), 0o644))
			before := c.Changes()
			c.CutAt(before + 1 + int(seed%6))
			err := disk.WriteFile(c, "a", bytes.Repeat([]byte("new"), 3000), 0o644)
			got := contentsOf(t, c.Crash(), "a")
			if err == nil {
				acknowledged++
			}
			if (got != "old" || err == nil) && got != strings.Repeat("new", 3000) {
				t.Fatalf("ext4 %v, seed %d: %.20q after %v", ext4, seed, got, err)
			}
		}
		if acknowledged == 0 || acknowledged == 400 {
			t.Errorf("%d of 400 were acknowledged: the power never fails in between", acknowledged)
		}
	}
}

func TestWhatAFailedSyncLosesIsNeverWritten(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(100) {
		c := NewCrash(seed)
		e := NewErrors(c)
		f := create(t, e, "a")
		must(t, e.SyncDir("/"))
		e.Reset()
		e.Only(Sync, "")
		e.FailAt(1, syscall.EIO)
		write(t, f, "lost")
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatal(err)
		}
		write(t, f, "kept")
		must(t, f.Sync()) // the kernel considers the first four bytes written
		if got := contentsOf(t, e, "a"); got != "lostkept" {
			t.Fatalf("reading shows %q before the power fails", got)
		}
		seen[contentsOf(t, c.Crash(), "a")]++
	}
	expect(t, seen, "\x00\x00\x00\x00kept", "lostkept")
}

func TestAfterThePowerFailsNothingWorks(t *testing.T) {
	c := NewCrash(1)
	f := create(t, c, "a")
	write(t, f, "x")
	c.Crash()
	_, openErr := c.OpenFile("a", os.O_RDONLY, 0)
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	_, listErr := c.ReadDir("/")
	for _, err := range []error{openErr, readErr, listErr, f.Sync(), c.Rename("a", "b"), c.Remove("a"), c.MkdirAll("d", 0o755),
		c.SyncDir("/")} {
		if !errors.Is(err, ErrPowerOff) {
			t.Errorf("got %v, want ErrPowerOff", err)
		}
	}
	must(t, f.Close())
}

func TestASeedHasOneOutcomeAndCallingAgainGivesOthers(t *testing.T) {
	run := func(seed uint64) *Crash {
		c := NewCrash(seed)
		for i := range 20 {
			f := create(t, c, fmt.Sprint("f", i))
			write(t, f, strings.Repeat("x", i*1000))
		}
		return c
	}
	state := func(c *Crash) string {
		s := ""
		entries, err := c.ReadDir("/")
		must(t, err)
		for _, entry := range entries {
			s += fmt.Sprint(entry.Name(), len(contentsOf(t, c, entry.Name())), " ")
		}
		return s
	}
	other := map[string]bool{}
	for range 10 {
		if a, b := state(run(7).Crash()), state(run(7).Crash()); a != b {
			t.Fatalf("seed 7 leaves %q and %q", a, b)
		}
	}
	c := run(7)
	for range 10 {
		other[state(c.Crash())] = true
	}
	if len(other) < 2 {
		t.Error("each call of Crash has the same outcome")
	}
}

func TestWhatSurvivedIsDurable(t *testing.T) {
	for seed := range uint64(50) {
		c := NewCrash(seed)
		write(t, create(t, c, "a"), "bytes")
		left := c.Crash()
		state := func(c *Crash) string {
			if present("a")(c) == "" {
				return "nothing"
			}
			return contentsOf(t, c, "a")
		}
		before := state(left)
		if after := state(left.Crash()); after != before {
			t.Fatalf("seed %d: %q became %q in a second failure", seed, before, after)
		}
	}
}

func TestSyncAllMakesEverythingDurable(t *testing.T) {
	expect(t, outcomes(t, false, func(c *Crash) {
		must(t, c.MkdirAll("d/e", 0o755))
		write(t, create(t, c, "d/e/a"), "x")
		c.SyncAll()
	}, func(c *Crash) string { return contentsOf(t, c, "d/e/a") }), "x")
}

func TestADirectoryMadeByTheHelperIsDurableWithItsParents(t *testing.T) {
	expect(t, outcomes(t, false, func(c *Crash) { must(t, disk.MakeDir(c, "/a/b/c", 0o755)) }, present("/a/b/c")), "/a/b/c")
	expect(t, outcomes(t, false, func(c *Crash) {
		must(t, c.MkdirAll("a", 0o755)) // as if by a process killed before it could sync
		must(t, disk.MakeDir(c, "a", 0o755))
	}, present("a")), "a")
	must(t, disk.MakeDir(disk.OS{}, t.TempDir()+"/a/b", 0o755))
}
