package diff

import (
	"fmt"
	"strings"
	"testing"
)

func TestADifferenceAsCSVHasALineForEachCell(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ mediaType, from, to, want string }{
		{"text/csv", "id,name,n\n1,a,1\n2,b,2\n3,\"c, \"\"d\"\"\",3\n", "id,name,n\n1,a,5\n3,\"c, \"\"d\"\"\",3\n4,e,4\n",
			"table,change,row,key,column,from,to\n" +
				",removed,2,2,id,2,\n,removed,2,2,name,b,\n,removed,2,2,n,2,\n" +
				",added,3,4,id,,4\n,added,3,4,name,,e\n,added,3,4,n,,4\n,changed,1,1,n,1,5\n"},
		{"application/json", `{"a": 1, "b": 2}`, `{"a": 1, "b": 3}`, "table,change,row,key,column,from,to\n,changed,,,$.b,2,3\n"},
		{"application/octet-stream", "abc", "abd", "table,change,row,key,column,from,to\n"},
	} {
		side := func(s string) Side { return Side{R: strings.NewReader(s), Size: int64(len(s)), Type: test.mediaType} }
		r, err := Compare(t.Context(), side(test.from), side(test.to), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := r.WriteCSV(&b); err != nil || b.String() != test.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", test.mediaType, err, b.String(), test.want)
		}
	}
}

// Rows for which there is no memory are counted, and not listed.
func TestListedRowsFitIntoMemory(t *testing.T) {
	t.Parallel()
	var from, to strings.Builder
	for i := range 400 {
		fmt.Fprintf(&from, "%d,%s\n", i, strings.Repeat("a", 2000))
		fmt.Fprintf(&to, "%d,%s\n", i, strings.Repeat("b", 2000))
	}
	side := func(s string) Side {
		s = "id,text\n" + s
		return Side{R: strings.NewReader(s), Size: int64(len(s)), Type: "text/csv"}
	}
	r, err := Compare(t.Context(), side(from.String()), side(to.String()), Options{List: 400, Key: []string{"id"}, Memory: 400 << 10})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Table.Rows); r.RowsChanged != 400 || n == 0 || n > 200 || r.Table.Unlisted() != int64(400-n) {
		t.Errorf("%d rows changed, %d are listed, %d not", r.RowsChanged, n, r.Table.Unlisted())
	}
}
