package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// districts is a table whose rows a district and a year tell apart, after change.
func districts(change func(row int, cells []string) []string) string {
	var b strings.Builder
	b.WriteString("district,year,men,women,all\n")
	for i := range 60 {
		cells := []string{[]string{"North", "South", "Centre"}[i%3], fmt.Sprint(2000 + i/3), fmt.Sprint(i * 37 % 1009),
			fmt.Sprint(i * 53 % 1013), fmt.Sprint(i * 71 % 1019)}
		if cells = change(i, cells); cells != nil {
			b.WriteString(strings.Join(cells, ",") + "\n")
		}
	}
	return b.String()
}

func unchangedCells(_ int, cells []string) []string { return cells }

func TestSeveralColumnsTellRowsApart(t *testing.T) {
	t.Parallel()
	before := districts(unchangedCells)
	for name, c := range map[string]struct {
		after string
		want  string
	}{
		"one figure": {districts(func(i int, cells []string) []string {
			if i%20 == 7 {
				cells[4] = "5000"
			}
			return cells
		}), "3 rows changed"},
		"all figures, and a row that is new": {districts(func(i int, cells []string) []string {
			if i%20 == 7 {
				cells[2], cells[3], cells[4] = "7000", "8000", fmt.Sprint(9000+i)
			}
			return cells
		}) + "West,2000,1,2,3\n", "1 row added, 3 rows changed"},
	} {
		r := compare(t, "text/csv", before, c.after, Options{})
		if r.Sentence() != c.want {
			t.Errorf("%s: %s, want %s", name, r.Sentence(), c.want)
		}
		for _, row := range r.Table.Rows {
			if row.Op == "changed" && len(row.Cells) != 5 {
				t.Errorf("%s: it is not said which row %d is: %q", name, row.Row, row.Cells)
			}
		}
	}
	r := compare(t, "text/csv", before, districts(func(i int, cells []string) []string {
		if i%20 == 7 {
			cells[2], cells[3], cells[4] = fmt.Sprint(7000+i), fmt.Sprint(8000+i), fmt.Sprint(9000+i)
		}
		return cells
	}), Options{})
	if !slices.Equal(r.Table.Key, []string{"district", "year"}) || len(r.Table.Rows) != 3 ||
		!slices.Equal(r.Table.Rows[0].Key, []string{"South", "2002"}) {
		t.Errorf("matched by %q: %+v", r.Table.Key, r.Table.Rows)
	}
}

func TestRowsThatShareMostCellsAreOneRow(t *testing.T) {
	t.Parallel()
	before := "kind,place,note,n\na,x,p,1\na,x,p,1\nb,y,q,2\nb,y,q,2\nc,z,r,3\nc,z,r,3\n"
	after := "kind,place,note,n\na,x,p,1\na,x,p,9\nb,y,q,2\nb,y,q,2\nc,z,r,3\nd,w,s,4\n"
	r := compare(t, "text/csv", before, after, Options{})
	if r.Sentence() != "1 row added, 1 row removed, 1 row changed" || len(r.Table.Key) > 0 {
		t.Errorf("%s, by %q", r.Sentence(), r.Table.Key)
	}
	r = compare(t, "text/csv", before, after, Options{Key: []string{"kind"}})
	if !slices.Equal(r.Table.Key, []string{"kind"}) || r.Table.KeyFound {
		t.Errorf("another key than the given one: %q", r.Table.Key)
	}
}

// A change has the same figures whether its rows are listed or not.
func TestFiguresOfAlignedRowsDependOnNothingElse(t *testing.T) {
	t.Parallel()
	for _, seed := range []uint64{8097476364028401665, rand.Uint64()} { // the first had other figures without lists once
		figuresOfAlignedRows(t, seed)
	}
}

func figuresOfAlignedRows(t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 23))
	for range 150 {
		n, wide, values := 1+random.IntN(40), 2+random.IntN(5), 2+random.IntN(12)
		row := func() string {
			cells := make([]string, wide)
			for i := range cells {
				cells[i] = fmt.Sprint(random.IntN(values))
			}
			return strings.Join(cells, ",")
		}
		var from, to []string
		for range n {
			from = append(from, row())
		}
		to = slices.Clone(from)
		for range random.IntN(6) {
			to[random.IntN(n)] = row()
		}
		if random.IntN(3) == 0 {
			to = append(to, row())
		}
		head := make([]string, wide)
		for i := range head {
			head[i] = string(rune('a' + i))
		}
		text := func(rows []string) string { return strings.Join(head, ",") + "\n" + strings.Join(rows, "\n") + "\n" }
		listed := compare(t, "text/csv", text(from), text(to), Options{List: 1000})
		counted := compare(t, "text/csv", text(from), text(to), Options{List: -1})
		if listed.Summary != counted.Summary {
			t.Fatalf("seed %d: %s with lists, %s without\n%s\n%s", seed, listed.Sentence(), counted.Sentence(), text(from), text(to))
		}
		if listed.Table != nil && int64(len(listed.Table.Rows)) != listed.RowsAdded+listed.RowsRemoved+listed.RowsChanged {
			t.Fatalf("seed %d: %d rows are listed of %s", seed, len(listed.Table.Rows), listed.Sentence())
		}
		if listed.RowsAdded-listed.RowsRemoved != int64(len(to)-len(from)) {
			t.Fatalf("seed %d: %s", seed, listed.Sentence())
		}
	}
}

// The pages of a difference have each row that changed once, in the order of the lists.
func TestPagesOfADifferenceHaveEveryChangeOnce(t *testing.T) {
	t.Parallel()
	var from, to strings.Builder
	from.WriteString("id,n\n")
	to.WriteString("id,n\n")
	for i := range 500 {
		if i%7 != 0 {
			fmt.Fprintf(&from, "r%d,%d\n", i, i)
		}
		if i%5 != 0 {
			fmt.Fprintf(&to, "r%d,%d\n", i, i+i%2*1000)
		}
	}
	whole := compare(t, "text/csv", from.String(), to.String(), Options{List: 1000})
	want := map[string]bool{}
	for _, row := range whole.Table.Rows {
		want[fmt.Sprint(row)] = true
	}
	for offset := 0; ; offset += 30 {
		page := compare(t, "text/csv", from.String(), to.String(), Options{List: 30, Offset: offset})
		if page.Summary != whole.Summary {
			t.Fatalf("after %d: %s, want %s", offset, page.Sentence(), whole.Sentence())
		}
		for _, row := range page.Table.Rows {
			if !want[fmt.Sprint(row)] {
				t.Fatalf("after %d: %+v is there twice, or is no change", offset, row)
			}
			delete(want, fmt.Sprint(row))
		}
		if page.Table.Unlisted() == 0 {
			break
		}
		if offset > 1000 {
			t.Fatal("the pages do not end")
		}
	}
	if len(want) > 0 {
		t.Errorf("%d changes are on no page", len(want))
	}
	if whole.Table.Longest() != whole.RowsChanged {
		t.Errorf("the longest list has %d of %s", whole.Table.Longest(), whole.Sentence())
	}
}
