package csvprofile

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the expected metadata")

// TestMetadataDescribesItsTable compares the CSVW metadata of ten tables with metadata that a reader of CSV on the Web,
// which passed the W3C's tests of csv2rdf, read together with these tables without a warning.
func TestMetadataDescribesItsTable(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
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
		p, err := Read(context.Background(), bytes.NewReader([]byte(table)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		doc, err := p.CSVW("t.csv")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s\n%s\n\n", table, bytes.TrimSpace(doc))
	}
	const golden = "testdata/metadata.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs; -update rewrites it. Got:\n%s", golden, got.Bytes())
	}
}
