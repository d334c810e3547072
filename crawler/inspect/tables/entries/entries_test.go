package entries

import (
	"os"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

func TestCalendars(t *testing.T) {
	t.Parallel()
	in := sourcetest.Input("text/calendar", sourcetest.File(t, "testdata/termine.ics"))
	tables := sourcetest.Read(t, calendar, in)
	if len(tables) != 1 || len(tables[0].Cells) != 2 {
		t.Fatalf("%+v", tables)
	}
	if got := strings.Join(tables[0].Cells[0],
		"|"); got != "event|1|2024-01-31T12:00:00|2024-01-31T13:00:00Z|A long line\nand more|mailto:a; mailto:b" {
		t.Errorf("%s", got)
	}
	if got := strings.Join(tables[0].Cells[1], "|"); got != "todo|2|||||2024-02-01" || tables[0].Columns[6].Name != "due" ||
		tables[0].Columns[6].Datatype != "date" {
		t.Errorf("%s, %+v", got, tables[0].Columns)
	}
	if name, _, software := CalendarHead(in); name != "Termine, alle" || software != "-//X//EN" {
		t.Errorf("%q, %q", name, software)
	}
}

func TestWebArchives(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"two.warc", "two.warc.gz"} {
		raw, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		tables := sourcetest.Read(t, captures, sourcetest.Input("application/warc", raw))
		if len(tables) != 1 || len(tables[0].Cells) != 2 {
			t.Fatalf("%+v", tables)
		}
		if got := strings.Join(tables[0].Cells[1],
			"|"); got != "response|http://a.example/x|2024-01-31T12:00:01Z|404|text/html|69|sha1:AB|urn:uuid:2" {
			t.Errorf("%s", got)
		}
		if got := strings.Join(tables[0].Cells[0], "|"); got != "warcinfo||2024-01-31T12:00:00Z||application/warc-fields|13||urn:uuid:1" {
			t.Errorf("%s", got)
		}
	}
}

func FuzzEntries(f *testing.F) {
	f.Add(true, sourcetest.File(f, "testdata/termine.ics"))
	f.Add(false, sourcetest.File(f, "testdata/two.warc"))
	f.Fuzz(func(t *testing.T, isCalendar bool, raw []byte) {
		read := source.Reader(captures)
		if isCalendar {
			read = calendar
			CalendarHead(sourcetest.Input("", raw))
		}
		found, _ := read(t.Context(), sourcetest.Input("", raw), source.Options{MaxRows: 1000}.WithDefaults())
		for _, p := range found {
			if !source.Worthwhile(p) {
				t.Errorf("an empty table: %+v", p)
			}
		}
	})
}
