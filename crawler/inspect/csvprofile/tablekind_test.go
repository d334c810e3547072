package csvprofile

import (
	"fmt"
	"strings"
	"testing"
)

// TestTablesAreSaidToBeWhatTheyAre checks the kind, subject, totals, sections and units of small tables.
func TestTablesAreSaidToBeWhatTheyAre(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"id,name,size (km)\n1,Vienna,3\n2,Graz,4\n3,Linz,9\nx,Total,16\n": "relational 2 [4] " +
			"[] km",
		"name,a,b\nVienna,1,2\nGraz,3,4\nTotal,4,6\n": "relational 1 [3] " +
			"[] ",
		"name,year,director\nTotal Recall,1990,Paul Verhoeven\nAlien,1979,Ridley " +
			"Scott\nJaws,1975,Steven Spielberg\n": "relational 1 [] [] ",
		"Country,2010,2011,2012\nAustria,1,2,3\nGermany,2,3,4\n":                      "matrix 1 [] [] ",
		"Country,Births 2010,Births 2011,Births 2012\nAustria,1,2,3\nGermany,2,3,4\n": "matrix 1 [] [] ",
		"name,x,y\nAll,9,9\nNorth\na,1,2\nb,3,4\nSouth\nc,5,6\nd,7,8\n": "relational 1 [] " +
			"[2 5] ",
		"Key,Value\nName,Vienna\nArea,414 km2\nMayor,M. Ludwig\nFounded,1st century\n": "entity 1 [] [] ",
		"a\n1\n2\n": " 0 [] [] ",
	} {
		p, err := Read(t.Context(), strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		units := ""
		for _, c := range p.Columns {
			units += c.Unit
		}
		if got := fmt.Sprintf("%s %d %v %v %s", p.Kind, p.Subject, p.Totals, p.Sections, units); got != want {
			t.Errorf("%.50q: %q, want %q", text, got, want)
		}
		rows := int64(strings.Count(text, "\n") - 1)
		if p.Rows != rows {
			t.Errorf("%.50q: %d rows, want %d", text, p.Rows, rows)
		}
	}
}

// TestTotalsAddUp checks which rows are found to have the sums of others; rows are numbered from 1.
func TestTotalsAddUp(t *testing.T) {
	t.Parallel()
	long := &strings.Builder{} // more rows than are kept
	long.WriteString("name,a,b\n")
	for i := range 3000 {
		fmt.Fprintf(long, "n%d,%d,%d\n", i, i%7, i%90)
	}
	for _, test := range []struct{ what, text, want string }{
		{"a word without sums", "name,a,b\nVienna,10,20\nGraz,30,40\nTotal,41,61\n", "[]"},
		{"sums above their addends", "name,a,b\nTotal,40,60\nVienna,10,20\nGraz,30,40\n", "[1]"},
		{"sums of sums", "name,a,b\na,10,200\nb,20,300\nTotal north,30,500\nc,11,123\nd,12,321\nTotal south,23,444\nTotal,53,944\n",
			"[3 6 7]"},
		{"no word for it", "name,a,b\na,123,2001\nb,277,3000\nEverybody,400,5001\n", "[3]"},
		{"chance", "name,a,b\na,1,2\nb,2,3\nc,3,5\nd,5,8\n", "[]"},
		{"a copy is no sum", "name,a,b\na,123,2001\nb,0,0\nc,123,2001\n", "[]"},
		{"percentages do not add up", "name,a,share\na,120,30\nb,280,70\nTotal,400,50\n", "[3]"},
		{"rounded", "name,a,b\na,10.4,100.2\nb,10.3,100.4\nc,10.4,100.4\nSumme,31.2,301.1\n", "[4]"},
		{"decimal comma", "name;a;b\na;1.010,5;2,5\nb;1.020,5;3,5\nGesamt;2.031,0;6,0\n", "[3]"},
		{"the end of a long table", long.String() + "Total,8994,132600\n", "[3001]"},
		{"one column of the end of a long table", long.String() + "Total,8994,132601\n", "[3001]"},
		{"another number at the end", long.String() + "Total,8000,131000\n", "[]"},
	} {
		p, err := Read(t.Context(), strings.NewReader(test.text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Totals); got != test.want || p.TotalRows != int64(len(p.Totals)) {
			t.Errorf("%s: %s of %d, want %s", test.what, got, p.TotalRows, test.want)
		}
	}
}

// TestHalfSentencesAreNoSections checks that a name that goes on in the next row heads nothing.
func TestHalfSentencesAreNoSections(t *testing.T) {
	t.Parallel()
	for first, want := range map[string]int64{"Trade and": 0, "Machines,": 0, "Retail (without": 0, "Sale of": 0, "Retail sale": 0,
		"Retail": 1, "\"\"\"Statistics\"\" of": 0} {
		text := "name,x,y\na,1,2\n\"" + strings.TrimSuffix(first, "\"") + "\",,\nb,1,2\nc,3,4\nd,3,4\n"
		p, err := Read(t.Context(), strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.SectionRows != want {
			t.Errorf("%s: %d sections, want %d", first, p.SectionRows, want)
		}
	}
}

// A row of nothing but delimiters above all others has no cells left: the table has no columns yet.
func TestRowsWithoutCellsHaveNoRole(t *testing.T) {
	t.Parallel()
	for _, text := range []string{",,,\n,,,,,\n,\n", ",,,\n1,2,3\nTotal,2,3\n", "a,b\n1,2\n,,,\n3,4\n"} {
		for header := range 2 {
			if _, err := Read(t.Context(), strings.NewReader(text),
				Options{Dialect: &Dialect{Delimiter: ",", Header: header > 0, HeaderRows: header}}); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

func TestUnitsAreThoseThatNamesEndWith(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Length (km)": "km", "Area [ha]": "ha", "Share in %": "%", "Value, EUR": "EUR",
		"Emissions (kg/m³)": "kg/m³", "Sales (1000 EUR)": "1000 EUR",
		"Name (first)": "", "made in": "", "Population": "", "percent (%)": "%", "()": "", ")": ""} {
		if got := unitOf(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// Years may be names among other names: one column each, with others for their bounds.
func TestYearsAmongNamesAreAHeader(t *testing.T) {
	t.Parallel()
	text := "Country,2001,2001_lower,2001_upper,2002,2002_lower,2002_upper,2003,2003_lower,2003_upper\n" +
		strings.Repeat(
			"Albania,<100 ,<100 ,<200 ,<100 ,<100 ,<200 ,<100 ,<100 ,<200 \nAngola,<500 ,<200 ,<500 ,<500 ,<200 ,<500 ,<500 ,<200 ,<500 \n",
			5)
	p, err := Read(t.Context(), strings.NewReader(text), Options{})
	if err != nil || p.Dialect.HeaderRows != 1 || p.Rows != 10 {
		t.Fatalf("%d header rows, %d rows, %v; want names of years and bounds", p.Dialect.HeaderRows, p.Rows, err)
	}
}

// TestAddingUpEnds checks that a table which names sums everywhere is left alone after a while.
func TestAddingUpEnds(t *testing.T) {
	t.Parallel()
	text := &strings.Builder{}
	text.WriteString("name" + strings.Repeat(",n", 30) + "\n")
	for i := range 2000 {
		text.WriteString([]string{"Total", "x"}[i%2] + strings.Repeat(fmt.Sprintf(",%d", 100+i%7), 30) + "\n")
	}
	p, err := Read(t.Context(), strings.NewReader(text.String()), Options{})
	if err != nil || p.Rows != 2000 {
		t.Error(p.Rows, err)
	}
	s := sums{rows: [][]float64{{1, 1}, {2, 2}, {3, 3}}, unit: []float64{1, 1}, named: []bool{false, false, true}, total: make([]bool, 3),
		left: 3}
	if s.find(true); s.total[2] {
		t.Error("added up more than allowed")
	}
	s.left = 100
	if s.find(true); !s.total[2] {
		t.Error("did not find the sum")
	}
}
