package archive

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/kv"
)

// insides are what may be inside versions.
func insides(t testing.TB) []*inspect.Inside {
	profile := func(text string) *csvprofile.Profile {
		p, err := csvprofile.Read(t.Context(), strings.NewReader(text), csvprofile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	numbers := "n,m,word\n"
	for i := range 3000 {
		numbers += strings.Repeat("1", i%7+1) + "," + strings.Repeat("2", i%40+1) + "x,\"some, word\"\n"
	}
	one, two := profile("a,b\n1,x\n2,y\n"), profile(numbers)
	return []*inspect.Inside{
		{Faults: []string{"it could not be read"}, More: true},
		{Tables: []*csvprofile.Profile{one, two}},
		{Members: []inspect.Member{{Path: "a.txt", Size: -1}, {Path: "b.csv", Tables: []*csvprofile.Profile{two}}, {Path: "c.csv", Tables: []*csvprofile.Profile{one}}}},
	}
}

func TestWhatIsInsideAVersionIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, in := range insides(t) {
		before, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := encodeInside(in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeInside(raw)
		if err != nil {
			t.Fatal(err)
		}
		old, err := decodeInside(before) // as older programs wrote it
		if err != nil || !reflect.DeepEqual(got, old) {
			t.Errorf("from the record:\n%+v\nfrom JSON:\n%+v, %v", got, old, err)
		}
		if after, err := json.Marshal(in); err != nil || string(after) != string(before) {
			t.Errorf("writing has changed it: %s, %v", after, err)
		}
		for i := range raw {
			decodeInside(raw[:i]) // must not panic
		}
	}
	if _, err := decodeInside([]byte{insideFormat + 1, 0}); err == nil {
		t.Error("a newer format was read")
	}
}

func TestWhatOlderProgramsFoundInsideIsStillRead(t *testing.T) {
	t.Parallel()
	a := newArchive(t)
	const address = "http://data.example/1.csv"
	register(t, a, catalog.Seed{URL: address})
	v := visit(t, a, address, "a,b\n1,x\n2,y\n", day)
	in := insides(t)[1]
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	id, err := ResourceID(address)
	if err != nil {
		t.Fatal(err)
	}
	err = a.db.Update(t.Context(), func(txn *kv.Txn) error { return txn.Set(kv.SpaceArchive, key(tableInside, rid(id), 0), raw) })
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Inside(t.Context(), v.Version)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := json.Marshal(got); err != nil || !slices.Equal(again, raw) {
		t.Errorf("%s, %v, want %s", again, err, raw)
	}
}

func FuzzDecodeInside(f *testing.F) {
	for _, in := range insides(f) {
		if raw, err := encodeInside(in); err == nil && len(raw) < 4<<10 {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := decodeInside(raw)
		if err != nil {
			return
		}
		again, err := encodeInside(in)
		if err != nil {
			t.Fatal(err)
		}
		back, err := decodeInside(again)
		if err != nil {
			t.Fatal(err)
		}
		one, _ := json.Marshal(in)
		if two, err := json.Marshal(back); err != nil || string(one) != string(two) {
			t.Errorf("%s is read back as %s, %v", one, two, err)
		}
	})
}
