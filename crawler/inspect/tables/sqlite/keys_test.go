package sqlite

import (
	"fmt"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// keys.sqlite has declared keys: of one column and of two, with and without the columns they refer to, of the table
// itself, of a table without rows and of one that does not exist.
func TestDeclaredKeys(t *testing.T) {
	t.Parallel()
	found, err := database(t.Context(), sourcetest.Input("application/vnd.sqlite3", sourcetest.File(t, "testdata/keys.sqlite.gz")),
		source.Options{}.WithDefaults())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for i, p := range found {
		got += fmt.Sprintf("%d %s %v", i, p.Name, p.PrimaryKey)
		for _, k := range p.ForeignKeys {
			got += fmt.Sprintf(" %v=%d%v", k.Columns, k.Table, k.To)
		}
		got += "\n"
	}
	want := "0 empty [1]\n1 country [1]\n2 Part, (odd) [2 1]\n3 city [1] [3]=1[1] [4]=1[1] [5]=3[1] [7]=0[1] [8 9]=2[2 1]\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// SQLite does not make such tables, but a file may say so.
func TestKeysOfHostileDefinitions(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{"CREATE TABLE t (a REFERENCES", "CREATE TABLE t (a REFERENCES (", "CREATE TABLE t (a, FOREIGN KEY",
		"CREATE TABLE t (a, FOREIGN KEY (", "CREATE TABLE t (a, FOREIGN KEY () REFERENCES x ()",
		"CREATE TABLE t (a, FOREIGN KEY (a REFERENCES x (", "CREATE TABLE t (a, PRIMARY KEY (", "CREATE TABLE t (a, PRIMARY KEY ((a)))",
		"CREATE TABLE t (FOREIGN, REFERENCES REFERENCES REFERENCES)",
		"CREATE TABLE t (a, FOREIGN KEY (a) REFERENCES t (a, b), FOREIGN KEY (zzz) REFERENCES t (a), FOREIGN KEY (a) REFERENCES t (zzz))"} {
		made := define(sql)
		if made == nil {
			continue
		}
		p := &csvprofile.Profile{}
		made.name = "t"
		if declareKeys([]*table{made}, []*csvprofile.Profile{p}); len(p.ForeignKeys) > 0 {
			t.Errorf("%s: %v", sql, p.ForeignKeys)
		}
	}
}
