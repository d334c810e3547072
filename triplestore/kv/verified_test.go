package kv

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// listed returns the directory of a closed database whose tables are all on the list of verified ones.
func listed(t *testing.T) (dir string, tables []uint64) {
	t.Helper()
	if _, ok := stampFile(os.DevNull); !ok || bootID() == "" {
		t.Skip("this system does not tell whether a file was written to")
	}
	dir = t.TempDir()
	for i := range 3 {
		db := open(t, dir, Options{MinFree: -1})
		put(t, db, fmt.Sprint("key", i), "value")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	cached := filepath.Join(dir, cacheDir)
	tables, err := manifest(cached)
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	list := verifiedList{Boot: bootID(), Tables: map[uint64]verifiedTable{}}
	for id, stamp := range stampTables(cached, tables) { // the margin would make the test wait
		list.Tables[id] = verifiedTable{stamp, time.Now().UnixNano()}
	}
	list.write(cached)
	return dir, tables
}

// readAtOpening returns the bytes of tables that an opening reads in order to verify them.
func readAtOpening(t *testing.T, dir string) (bytes int64, bad []badTable) {
	t.Helper()
	cached := filepath.Join(dir, cacheDir)
	tables, err := manifest(cached)
	if err != nil {
		t.Fatal(err)
	}
	var read atomic.Int64
	bad, err = verifyUnlisted(t.Context(), cached, cached, tables, false, func(_, total int64) { read.Store(total) })
	if err != nil {
		t.Fatal(err)
	}
	return read.Load(), bad
}

func TestAnOpeningReadsNoTableThatIsVerifiedAndUnchanged(t *testing.T) {
	t.Parallel()
	dir, _ := listed(t)
	if n, bad := readAtOpening(t, dir); n > 0 || len(bad) > 0 {
		t.Errorf("%d bytes of tables are verified again: %v", n, bad)
	}
	db := open(t, dir, Options{MinFree: -1})
	if got := all(t, db, "", ""); got != "key0=value key1=value key2=value" {
		t.Errorf("it reads %q", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if n, bad := readAtOpening(t, dir); n > 0 || len(bad) > 0 {
		t.Errorf("opening and closing has changed tables: %d bytes, %v", n, bad)
	}
}

// Whoever writes to a table changes the time of its inode, even one that restores the time of the last write.
func TestATableThatWasWrittenToIsVerifiedAgain(t *testing.T) {
	t.Parallel()
	dir, tables := listed(t)
	name := filepath.Join(dir, cacheDir, tableName(tables[0]))
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := [1]byte{}
	if _, err := f.ReadAt(b[:], 10); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 4
	if _, err := f.WriteAt(b[:], 10); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Close(), os.Chtimes(name, time.Time{}, info.ModTime())); err != nil {
		t.Fatal(err)
	}
	if _, bad := readAtOpening(t, dir); len(bad) != 1 {
		t.Errorf("the damage is not found: %v", bad)
	}
	db := open(t, dir, Options{MinFree: -1})
	if got := all(t, db, "", ""); got != "key0=value key1=value key2=value" {
		t.Errorf("it reads %q", got)
	}
	if len(db.Damages()) == 0 {
		t.Error("no damage is reported")
	}
}

func TestAListThatMayBeWrongIsIgnored(t *testing.T) {
	t.Parallel()
	dir, tables := listed(t)
	cached := filepath.Join(dir, cacheDir)
	name := filepath.Join(cached, verifiedName)
	sound, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	edit := func(f func(l *verifiedList)) func() {
		return func() {
			l := readVerified(cached)
			f(&l)
			l.write(cached)
		}
	}
	each := func(f func(v *verifiedTable)) func() {
		return edit(func(l *verifiedList) {
			for id, v := range l.Tables {
				f(&v)
				l.Tables[id] = v
			}
		})
	}
	for what, spoil := range map[string]func(){
		"a flipped bit":        func() { b := append([]byte{}, sound...); b[len(b)/2] ^= 1; os.WriteFile(name, b, 0o600) },
		"cut off":              func() { os.WriteFile(name, sound[:len(sound)/2], 0o600) },
		"empty":                func() { os.WriteFile(name, nil, 0o600) },
		"missing":              func() { os.Remove(name) },
		"of an earlier start":  edit(func(l *verifiedList) { l.Boot += "0" }),
		"of no table":          edit(func(l *verifiedList) { l.Tables = nil }),
		"too old":              each(func(v *verifiedTable) { v.At -= int64(verifiedFor) }),
		"of the future":        each(func(v *verifiedTable) { v.At += int64(verifiedFor) + int64(time.Minute) }),
		"of another mount":     each(func(v *verifiedTable) { v.Mount++ }),
		"of another file":      each(func(v *verifiedTable) { v.Inode++ }),
		"of an earlier change": each(func(v *verifiedTable) { v.Changed-- }),
		"of another length":    each(func(v *verifiedTable) { v.Size++ }),
	} {
		if err := os.WriteFile(name, sound, 0o600); err != nil {
			t.Fatal(err)
		}
		if n, _ := readAtOpening(t, dir); n > 0 {
			t.Fatalf("%d bytes are verified again although the list is sound", n)
		}
		spoil()
		var want int64
		for _, stamp := range stampTables(cached, tables) {
			want += stamp.Size
		}
		if n, _ := readAtOpening(t, dir); n != want {
			t.Errorf("with a list that is %s, %d of %d bytes are verified again", what, n, want)
		}
	}
}

// A table that was written just before its verification may be written again without a visible change of its times.
func TestOnlyTablesThatHaveRestedAreListed(t *testing.T) {
	t.Parallel()
	began := time.Now()
	at := func(ago time.Duration) tableStamp {
		return tableStamp{Size: 1, Changed: began.Add(-ago).UnixNano(), Modified: began.Add(-time.Hour).UnixNano()}
	}
	l := verifiedList{Tables: map[uint64]verifiedTable{3: {at(time.Hour), 7}, 4: {at(time.Hour), 7}}}
	got := l.with([]uint64{1, 2, 3}, map[uint64]tableStamp{1: at(time.Second), 2: at(time.Minute)}, began)
	if len(got.Tables) != 2 || got.Tables[2].At != began.UnixNano() || got.Tables[3].At != 7 {
		t.Errorf("%v", got.Tables)
	}
}

// A read that meets damage makes the next opening verify everything, should the process end before it has done so.
func TestASuspicionEmptiesTheList(t *testing.T) {
	t.Parallel()
	dir, _ := listed(t)
	db := open(t, dir, Options{MinFree: -1})
	_ = db.suspect(ErrDamaged)
	if _, err := os.Stat(filepath.Join(dir, cacheDir, verifiedName)); err == nil {
		t.Error("the list is still there")
	}
}
