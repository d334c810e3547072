package csvprofile

import (
	"encoding/json"
	"reflect"
	"testing"
)

// TestGroupsHaveTheKeysOfTheirTables checks primaryKey and foreignKeys of tables of one file and of members.
func TestGroupsHaveTheKeysOfTheirTables(t *testing.T) {
	t.Parallel()
	table := func(name string, columns ...string) *Profile {
		p := &Profile{Name: name}
		for _, c := range columns {
			p.Columns = append(p.Columns, Column{Name: c, Datatype: "string"})
		}
		return p
	}
	stops, times, lines := table("", "stop id", "name"), table("", "trip", "stop id"), table("lines", "a", "b")
	stops.Columns[0].Key = true
	times.PrimaryKey = []int{1, 2}
	times.ForeignKeys = []ForeignKey{{Columns: []int{2}, Member: "stops.txt", To: []int{1}},
		{Columns: []int{1}, Member: "gone.txt", To: []int{1}}, {Columns: []int{1, 2}, Table: 1, To: []int{1, 2}}}
	doc, err := CSVWGroup([]GroupTable{{"f/stops.txt", "stops.txt", 0, stops}, {"f/times.db", "times.db", 0, times},
		{"f/times.db", "times.db", 1, lines}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tables []struct {
			URL    string
			Schema struct{ PrimaryKey, ForeignKeys any } `json:"tableSchema"`
		}
	}
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	if key := got.Tables[0].Schema; key.PrimaryKey != "stop_id" || key.ForeignKeys != nil {
		t.Errorf("%+v", key)
	}
	reference := func(columns []any, resource string, others []any) any {
		return map[string]any{"columnReference": columns, "reference": map[string]any{"resource": resource, "columnReference": others}}
	}
	key := got.Tables[1].Schema
	if want := []any{"trip", "stop_id"}; !reflect.DeepEqual(key.PrimaryKey, want) {
		t.Errorf("%+v", key.PrimaryKey)
	}
	want := []any{reference([]any{"stop_id"}, "f/stops.txt", []any{"stop_id"}),
		reference([]any{"trip", "stop_id"}, got.Tables[2].URL, []any{"a", "b"})}
	if !reflect.DeepEqual(key.ForeignKeys, want) {
		t.Errorf("is   %+v\nwant %+v", key.ForeignKeys, want)
	}
}
