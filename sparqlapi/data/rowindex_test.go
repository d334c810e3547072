package data

import (
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/csvprofile"
)

// The second page far from the beginning is read from the group of rows that it is in, and is the same.
func TestFarPagesAreReadFromTheirGroup(t *testing.T) {
	t.Parallel()
	const n = 150_000
	var b strings.Builder
	b.WriteString("\xef\xbb\xbfid,name,note\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,Street %d,\"two\nlines, number %d\"\n", i, i*7919%1000, i)
	}
	a := archiveOf(t, "a.csv", b.String())
	api := NewRows(a)
	for _, offset := range []int{100_000, 100_000, 140_000, 50_000, 149_990, 3} {
		a.read = 0
		got, err := api.Read(t.Context(), RowsRequest{Version: "v_0", Offset: offset, Limit: 10})
		if err != nil || len(got.Rows) != 10 || got.Rows[0][0] != fmt.Sprint(offset) ||
			got.Rows[9][2] != fmt.Sprintf("two\nlines, number %d", offset+9) {
			t.Fatalf("from %d: %v, %v", offset, got, err)
		}
		t.Logf("from %d: %d rows were read", offset, a.read)
	}
	a.read = 0
	h := handler(a)
	for range 2 {
		a.read = 0
		if got := get(h, "/v_0/table.ndjson?offset=149998").Body.String(); !strings.HasPrefix(got, `{"id":149998,`) ||
			strings.Count(got, "\n") != 2 {
			t.Fatalf("file: %s", got)
		}
	}
	if a.read > 60_000 {
		t.Errorf("%d rows were read for the last two", a.read)
	}
	if _, err := api.Read(t.Context(), RowsRequest{Version: "v_0", Order: []string{"name"}, Where: "id > 10", Limit: 5}); err != nil {
		t.Error(err)
	}
}

func TestTheIndexOfRowsIsBounded(t *testing.T) {
	t.Parallel()
	var x rowIndex
	tableOf := func(i int) (catalog.Version, archive.Table) {
		var v catalog.Version
		v.Digests.SHA256[0], v.Digests.SHA256[1] = byte(i), byte(i>>8)
		return v, archive.Table{Profile: &csvprofile.Profile{Rows: 1 << 40}}
	}
	v, table := tableOf(0)
	tell := x.teller(v, table)
	for i := range 50_000 {
		tell(csvprofile.Mark{Row: int64(i) * 10, Offset: int64(i) * 1000})
	}
	if n := len(x.list[indexKeyOf(v, table)].marks); n >= maxGroups || n < maxGroups/4 {
		t.Errorf("%d groups", n)
	}
	for _, row := range []int64{0, 5000, 123_456, 499_990, 1 << 39} {
		if m := x.before(v, table, row); m != nil && (m.Row > row || m.Offset != m.Row*100 || row-m.Row > 10_000 && row < 490_000) {
			t.Errorf("before %d: %+v", row, m)
		}
	}
	for i := range 2 * maxIndexed {
		v, table := tableOf(i + 1)
		x.teller(v, table)(csvprofile.Mark{Row: 1, Offset: 10})
	}
	if len(x.list) != maxIndexed {
		t.Errorf("%d tables", len(x.list))
	}
	other := *table.Profile
	other.Dialect.Delimiter = ";"
	if x.before(v, archive.Table{Profile: &other}, 1<<39) != nil {
		t.Error("groups of a table that is read otherwise")
	}
}
