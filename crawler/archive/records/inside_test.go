package records

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/kv"
)

// insides returns examples of what is inside versions.
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

// wideInside returns a table of columns that each have a sketch of some values.
func wideInside(columns, values int) *inspect.Inside {
	p := &csvprofile.Profile{Version: 1, Rows: 10}
	for i := range columns {
		c := csvprofile.Column{Name: fmt.Sprintf("column %d", i), Datatype: "string", Distinct: int64(values), MaxLen: 9}
		for v := range values {
			c.Sketch = append(c.Sketch, uint32(v)*4_000_000+uint32(i))
		}
		p.Columns = append(p.Columns, c)
	}
	return &inspect.Inside{Tables: []*csvprofile.Profile{p}}
}

func TestWhatIsInsideIsKeptInPiecesWithinBounds(t *testing.T) {
	t.Parallel()
	members := &inspect.Inside{}
	for i := range 10_000 {
		members.Members = append(members.Members, inspect.Member{Path: fmt.Sprintf("d/%d.csv", i), Tables: wideInside(2, 3).Tables})
	}
	long := wideInside(3000, 0)
	for i := range long.Tables[0].Columns {
		c := &long.Tables[0].Columns[i]
		c.Max = strings.Repeat(fmt.Sprintf("%x", uint64(i+1)*0x9E3779B97F4A7C15), 600) // which compresses badly
	}
	for name, in := range map[string]*inspect.Inside{
		"few columns": wideInside(10, 5), "20,000 columns": wideInside(20_000, 3), "columns of many values": wideInside(5000, 1000),
		"members": members, "long texts": long,
	} {
		packed, err := PackInside(in)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kept, record, pieces := packed.Inside, packed.record, packed.pieces
		total := len(record)
		for _, p := range pieces {
			total += len(p)
			if len(p) > kv.MaxValue {
				t.Errorf("%s: a piece of %d bytes", name, len(p))
			}
		}
		if len(record) > kv.MaxValue || total > maxInside+100 {
			t.Errorf("%s: %d bytes altogether, %d in the first record", name, total, len(record))
		}
		got, err := unpackInside(record, func(i int) ([]byte, error) { return pieces[i], nil })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(kept)
		if string(a) != string(b) {
			t.Errorf("%s: what is read is not what was written", name)
		}
		if had, has := countColumns(in), countColumns(got); has+got.ColumnsOmitted != had {
			t.Errorf("%s: %d of %d columns, and %d are said to be omitted", name, has, had, got.ColumnsOmitted)
		}
		if len(got.Members)+got.MembersOmitted != len(in.Members) {
			t.Errorf("%s: %d members, %d omitted, of %d", name, len(got.Members), got.MembersOmitted, len(in.Members))
		}
		if name == "20,000 columns" && countColumns(got) != 20_000 {
			t.Errorf("%s: %d are kept", name, countColumns(got))
		}
		if name == "columns of many values" && (got.SketchesOmitted == 0 || len(got.Tables[0].Columns[0].Sketch) != 1000) {
			t.Errorf("%s: %d sketches omitted", name, got.SketchesOmitted)
		}
		for i := range pieces {
			cut := func(j int) ([]byte, error) {
				if i == j {
					return pieces[j][:len(pieces[j])/2], nil
				}
				return pieces[j], nil
			}
			if _, err := unpackInside(record, cut); err == nil {
				t.Errorf("%s: half a piece is no error", name)
			}
		}
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
