package packed

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
		{Members: []inspect.Member{{Path: "a.txt", Size: -1}, {Path: "b.csv", Tables: []*csvprofile.Profile{two}}, {Path: "c.csv",
			Tables: []*csvprofile.Profile{one}}}},
	}
}

// whole keeps all sketches.
func whole(c csvprofile.Column) csvprofile.Sketch { return c.Sketch }

func TestWhatIsInsideAVersionIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, in := range insides(t) {
		before, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := Pack(in, whole)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(packed.AppendTo(nil))
		if err != nil {
			t.Fatal(err)
		}
		want := &inspect.Inside{}
		if err := json.Unmarshal(before, want); err != nil || !reflect.DeepEqual(got.Inside, want) {
			t.Errorf("from the record:\n%+v\nwritten:\n%+v, %v", got.Inside, want, err)
		}
		if after, err := json.Marshal(in); err != nil || string(after) != string(before) {
			t.Errorf("writing has changed it: %s, %v", after, err)
		}
		for i := range packed.Record {
			if _, err := decodeInside(packed.Record[:i]); err == nil {
				t.Errorf("%d of %d bytes are a record, too", i, len(packed.Record))
			}
		}
	}
	for _, unknown := range [][]byte{nil, {4, 0}, {format}, {format, 1, 2, 3}} {
		if _, err := decodeInside(unknown); err == nil {
			t.Errorf("%x was read", unknown)
		}
	}
}

// wideInside returns a table of columns that each have a sketch of some values.
func wideInside(columns, values int) *inspect.Inside {
	p := &csvprofile.Profile{Version: 1, Rows: 10}
	for i := range columns {
		c := csvprofile.Column{Name: fmt.Sprintf("column %d", i), Datatype: "string", Distinct: int64(values), MaxLen: 9}
		for v := range values {
			c.Sketch = append(c.Sketch, uint32(v)*4_000_000+uint32(i%60_000)<<6)
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
		packed, err := Pack(in, whole)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		kept, record, pieces := packed.Inside, packed.Record, packed.Pieces
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
		got, err := Unpack(record, func(i int) ([]byte, error) { return pieces[i], nil })
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a, _ := encodeInside(got)
		b, _ := encodeInside(kept)
		if string(a) != string(b) {
			t.Errorf("%s: what is read is not what was written", name)
		}
		if len(packed.Sketches) > kv.MaxValue {
			t.Errorf("%s: sketches of %d bytes", name, len(packed.Sketches))
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
		if name == "columns of many values" && (got.SketchesOmitted == 0 || len(kept.Tables[0].Columns[0].Sketch) != 1000 ||
			kept.Tables[0].Columns[4999].Sketch != nil) {
			t.Errorf("%s: %d sketches omitted", name, got.SketchesOmitted)
		}
		for i := range pieces {
			cut := func(j int) ([]byte, error) {
				if i == j {
					return pieces[j][:len(pieces[j])/2], nil
				}
				return pieces[j], nil
			}
			if _, err := Unpack(record, cut); err == nil {
				t.Errorf("%s: half a piece is no error", name)
			}
		}
	}
}

func FuzzDecodeInside(f *testing.F) {
	for _, in := range insides(f) {
		if packed, err := Pack(in, whole); err == nil {
			f.Add(packed.Record)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := decodeInside(raw)
		if err != nil {
			return
		}
		again, err := Pack(in, whole)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Unpack(again.Record, func(i int) ([]byte, error) { return again.Pieces[i], nil })
		if err != nil {
			t.Fatal(err)
		}
		one, _ := encodeInside(again.Inside)
		if two, err := encodeInside(back); err != nil || string(one) != string(two) {
			t.Errorf("%s is read back as %s, %v", one, two, err)
		}
	})
}

func FuzzSketchRecord(f *testing.F) {
	for _, in := range insides(f) {
		if packed, err := Pack(in, whole); err == nil {
			f.Add(packed.Sketches)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		last := -1
		err := EachSketch(raw, func(at int, packed []byte) (bool, error) {
			if at <= last {
				t.Fatalf("column %d after %d", at, last)
			}
			last = at
			_, err := csvprofile.UnpackSketch(packed)
			return true, err
		})
		if err == nil && len(raw) == 0 {
			t.Error("nothing was read as a record")
		}
	})
}
