package archive

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
)

// several returns an archive of resources with up to four versions each, and versions to look for.
func several(t *testing.T) (*Archive, []Wanted) {
	t.Helper()
	a := newArchive(t)
	wanted := []Wanted{{}, {"nothing", 3}, WantLatest("0123456789abcdef01234567")}
	for i := range 40 {
		url := fmt.Sprintf("http://h%d.example/d/%d.csv", i%3, i)
		register(t, a, catalog.Seed{URL: url})
		id, err := records.ResourceID(url)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat(fmt.Sprintf("a,b\n%d,2\n", i), 2000)
		var before [32]byte
		for n := range i % 5 {
			ref, err := a.Bytes().Put(t.Context(), strings.NewReader(text[:n*1000]+"x"+text[n*1000:]), content.PutOptions{Previous: before})
			if err != nil {
				t.Fatal(err)
			}
			before = ref.SHA256
			_, err = a.Commit(t.Context(), Visit{
				Activity: catalog.Activity{URL: url, Start: day.Add(time.Duration(n) * time.Hour), End: day, Outcome: catalog.Archived,
					Status: 200},
				Kept: &Kept{Ref: ref, Type: "text/csv", FileName: fmt.Sprintf("ü%d.csv", i)},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			wanted = append(wanted, Wanted{id, n})
		}
		wanted = append(wanted, WantLatest(id), Wanted{id, i % 5})
	}
	slices.Reverse(wanted)
	return a, wanted
}

// compareFound compares the result of Find with that of gather.
func compareFound(t *testing.T, a *Archive, wanted []Wanted) (known int) {
	t.Helper()
	found, err := a.Find(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range wanted {
		want, err := a.gather(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		if found[i] != want {
			t.Errorf("%v: found\n%+v, not\n%+v", w, found[i], want)
		}
		if found[i].ID != "" {
			known++
		}
	}
	return known
}

func TestManyVersionsAreFoundAsOneByOne(t *testing.T) {
	t.Parallel()
	a, wanted := several(t)
	if known := compareFound(t, a, wanted); known != 80+32 {
		t.Errorf("%d were found", known)
	}
	compareFound(t, a, wanted[:1])
	compareFound(t, a, nil)
}

func TestVersionsAreFoundWithoutTheirStoredRecords(t *testing.T) {
	t.Parallel()
	a, wanted := several(t)
	if err := a.db.DropSpace(storedSpace); err != nil {
		t.Fatal(err)
	}
	compareFound(t, a, wanted)
}

func TestADamagedStoredRecordIsNotRead(t *testing.T) {
	t.Parallel()
	a, _ := several(t)
	n := 0
	err := a.view(func(t records.Txn) error {
		return t.Scan(storedSpace, nil, nil, func(_, val []byte) (bool, error) {
			n++
			for short := range val {
				if _, ok := decodeStored(val[:short]); ok {
					return false, fmt.Errorf("%d bytes of %q can be read", short, val)
				}
			}
			return true, nil
		})
	})
	if err != nil || n != 80 {
		t.Errorf("%d records, %v", n, err)
	}
}

func TestAVersionWhoseBytesAreLostIsNotFound(t *testing.T) {
	t.Parallel()
	a, wanted := several(t)
	w := wanted[slices.IndexFunc(wanted, func(w Wanted) bool { return w.n == 2 })]
	v, err := a.Version(t.Context(), ns.VersionID(w.resource, w.n))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Lose(t.Context(), v.Digests.SHA256); err != nil {
		t.Fatal(err)
	}
	if err := a.Bytes().Forget(t.Context(), v.Digests.SHA256); err != nil {
		t.Fatal(err)
	}
	found, err := a.Find(t.Context(), []Wanted{w, {w.resource, 0}})
	if err != nil || found[0].ID != "" || found[1].ID == "" {
		t.Errorf("found %+v, %v", found, err)
	}
}
