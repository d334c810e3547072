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
		"id,name,size (km)\n1,Vienna,3\n2,Graz,4\n3,Linz,9\nx,Total,16\n":                                             "relational 2 [4] [] km",
		"name,a,b\nVienna,1,2\nGraz,3,4\nTotal,4,6\n":                                                                 "relational 1 [3] [] ",
		"name,year,director\nTotal Recall,1990,Paul Verhoeven\nAlien,1979,Ridley Scott\nJaws,1975,Steven Spielberg\n": "relational 1 [] [] ",
		"Country,2010,2011,2012\nAustria,1,2,3\nGermany,2,3,4\n":                                                      "matrix 1 [] [] ",
		"Country,Births 2010,Births 2011,Births 2012\nAustria,1,2,3\nGermany,2,3,4\n":                                 "matrix 1 [] [] ",
		"name,x,y\nAll,9,9\nNorth\na,1,2\nb,3,4\nSouth\nc,5,6\nd,7,8\n":                                               "relational 1 [] [2 5] ",
		"Key,Value\nName,Vienna\nArea,414 km2\nMayor,M. Ludwig\nFounded,1st century\n":                                "entity 1 [] [] ",
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

// A row of nothing but delimiters above all others has no cells left: the table has no columns yet.
func TestRowsWithoutCellsHaveNoRole(t *testing.T) {
	t.Parallel()
	for _, text := range []string{",,,\n,,,,,\n,\n", ",,,\n1,2,3\nTotal,2,3\n", "a,b\n1,2\n,,,\n3,4\n"} {
		for header := range 2 {
			if _, err := Read(t.Context(), strings.NewReader(text), Options{Dialect: &Dialect{Delimiter: ",", Header: header > 0, HeaderRows: header}}); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	}
}

func TestUnitsAreThoseThatNamesEndWith(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"Length (km)": "km", "Area [ha]": "ha", "Share in %": "%", "Value, EUR": "EUR", "Emissions (kg/m³)": "kg/m³", "Sales (1000 EUR)": "1000 EUR",
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
		strings.Repeat("Albania,<100 ,<100 ,<200 ,<100 ,<100 ,<200 ,<100 ,<100 ,<200 \nAngola,<500 ,<200 ,<500 ,<500 ,<200 ,<500 ,<500 ,<200 ,<500 \n", 5)
	p, err := Read(t.Context(), strings.NewReader(text), Options{})
	if err != nil || p.Dialect.HeaderRows != 1 || p.Rows != 10 {
		t.Fatalf("%d header rows, %d rows, %v; want names of years and bounds", p.Dialect.HeaderRows, p.Rows, err)
	}
}
