package frontier

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"odarchive/triplestore/kv"
)

func TestAPassReadsEachURLOnceByDueTime(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	var seeds []string
	for i := range 2*scanPage + 7 {
		seeds = append(seeds, fmt.Sprintf("http://h%d.example/%d", i%11, i))
	}
	for part := range slices.Chunk(seeds, 300) {
		add(t, f, part...)
		c.now = c.now.Add(time.Hour)
	}
	err := f.db.Update(t.Context(), func(txn *kv.Txn) error { // a damaged record stops nothing
		return txn.Set(kv.SpaceDue, recordKey(ms(noon), "damaged"), []byte{recordVersion})
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	var last time.Time
	err = f.EachByDue(t.Context(), time.Time{}, time.Time{}, func(u *URL) error {
		if u.Due.Before(last) || seen[u.URL] {
			t.Errorf("%s at %v, after %v", u.URL, u.Due, last)
		}
		seen[u.URL], last = true, u.Due
		return nil
	})
	if err != nil || len(seen) != len(seeds) {
		t.Errorf("%d of %d seen, %v", len(seen), len(seeds), err)
	}
	some := 0
	err = f.EachByDue(t.Context(), noon.Add(time.Hour), noon.Add(2*time.Hour), func(u *URL) error { some++; return nil })
	if err != nil || some != 600 {
		t.Errorf("%d are due in an hour or two, %v; want 600", some, err)
	}
}
