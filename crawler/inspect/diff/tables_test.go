package diff

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// tableOf returns a table whose first row is its header. Each ends with fail, if that is not nil.
func tableOf(name, text string, fail error) TableRows {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	t := TableRows{Name: name, Columns: strings.Split(lines[0], ","), Rows: int64(len(lines) - 1)}
	t.Each = func(ctx context.Context, f func([][]byte) error) error {
		for _, line := range lines[1:] {
			var cells [][]byte
			for cell := range strings.SplitSeq(line, ",") {
				cells = append(cells, []byte(cell))
			}
			if err := f(cells); err != nil {
				return err
			}
		}
		return fail
	}
	return t
}

// sideWith returns a file that says its tables, and something else if it is not whole.
func sideWith(content string, whole bool, tables ...TableRows) Side {
	return Side{R: strings.NewReader(content), Size: int64(len(content)), Type: "application/vnd.sqlite3", Tables: tables, Whole: whole}
}

const trees = "id,kind,height\n1,Linde,3\n2,Ahorn,4\n3,Esche,5"

func TestTablesOfAFileAreComparedByName(t *testing.T) {
	t.Parallel()
	from := sideWith("a", true, tableOf("trees", trees, nil), tableOf("gone", "x\n1\n2", nil), tableOf("gone too", "y\n1", nil),
		tableOf("same", "a,b\n1,2", nil), tableOf("Ways", "id,to\n1,a\n2,b", nil))
	to := sideWith("bb", true, tableOf("new", "z,w\n1,2\n3,4\n5,6", nil), tableOf("same", "a,b\n1,2", nil),
		tableOf("trees", strings.Replace(trees, "Ahorn,4", "Ahorn,9", 1)+"\n4,Eibe,1", nil), tableOf("ways", "id,to,by\n1,a,x\n2,b,y", nil))
	r, err := Compare(t.Context(), from, to, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Sentence(); got != "1 column added, 4 rows added, 3 rows removed, 1 row changed" || r.Kind != Tables || r.Same {
		t.Errorf("%s, %+v", got, r.Summary)
	}
	if strings.Join(r.TablesAdded, "|") != "new" || strings.Join(r.TablesRemoved, "|") != "gone|gone too" {
		t.Errorf("added %q, removed %q", r.TablesAdded, r.TablesRemoved)
	}
	var names []string
	for _, table := range r.Tables() {
		names = append(names, table.Name)
	}
	if strings.Join(names, "|") != "trees|ways" || r.Table.KeyFound != true || len(r.Table.Rows) != 2 {
		t.Errorf("tables %q, rows %+v", names, r.Table.Rows)
	}
	var text, page strings.Builder
	if err := errors.Join(r.WriteText(&text), r.WriteHTML(&page)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"+ table new\n- table gone\n", "table trees\nrows are matched by id\n", "    height: 4 -> 9\n",
		"+ row 4: 4 | Eibe | 1\n", "table ways\n+ column by (string)\n"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
	if !strings.Contains(page.String(), `<h2 class="diff-table">trees</h2>`) || !strings.Contains(page.String(), "table <ins>new</ins>") {
		t.Error(page.String())
	}
}

func TestATableWithAnotherNameIsTheOneThatIsLeft(t *testing.T) {
	t.Parallel()
	r, err := Compare(t.Context(), sideWith("a", true, tableOf("2020", trees, nil)),
		sideWith("b", true, tableOf("2021", trees+"\n4,Eibe,1", nil)), Options{List: -1})
	if err != nil || r.RowsAdded != 1 || len(r.TablesAdded)+len(r.TablesRemoved) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := r.Table.Unlisted(); got != 1 {
		t.Errorf("%d rows are not listed", got)
	}
}

// Of a text with tables, another paragraph may have changed; of a database whose rows are the same, nothing has.
func TestTheSameTablesInOtherBytes(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{true, false} {
		r, err := Compare(t.Context(), sideWith("a", whole, tableOf("", trees, nil)), sideWith("b", whole, tableOf("", trees, nil)),
			Options{})
		if err != nil || r.Same != whole || (r.Kind == Tables) != whole || (r.Why == "") != whole {
			t.Errorf("whole %v: %+v, %v", whole, r, err)
		}
	}
}

func TestAKeyIsForTheTablesThatHaveIt(t *testing.T) {
	t.Parallel()
	from, to := sideWith("a", true, tableOf("trees", trees, nil), tableOf("ways", "from,to\n1,a", nil)),
		sideWith("b", true, tableOf("trees", strings.Replace(trees, "1,Linde", "7,Linde", 1), nil), tableOf("ways", "from,to\n1,b", nil))
	r, err := Compare(t.Context(), from, to, Options{Key: []string{"kind"}})
	if err != nil || r.RowsChanged != 2 || r.RowsAdded != 0 || strings.Join(r.Table.Key, "") != "kind" ||
		strings.Join(r.More[0].Key, "") != "from" {
		t.Errorf("%+v, %v", r, err)
	}
	var key *KeyError
	if _, err := Compare(t.Context(), from, to, Options{Key: []string{"colour"}}); !errors.As(err, &key) || key.Column != "colour" {
		t.Error(err)
	}
}

func TestTablesThatCannotBeReadAreComparedAsBytes(t *testing.T) {
	t.Parallel()
	bad := tableOf("trees", trees, errors.New("the rest is damaged"))
	wild := tableOf("trees", trees, nil)
	wild.Each = func(context.Context, func([][]byte) error) error { panic("no decoder is perfect") }
	huge := tableOf("trees", trees, nil)
	huge.Rows = maxTableRows + 1
	for want, table := range map[string]TableRows{"the rest is damaged": bad, "no decoder is perfect": wild, "at most": huge} {
		r, err := Compare(t.Context(), sideWith("a", true, tableOf("trees", trees, nil)), sideWith("b", true, table), Options{})
		if err != nil || r.Kind != Bytes || r.Same || r.Table != nil || !strings.Contains(r.Why, want) {
			t.Errorf("%s: %+v, %v", want, r, err)
		}
	}
}

func TestWhatIsComparedUpToABoundIsNotCountedAsTheWhole(t *testing.T) {
	t.Parallel()
	cut := tableOf("trees", trees+"\n4,Eibe,1", nil)
	cut.Cut = true
	for _, pair := range [][2]TableRows{{tableOf("trees", trees, nil), cut}, {cut, tableOf("trees", trees, nil)}} {
		r, err := Compare(t.Context(), sideWith("a", true, pair[0]), sideWith("bb", true, pair[1]), Options{})
		if err != nil || !r.Part || !strings.HasSuffix(r.Sentence(), "1 row added, as far as the tables were read") &&
			!strings.HasSuffix(r.Sentence(), "1 row removed, as far as the tables were read") {
			t.Errorf("%+v, %v", r, err)
		}
	}
}
