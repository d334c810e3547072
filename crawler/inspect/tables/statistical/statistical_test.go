package statistical

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// read returns the tables of a file, and their rows as CSV with long cells cut.
func read(t *testing.T, b []byte, mediaType string) (found []*csvprofile.Profile, rows []string) {
	t.Helper()
	for _, table := range sourcetest.Read(t, Readers()[mediaType], sourcetest.Input(mediaType, b)) {
		var names []string
		for _, c := range table.Columns {
			names = append(names, c.Name)
		}
		text := strings.Builder{}
		text.WriteString(strings.Join(names, ",") + "\n")
		w := csv.NewWriter(&text)
		for _, row := range table.Cells {
			for i := range row {
				row[i] = short(row[i])
			}
			_ = w.Write(row)
		}
		w.Flush()
		found, rows = append(found, table.Profile), append(rows, text.String())
	}
	return found, rows
}

// short replaces a long run of one letter by its length.
func short(s string) string {
	if len(s) > 50 && strings.Trim(s, s[:1]) == "" {
		return fmt.Sprintf("%d%s", len(s), s[:1])
	}
	return s
}

// typeOf detects a file.
func typeOf(t *testing.T, name string, b []byte) string {
	t.Helper()
	d, err := detect.File(context.Background(), detect.Input{Name: name, Size: int64(len(b)), Body: bytes.NewReader(b)})
	if err != nil {
		t.Fatal(err)
	}
	return d.Type
}

const people = `id,height,town,day,at,vote
1,1.75,Zürich,2020-02-29,2021-03-04T05:06:07,1
2,,Köln,1899-12-31,1970-01-01T00:00:00,2
3,-0.5,,,,2
4,1E20,łódź,2024-01-01,1959-12-31T23:59:59.5,3
`

const ofR = `id,height,town,day,at,vote,ok
1,1.75,Zürich,2020-02-29,2021-03-04T05:06:07Z,yes,true
2,,Köln,1899-12-31,1970-01-01T00:00:00Z,no,
3,-0.5,,,,no,false
4,1E20,łódź,2024-01-01,1959-12-31T23:59:59.5Z,,true
`

// noted adds a column to people.
func noted(cells ...string) string {
	lines := strings.Split(strings.TrimSuffix(people, "\n"), "\n")
	for i := range lines {
		lines[i] += "," + cells[i]
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestFilesOfStatisticsProgramsAreRead(t *testing.T) {
	const small = "1,1.5,0.1,Zürich,%s,0,70000%s\n2,,1E-07,Köln,%s,1,-70000%s\n3,-2,3E18,,,0,0%s\n"
	for _, c := range []struct{ file, want string }{
		{"114.dta", "id,x,y,town,day,kind,n\n" + fmt.Sprintf(small, "2020-02-29", "", "1960-01-01", "", "")},
		{
			"117.dta", "id,x,y,town,day,kind,n,month\n" + fmt.Sprintf(small, "2020-02-29T00:00:00", ",2020-02", "1960-01-01T00:00:00",
				",1960-01", ",")},
		{"119.dta", "id,x,y,town,day,kind,n,month\n" + fmt.Sprintf(small, "2020-02-26", ",2020-Q1", "1960-01-01", ",1960-Q1", ",")},
		{"118.dta", people},
		{"118-long.dta", noted("note", "3000x", "x", "", "2500x")},
		{"plain.sav", people},
		{"bytes.sav", noted("note", "700y", "y", "", "255y")},
		{"blocks.zsav", noted("note", "700y", "y", "", "255y")},
		{"5.xpt", people},
		{"people.sas7bdat", people},
		{"2.rds", ofR}, {"3.rds", ofR}, {"little.rds", ofR}, {"3-gzip.rds", ofR}, {"3-bzip2.rds", ofR},
		{"8.xpt", strings.Replace(people, "vote", "vote_in_the_council", 1)},
	} {
		t.Run(c.file, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", c.file))
			if err != nil {
				t.Fatal(err)
			}
			found, rows := read(t, b, typeOf(t, c.file, b))
			if len(rows) != 1 {
				t.Fatalf("%d tables", len(rows))
			}
			if rows[0] != c.want {
				t.Errorf("got\n%swant\n%s", rows[0], c.want)
			}
			checkLabels(t, c.file, found[0])
		})
	}
}

// checkLabels checks titles and labels of the columns that have them.
func checkLabels(t *testing.T, file string, p *csvprofile.Profile) {
	t.Helper()
	for _, c := range p.Columns {
		switch name := strings.ToLower(c.Name); {
		case name == "height" && !strings.HasSuffix(file, ".rds") &&
			(len(c.Titles) != 1 || !strings.HasPrefix(c.Titles[0], "height in metres")):
			t.Errorf("titles of height: %q", c.Titles)
		case name == "height" && c.Datatype != "double" || c.Name == "day" && !strings.HasPrefix(c.Datatype, "date") || name == "id" &&
			c.Datatype != "integer":
			t.Errorf("datatype of %s: %s", c.Name, c.Datatype)
		case name == "vote" && strings.Contains("118.dta plain.sav bytes.sav blocks.zsav", file) &&
			(len(c.Labels) != 2 || c.Labels[1] != csvprofile.Label{Value: "2", Label: "no"}):
			t.Errorf("labels of vote: %v", c.Labels)
		}
	}
}

func TestAFileOfRHasATableForEachValueThatIsOne(t *testing.T) {
	for _, file := range []string{"several.RData", "several-xz.RData"} {
		b, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		found, rows := read(t, b, typeOf(t, file, b))
		if len(rows) != 2 || found[0].Name != "people" || found[1].Name != "numbers" {
			t.Fatalf("%s: %d tables", file, len(found))
		}
		if rows[0] != ofR || rows[1] != "a,b,c\n1,3,5\n2,4,6\n" {
			t.Error(file, rows)
		}
	}
}

// A file of R is small, and may unpack to any size.
func TestAFileOfRThatUnpacksToTooMuchIsRefused(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(append([]byte("X\n\x00\x00\x00\x03\x00\x04\x02\x02\x00\x03\x05\x00"), make([]byte, 4<<20)...)); err != nil {
		t.Fatal(err)
	}
	z.Close()
	in := source.Input{Size: int64(packed.Len()), Body: bytes.NewReader(packed.Bytes())}
	found, err := rdata(t.Context(), in, source.Options{MaxBytes: 1 << 20}.WithDefaults())
	if len(found) > 0 || err == nil || !strings.Contains(err.Error(), "unpacks to more than 1048576 bytes") {
		t.Errorf("%d tables, %v", len(found), err)
	}
}

func TestATableWithoutRowsHasItsColumns(t *testing.T) {
	b, err := os.ReadFile("testdata/empty.rds")
	if err != nil {
		t.Fatal(err)
	}
	found, rows := read(t, b, typeOf(t, "empty.rds", b))
	if len(found) != 1 || found[0].Rows != 0 || rows[0] != strings.SplitAfter(ofR, "\n")[0] {
		t.Errorf("%q", rows)
	}
}

func TestPackedRowsOfSAS(t *testing.T) {
	for _, c := range []struct {
		packing  byte
		in, want string
	}{
		{'r', "\x82abc\xe1\xc0x\xf0", "abc   xxx\x00\x00"},
		{'r', "\x60\x00\x81ab", strings.Repeat(" ", 17) + "ab"},
		{'d', "\x18\x00abc\x30\x00\x02z", "abcabczzzzz"},
	} {
		if got, err := unpackRow(c.packing, []byte(c.in), len(c.want)); string(got) != c.want || err != nil {
			t.Errorf("%q: %q, want %q, %v", c.in, got, c.want, err)
		}
		if _, err := unpackRow(c.packing, []byte(c.in), len(c.want)+1); err == nil {
			t.Errorf("%q is too short", c.in)
		}
	}
}

func TestOrdinaryNumbersKeepTheirForm(t *testing.T) {
	for v, want := range map[float64]string{0: "0", -3: "-3", 1e14: "100000000000000", 1e15: "1E15", 0.1: "0.1", 1e-5: "0.00001",
		1.5e-9: "1.5E-09", 123456.75: "123456.75"} {
		if got := number(v, 64); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
	if got := number(float64(float32(0.1)), 32); got != "0.1" {
		t.Error(got)
	}
	for format, want := range map[byte]string{5: "13802367601", 20: "2020-02-29", 22: "2020-02-29T15:00:01", 39: "2020-02-29",
		21: "3833991:00:01"} {
		if got := spssNumber(13802367601, format); got != want {
			t.Errorf("format %d: %s, want %s", format, got, want)
		}
	}
	for seconds, want := range map[float64]string{0: "00:00:00", 86399.5: "23:59:59.5", 90000: "25:00:00", -60: "-00:01:00"} {
		if got := clock(seconds); got != want {
			t.Errorf("%g: %s, want %s", seconds, got, want)
		}
	}
}

func FuzzReader(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, file := range files {
		if b, err := os.ReadFile(file); err == nil {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range kinds(b) {
			in := source.Input{Type: kind, Size: int64(len(b)), Body: bytes.NewReader(b)}
			_, _ = Readers()[kind](context.Background(), in, source.Options{MaxRows: 1000, MaxUnpack: 1 << 20}.WithDefaults())
		}
	})
}

// kinds returns the types as which b is worth reading.
func kinds(b []byte) []string {
	switch {
	case len(b) == 0:
		return nil
	case b[0] == '$':
		return []string{"application/x-spss-sav"}
	case b[0] == '<' || b[0] >= 104 && b[0] < 120:
		return []string{"application/x-stata-dta"}
	case b[0] == 0 || b[0] == 0xc2:
		return []string{"application/x-sas-data"}
	case len(b) > 1 && b[1] == '\n' || b[0] == 'R':
		return []string{"application/x-r-data"}
	case b[0] == 'H':
		return []string{"application/x-sas-xport"}
	}
	return nil
}
