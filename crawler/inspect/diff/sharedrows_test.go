package diff

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomTable has rows that come twice, and fields in which delimiters, quotes and lines are quoted.
func randomTable(r *rand.Rand, rows int) []string {
	fields := []string{"a", "b", "7", "", "3.5", "\"x,y\"", "\"two\nlines\"", "\"he said \"\"no\"\"\"", "loose\"quote", "\"\""}
	lines := []string{"id,name,value\n"}
	for i := range rows {
		id := fmt.Sprint(i)
		if r.IntN(4) == 0 {
			id = fields[r.IntN(len(fields))]
		}
		lines = append(lines, id+","+fields[r.IntN(len(fields))]+","+fields[r.IntN(len(fields))]+[]string{"\n", "\r\n", "\n\n"}[r.IntN(3)])
	}
	return lines
}

func edit(r *rand.Rand, lines []string) string {
	lines = append([]string(nil), lines...)
	for range r.IntN(4) {
		at := r.IntN(len(lines))
		switch r.IntN(5) {
		case 0:
			lines[at] = ""
		case 1:
			lines[at] += lines[r.IntN(len(lines))]
		case 2:
			lines[at] = strings.Replace(lines[at], "a", "\"", 1) // the rest of the file may be one field now
		case 3:
			lines[at] = strings.TrimRight(lines[at], "\r\n")
		default:
			lines[at] = "5,new,row\n"
		}
	}
	return strings.Join(lines, "")
}

// TestRowsThatBothSidesShareNeedNotBeLookedAt compares each result with that for the same tables in another charset, of
// which all rows are read.
func TestRowsThatBothSidesShareNeedNotBeLookedAt(t *testing.T) {
	t.Parallel()
	const seed = 11
	r := rand.New(rand.NewPCG(seed, 1))
	skipped := 0
	for n := range 300 {
		lines := randomTable(r, r.IntN(25))
		from, to := edit(r, lines), edit(r, lines)
		d := &Dialect{Delimiter: ',', Quote: '"', NoHeader: n%5 == 0}
		whole := func(charset string) *Report {
			x, y := side("text/csv", from), side("text/csv", to)
			x.Charset, y.Charset, x.Dialect, y.Dialect = charset, charset, d, d
			report, err := Compare(t.Context(), x, y, Options{List: -1})
			if err != nil {
				t.Fatal(err)
			}
			return report
		}
		want, got := whole("windows-1252"), whole("")
		if got.Summary != want.Summary || got.Why != want.Why {
			t.Fatalf("seed %d, %d: %q\n%q\n%+v, want\n%+v", seed, n, from, to, got.Summary, want.Summary)
		}
		if got.Range.Prefix > 30 || got.Range.Suffix > 30 {
			skipped++
		}
	}
	if skipped < 100 {
		t.Errorf("only %d of the pairs had much in common", skipped)
	}
}

func TestAKnownSchemaIsNotReadForAgain(t *testing.T) {
	t.Parallel()
	from, to := "id,name,n\n1,Wien,3\n2,Graz,4\n3,Linz,5\n", "id,name,n\n1,Wien,3.5\n2,Graz,4\n4,Wels,6\n"
	schema := func(last string, key ...uint32) *Schema {
		return &Schema{Rows: 3, Columns: []KnownColumn{{Type: "integer", Key: true, Sketch: key}, {Type: "string"}, {Type: last}}}
	}
	for _, c := range []struct {
		name         string
		older, newer *Schema
		known        bool
	}{
		{"both", schema("integer", 1, 2, 3), schema("decimal", 1, 2, 4), true},
		{"one", schema("integer", 1, 2, 3), nil, false},
		{"a key without its values", schema("integer", 1, 2, 3), schema("decimal"), false},
		{"too few columns", schema("integer", 1, 2, 3), &Schema{Rows: 3, Columns: schema("").Columns[:2]}, false},
		{"rows that were counted otherwise", schema("integer", 1, 2, 3), &Schema{Rows: 4, Columns: schema("decimal", 1, 2, 4).Columns},
			true},
		{"a type that is none", schema("integer", 1, 2, 3), schema("number", 1, 2, 4), false},
	} {
		x, y := side("text/csv", from), side("text/csv", to)
		x.Schema, y.Schema = c.older, c.newer
		diff := &tableDiff{ctx: t.Context(), sides: [2]Side{x, y}, o: Options{}.withDefaults(), seed: maphash.MakeSeed()}
		both, err := diff.schemas()
		if err != nil || both[0].rows != 3 || (len(both[0].columns[0].sketch) == 3 && both[0].columns[0].sketch[0] == 1) != c.known {
			t.Errorf("%s: %+v, %v", c.name, both[0], err)
		}
		report, err := Compare(t.Context(), x, y, Options{})
		if err != nil || report.RowsAdded != 1 || report.RowsRemoved != 1 || report.RowsChanged != 1 || report.ColumnsRetyped != 1 ||
			report.Table.RowsTo != 3 {
			t.Errorf("%s: %+v, %v", c.name, report.Summary, err)
		}
	}
}
