package inspect

import (
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect/detect"
)

func look1(t *testing.T, name, body string, limits Limits) *Inside {
	t.Helper()
	in := Input{Name: name, Size: int64(len(body)), Body: strings.NewReader(body)}
	var err error
	if in.Found, err = detect.File(t.Context(), detect.Input{Name: name, Size: in.Size, Body: in.Body}); err != nil {
		t.Fatal(err)
	}
	limits.TempDir = t.TempDir()
	inside, err := File(t.Context(), in, limits)
	if err != nil || inside == nil {
		t.Fatal(inside, err)
	}
	return inside
}

func TestWhatLimitsLeaveOutIsCounted(t *testing.T) {
	t.Parallel()
	wide := "a,b,c,d,e,f\n1,2,3,4,5,6\n7,8,9,1,2,3\n"
	in := look1(t, "wide.csv", wide, Limits{MaxColumns: 4})
	if p := in.Tables[0]; len(p.Columns) != 4 || p.Omitted != 2 || p.Width() != 6 || in.ColumnsOmitted != 2 || !in.More {
		t.Errorf("a wide table: %d columns, %d omitted, %+v", len(p.Columns), p.Omitted, in)
	}
	var files []string
	for i := range 7 {
		files = append(files, fmt.Sprintf("%d.csv", i), wide)
	}
	in = look1(t, "all.zip", string(zipped(t, files...)), Limits{MaxColumns: 9, MaxMembers: 5})
	if len(in.Members) != 5 || in.MembersOmitted != 2 || in.ColumnsOmitted != 5*6-9 || len(in.Members[1].Tables[0].Columns) != 3 ||
		in.Members[4].Tables[0].Width() != 6 {
		t.Errorf("a zip: %d members, %d omitted, %d columns omitted", len(in.Members), in.MembersOmitted, in.ColumnsOmitted)
	}
	in = look1(t, "all.zip", string(zipped(t, files...)), Limits{MaxPaths: 17})
	if len(in.Members) != 3 || in.MembersOmitted != 4 {
		t.Errorf("paths of 5 bytes each, within 17: %d members, %d omitted", len(in.Members), in.MembersOmitted)
	}
}

func TestLongIRIsOfRDFAreLeftOut(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "<http://e.example/s> <http://e.example/%s/%d> \"o\" .\n", strings.Repeat("p", 100*i), i)
	}
	in := look1(t, "a.nt", b.String(), Limits{})
	if n := len(in.RDF.Predicates); n != 21 || !in.RDF.More || in.RDF.Triples != 40 {
		t.Errorf("%d predicates, more: %v, %d triples", n, in.RDF.More, in.RDF.Triples)
	}
	if in = look1(t, "a.nt", b.String(), Limits{MaxIRIs: 1000}); len(in.RDF.Predicates) != 4 {
		t.Errorf("within 1,000 bytes: %d predicates", len(in.RDF.Predicates))
	}
}

func TestFaultsAreShort(t *testing.T) {
	t.Parallel()
	l := &look{limits: Limits{}.withDefaults(), found: &Inside{}}
	l.fault(strings.Repeat("n", 1<<20), fmt.Errorf("%s", strings.Repeat("é", 1<<20)))
	if got := l.found.Faults[0]; len(got) > 2*maxFault || !strings.HasSuffix(got, "é…") {
		t.Errorf("%d bytes: %.900s", len(got), got)
	}
}
