package csvw

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/testdata/shared"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/term"
)

// warningsOf profiles a table and reads it with the metadata that its profile writes.
func warningsOf(t *testing.T, table []byte) []string {
	t.Helper()
	p, err := csvprofile.Read(context.Background(), bytes.NewReader(table), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := p.CSVW("t.csv")
	if err != nil {
		t.Fatal(err)
	}
	load := files(map[string]string{"http://example.org/m.json": string(doc), "http://example.org/t.csv": string(table)})
	warnings, err := Convert(context.Background(), Source{URL: "http://example.org/m.json", Document: true, Load: load}, Options{}, func(term.Quad) error { return nil })
	if err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	return warnings
}

func TestMetadataOfProfilesDescribesTheirTables(t *testing.T) {
	t.Parallel()
	for _, table := range []string{
		"id,name,day,x\n1,a,2020-01-31,1.5\n2,b,2020-02-01,NA\n",
		"id;Größe;Tag\n1;1.234,5;31.01.2020\n2;2,5;1.2.2020\n",
		"n;m\n1,5;1'234\n2,5;12'345\n",
		"a,b\n\"1,234\",5%\n\"12,345\",12.5%\n",
		"Title\n\na,a,b c\n1,Y,10:30\n2,N,11:45\n",
		"a|d\n1|2020-01-31 10:00\n2|2020-02-01 11:30\n",
		"d,t\n20200131,2020-01-31T10:00:00Z\n20200201,2020-01-31T10:00:00Z\n",
		"1,2.5\n2,3.5\n3,4.5\n",
		"m,y\nJan-20,1999\nFeb-20,2000\n",
		"d,n\n2020.1.31,1\n2020.12.1,2\n",
	} {
		if w := warningsOf(t, []byte(table)); len(w) > 0 {
			t.Errorf("%q: %q", table, w)
		}
	}
}

// TestMetadataOfThirdPartyTablesIsValid does the same with third-party files. Values may differ from their datatype
// only if the file is ragged or has several tables in it.
func TestMetadataOfThirdPartyTablesIsValid(t *testing.T) {
	t.Parallel()
	dir := shared.Data(t, "csv")
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Skip(err)
	}
	var manifest []struct{ File string }
	if err := json.Unmarshal(b, &manifest); err != nil {
		t.Fatal(err)
	}
	clean, of := 0, 0
	for _, m := range manifest {
		b, err := os.ReadFile(filepath.Join(dir, m.File))
		if err != nil || len(b) == 0 || len(b) > 100_000 {
			continue
		}
		of++
		w := warningsOf(t, b)
		if len(w) == 0 {
			clean++
		} else {
			t.Logf("%s: %d warnings, the first: %.150s", strings.TrimPrefix(m.File, "files/"), len(w), w[0])
		}
	}
	t.Logf("%d of %d tables agree with the metadata of their profiles", clean, of)
	if clean*100 < of*96 {
		t.Errorf("only %d of %d", clean, of)
	}
}
