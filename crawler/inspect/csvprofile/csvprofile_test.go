package csvprofile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

func profiled(t testing.TB, text string) *Profile {
	t.Helper()
	p, err := Read(context.Background(), strings.NewReader(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDialectsAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in                 string
		delim, quote, escape, lt string
		header                   bool
		preamble, rows           int
	}{
		{"plain", "a,b\n1,2\n3,4\n", ",", "", "", "\n", true, 0, 2},
		{"semicolons and decimal commas", "x;y\r\n1,5;2,5\r\n3,5;4,5\r\n", ";", "", "", "\r\n", true, 0, 2},
		{"old Macintosh", "a\tb\r1\t2\r3\t4\r", "\t", "", "", "\r", true, 0, 2},
		{"quoted delimiters", "id,name\n1,\"Doe, John\"\n2,\"Roe, \"\"R\"\"\"\n", ",", `"`, "", "\n", true, 0, 2},
		{"single quotes", "id;name\n1;'a;b'\n2;'c;d'\n3;'e'\n", ";", "'", "", "\n", true, 0, 3},
		{"backslashes", "id,t\n1,\"say \\\"hi\\\", ok\"\n2,\"x\"\n3,\"y\"\n", ",", `"`, `\`, "\n", true, 0, 3},
		{"titles first", "Population of towns\nas of 2020\n\ntown,people\nWien,1911191\nGraz,291072\nLinz,206595\n", ",", "", "", "\n",
			true, 3, 3},
		{"comments first", "# made by a program\n# on a day\na,b,c\n1,2,3\n4,5,6\n", ",", "", "", "\n", true, 2, 2},
		{"no header", "1,2.5,2020-01-01\n2,3.5,2020-01-02\n3,4.5,2020-01-03\n", ",", "", "", "\n", false, 0, 3},
		{"bars", "a|b|c\n1|2|3\n4|5|6\n", "|", "", "", "\n", true, 0, 2},
		{"two bars", "a||b||c\n1||2||3\n4||5||6\n", "||", "", "", "\n", true, 0, 2},
		{"section signs", "a§b§c\n1§2§3\n4§5§6\n", "§", "", "", "\n", true, 0, 2},
		{"unit separators", "a\x1fb\x1fc\n1\x1f2\x1f3\n4\x1f5\x1f6\n", "\x1f", "", "", "\n", true, 0, 2},
		{"one column", "name\nWien\nGraz\n", ",", "", "", "\n", true, 0, 2},
		{"years across", "country,2019,2020,2021\nAT,1,2,3\nDE,4,5,6\n", ",", "", "", "\n", true, 0, 2},
		{"bars between tildes", "a~|~b~|~c\n1~|~x~|~3\n4~|~y~|~6\n", "~|~", "", "", "\n", true, 0, 2},
		{"nothing", "", "", "", "", "\n", false, 0, 0},
		{"nothing but blanks", "\n\n  \n", "", "", "", "\n", false, 0, 0},
	} {
		p := profiled(t, c.in)
		d := p.Dialect
		if d.Delimiter != c.delim || d.QuoteChar != c.quote || d.EscapeChar != c.escape || d.LineTerminator != c.lt ||
			d.Header != c.header || d.Preamble != c.preamble || p.Rows != int64(c.rows) {
			t.Errorf("%s: %+v with %d rows (%v)", c.name, d, p.Rows, p.Why)
		}
	}
}

func TestColumnsHaveDatatypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, cells, datatype, format, min, max string }{
		{"n", "1 2 -3 +4", "integer", "", "-3", "4"},
		{"n", "1.5 2 -3.25", "decimal", "", "-3.25", "2"},
		{"n", "-0 0 -0", "integer", "", "0", "0"},
		{"n", "1,5 2 3,25", "decimal", "", "1.5", "3.25"},
		{"n", "1.234,5 999,1 2", "decimal", "#,##0.###", "2", "1234.5"},
		{"n", "1,234.5 999.1 2", "decimal", "#,##0.###", "2", "1234.5"},
		{"n", "1,234 12,345 1,234,567", "integer", "#,##0", "1234", "1234567"},
		{"n", "1'234 12'345", "integer", "#,##0", "1234", "12345"},
		{"n", "1e3 2.5E-2 4", "double", "", "0.025", "1000"},
		{"n", "5% 12.5% 3%", "decimal", "#0.###%", "3", "12.5"},
		{"plz", "01067 01069 99999", "string", "", "01067", "99999"},
		{"id", "123456789012345678901 2", "integer", "", "2", "123456789012345678901"},
		{"year", "1999 2003 2020", "gYear", "", "1999", "2020"},
		{"n", "1999 2003 2020", "integer", "", "1999", "2020"},
		{"d", "2020-01-31 1999-12-01", "date", "", "1999-12-01", "2020-01-31"},
		{"d", "31.01.2020 01.12.1999", "date", "dd.MM.yyyy", "1999-12-01", "2020-01-31"},
		{"d", "1/31/2020 12/1/1999", "date", "M/d/yyyy", "1999-12-01", "2020-01-31"},
		{"d", "20200131 19991201", "date", "yyyyMMdd", "1999-12-01", "2020-01-31"},
		{"d", "2-Jan-20 31-Dec-19", "date", "d-MMM-yy", "2019-12-31", "2020-01-02"},
		{"d", "2020-01-31T10:00:00Z 1999-12-01T00:00:00+02:00", "dateTime", "", "1999-11-30T22:00:00Z", "2020-01-31T10:00:00Z"},
		{"t", "08:30 23:15", "time", "HH:mm", "08:30:00", "23:15:00"},
		{"m", "2020-01 2019-12", "gYearMonth", "", "2019-12", "2020-01"},
		{"p", "P1D PT2H30M", "duration", "", "P1D", "PT2H30M"},
		{"b", "true false true", "boolean", "", "false", "true"},
		{"b", "Y N Y", "boolean", "Y|N", "N", "Y"},
		{"c", "NO SE DK", "string", "", "DK", "SE"},
		{"c", "NO NO NO", "string", "", "NO", "NO"},
		{"u", "http://example.org/a https://example.org/b", "anyURI", "", "http://example.org/a", "https://example.org/b"},
		{"s", "a 1 2020-01-01", "string", "", "1", "a"},
	} {
		p := profiled(t, c.name+"\n"+strings.ReplaceAll(quotedCells(c.cells), " ", "\n")+"\n")
		if len(p.Columns) != 1 {
			t.Fatalf("%s: %+v", c.cells, p)
		}
		col := p.Columns[0]
		if col.Name != c.name || col.Datatype != c.datatype || col.Format != c.format || col.Min != c.min || col.Max != c.max {
			t.Errorf("%s: %q %s %q from %s to %s, want %+v", c.cells, col.Name, col.Datatype, col.Format, col.Min, col.Max, c)
		}
	}
}

// quotedCells quotes every cell, so that commas in numbers are not delimiters.
func quotedCells(cells string) string { return `"` + strings.ReplaceAll(cells, " ", `" "`) + `"` }

func TestNullWordsAreNoValues(t *testing.T) {
	t.Parallel()
	p := profiled(t, "a,b,c\n1,NA,x\n-,NA,y\nn/a,DE,NULL\n4,,\n")
	if c := p.Columns[0]; c.Datatype != "integer" || c.Nulls != 2 || !slices.Equal(c.NullWords, []string{"-", "n/a"}) || c.Distinct != 2 {
		t.Errorf("%+v", c)
	}
	if c := p.Columns[1]; c.Datatype != "string" || c.Nulls != 1 || c.NullWords != nil || c.Distinct != 2 {
		t.Errorf("NA is a value among texts: %+v", c)
	}
	if c := p.Columns[2]; c.Nulls != 2 || !slices.Equal(c.NullWords, []string{"NULL"}) {
		t.Errorf("%+v", c)
	}
}

func TestStatisticsAreRight(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("id,mod,text\n")
	const n = 20000
	for i := range n {
		fmt.Fprintf(&b, "%d,%d,value %d\n", i, i%100, i*7919%n)
	}
	p := profiled(t, b.String())
	id, mod, text := p.Columns[0], p.Columns[1], p.Columns[2]
	if p.Rows != n || !id.Unique || !id.Key || id.Distinct != n || *id.Mean != (n-1)/2.0 || id.Min != "0" || id.Max != "19999" {
		t.Errorf("id: %+v", id)
	}
	if mod.Distinct != 100 || !mod.Exact || mod.Unique || mod.Top[0].Count != n/100 || mod.Quantiles[2] == "" {
		t.Errorf("mod: %+v", mod)
	}
	if !text.Unique || text.Distinct != n || text.MinLen != 7 || text.MaxLen != 11 {
		t.Errorf("text: %+v", text)
	}
	var median int
	fmt.Sscan(id.Quantiles[2], &median)
	if median < n*45/100 || median > n*55/100 {
		t.Errorf("median %d", median)
	}
}

// Columns pass their memory on to those of later tables.
func TestAProfileDoesNotDependOnTheTablesBeforeIt(t *testing.T) {
	t.Parallel()
	tables := [][]byte{
		openData(3 << 10), openData(60 << 10), textData(2 << 10), textData(80 << 10), []byte("a\n1\n"), []byte("a;b\n;\nx;1,5\n"),
		[]byte("id\n" + strings.Repeat("not available\n", 900)), []byte("x,y\n" + strings.Repeat("1,2020-01-02\n2.5,\n", 400)),
	}
	profile := func(i int) *Profile {
		p, err := Read(context.Background(), bytes.NewReader(tables[i]), Options{})
		if err != nil {
			t.Error(err)
		}
		return p
	}
	first := make([]*Profile, len(tables))
	for i := range tables {
		first[i] = profile(i)
	}
	kept, err := json.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for n := range 40 {
				i := (n*(g+3) + g) % len(tables)
				if p := profile(i); !reflect.DeepEqual(p, first[i]) {
					t.Errorf("table %d has another profile the next time", i)
				}
			}
		})
	}
	all.Wait()
	if again, err := json.Marshal(first); err != nil || !bytes.Equal(again, kept) {
		t.Errorf("profiles that were handed out have changed (%v)", err)
	}
}

func TestDistinctIsEstimatedWithinTwoPercent(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("v\n")
	for i := range 60000 {
		fmt.Fprintf(&b, "k%d\n", i*31%15000)
	}
	c := profiled(t, b.String()).Columns[0]
	if c.Unique || c.Distinct < 14600 || c.Distinct > 15400 {
		t.Errorf("%+v", c.Distinct)
	}
}

func TestFrequentValuesSurviveManyRareOnes(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("v\n")
	for i := range 50000 {
		if i%5 == 0 {
			b.WriteString("often\n")
		} else {
			fmt.Fprintf(&b, "rare %d\n", i)
		}
	}
	c := profiled(t, b.String()).Columns[0]
	if len(c.Top) == 0 || c.Top[0].Value != "often" || c.Top[0].Count < 9900 || c.Top[0].Count > 10000 {
		t.Errorf("%+v", c.Top)
	}
}

func TestTheSameFileHasTheSameProfile(t *testing.T) {
	t.Parallel()
	data := openData(1 << 20)
	a, err := Read(context.Background(), bytes.NewReader(data), Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := Read(context.Background(), iotest.HalfReader(bytes.NewReader(data)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Error("profiles differ")
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var back Profile
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(a, &back) {
		t.Errorf("JSON does not come back the same: %v", err)
	}
}

func TestLimitsAreKeptAndTold(t *testing.T) {
	t.Parallel()
	text := "a,b\n" + strings.Repeat("1,2\n", 5000)
	p, err := Read(context.Background(), strings.NewReader(text), Options{MaxRows: 2000})
	if err != nil || !p.Truncated || p.Rows < 2000 || p.Rows > 3100 {
		t.Errorf("%d rows, %v, %v", p.Rows, p.Truncated, err)
	}
	p, err = Read(context.Background(), strings.NewReader(text), Options{MaxBytes: 400})
	if err != nil || !p.Truncated || p.Rows != 99 {
		t.Errorf("%d rows, %v, %v", p.Rows, p.Truncated, err)
	}
	p, err = Read(context.Background(), strings.NewReader(text), Options{MaxBytes: int64(len(text))})
	if err != nil || p.Truncated || p.Rows != 5000 {
		t.Errorf("%d rows, %v, %v", p.Rows, p.Truncated, err)
	}
}

func TestReadStopsWithItsContextAndItsReader(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, bytes.NewReader(openData(1<<20)), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	broken := io.MultiReader(bytes.NewReader(openData(1<<20)), iotest.ErrReader(errors.New("disk on fire")))
	if _, err := Read(context.Background(), broken, Options{}); err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("got %v", err)
	}
}

func TestFootersAndRaggedRowsAreTold(t *testing.T) {
	t.Parallel()
	p := profiled(t, "a,b,c\n1,2,3\n4,5\n6,7,8,9\n\n1,1,1\nSource: office\n")
	if p.Rows != 4 || p.Ragged != 2 || p.Blank != 1 || p.Dialect.Footer != 1 {
		t.Errorf("%+v", p)
	}
}

func TestFootersMayBePaddedToTheWidthOfTheTable(t *testing.T) {
	t.Parallel()
	p := profiled(t, "town;people;share\nWien;1;2\nNote: a town;;\nGraz;3;4\nLinz;5;6\nTotal;9;\nSource: office;;\n* estimated;;\n")
	if p.Rows != 5 || p.Dialect.Footer != 2 {
		t.Errorf("%d rows, footer of %d: %+v", p.Rows, p.Dialect.Footer, p.Columns)
	}
	if p := profiled(t, "town;people;share\nWien;1;2\nGraz;3;4\nLinz;;\n"); p.Rows != 3 || p.Dialect.Footer != 0 {
		t.Errorf("%d rows, footer of %d", p.Rows, p.Dialect.Footer)
	}
}

func TestNamesInTheFirstOfTwoHeaderRowsSpanColumns(t *testing.T) {
	t.Parallel()
	p := profiled(t,
		"Region,Population,,Area,\n,2019,2020,km2,share\nWien,1897491,1911191,414.8,0.5\nGraz,288806,291072,127.6,1.5\nLinz,205726,206595"+
			",96.0,3.1\n")
	var names []string
	for _, c := range p.Columns {
		names = append(names, c.Name)
	}
	if p.Dialect.HeaderRows != 2 || p.Rows != 3 ||
		!slices.Equal(names, []string{"Region", "Population 2019", "Population 2020", "Area km2", "Area share"}) {
		t.Errorf("%d rows of header, %d rows, %q", p.Dialect.HeaderRows, p.Rows, names)
	}
}

func TestNamesOfColumnsAreCut(t *testing.T) {
	t.Parallel()
	if p := profiled(t, strings.Repeat("x", 100_000)+",b\n1,2\n"); len(p.Columns) != 2 || len(p.Columns[0].Name) != maxName ||
		p.Columns[0].Titles != nil {
		t.Errorf("%d columns, the first with a name of %d bytes", len(p.Columns), len(p.Columns[0].Name))
	}
}

func TestNamesOfColumnsAreUniqueAndNeverEmpty(t *testing.T) {
	t.Parallel()
	p := profiled(t, "a,a,,b \n1,2,3,4\n5,6,7,8\n")
	var names []string
	for _, c := range p.Columns {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"a", "a_2", "_col.3", "b"}) {
		t.Errorf("%q", names)
	}
}

func TestAQuotationThatNeverEndsCostsOnlyItsCell(t *testing.T) {
	t.Parallel()
	text := "a,b\n" + strings.Repeat("1,\"x\"\n", 50) + "2,\"never closed\n" + strings.Repeat("3,4\n", 50)
	if p := profiled(t, text); p.Rows != 101 {
		t.Errorf("%d rows (%v)", p.Rows, p.Why)
	}
}

func TestEncodingsAreDecoded(t *testing.T) {
	t.Parallel()
	p := profiled(t, "Stra\xdfe;Gr\xf6\xdfe\nB\xe4ckerstra\xdfe;1\n")
	if p.Columns[0].Name != "Straße" || p.Columns[0].Top[0].Value != "Bäckerstraße" {
		t.Errorf("%+v", p.Columns)
	}
	p = profiled(t, "\xff\xfea\x00;\x00b\x00\n\x001\x00;\x002\x00\n\x00")
	if p.Dialect.Encoding != "utf-16le" || len(p.Columns) != 2 || p.Rows != 1 {
		t.Errorf("%+v", p)
	}
}

func TestTheLineIsTheContracts(t *testing.T) {
	t.Parallel()
	b, err := profiled(t, "a,b\n1,x\n").Line("f.csv")
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"file", "delimiter", "quotechar", "escapechar", "encoding", "header", "preamble", "rows", "columns"} {
		if m[k] == nil {
			t.Errorf("no %s in %s", k, b)
		}
	}
	col := m["columns"].([]any)[0].(map[string]any)
	if col["name"] != "a" || col["datatype"] != "integer" {
		t.Errorf("%v", col)
	}
}

// Means and deviations of the largest numbers overflow, and a record with an infinity could not be written.
func TestLargestNumbersHaveNoDeviation(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a\n2\n1e170\n": "true false", "a\n-1e308\n1e308\n1e308\n": "false false",
		"a\n1\n3\n": "true true"} {
		p, err := Read(t.Context(), strings.NewReader(text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		c := p.Columns[0]
		if got := fmt.Sprint(c.Mean != nil, c.StdDev != nil); got != want {
			t.Errorf("%q: mean and deviation %s, want %s", text, got, want)
		}
		if _, err := p.Line("x"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "a,b\n1,2\n", "a;b\n1,5;2\n", "\xff\xfea\x00", "# c\na\tb\n", "'a';'b'\n", "1.234.567,89\n",
		"2020-13-45\n", "Jan 99\n", "P1Y\n", "1e999\n", "2\n1e170", "-1e308\n1e308\n1e308\n", "-\n--\n", strings.Repeat("\"", 50)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Read(context.Background(), bytes.NewReader(b), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Line("x"); err != nil {
			t.Fatal(err)
		}
		if _, err := p.CSVW("x"); err != nil {
			t.Fatal(err)
		}
	})
}
