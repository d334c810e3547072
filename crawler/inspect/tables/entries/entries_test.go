package entries

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

const ics = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//X//EN\r\nX-WR-CALNAME:Termine\\, " +
	"alle\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Vienna\r\nEND:VTIMEZONE\r\n" +
	"BEGIN:VEVENT\r\nUID:1\r\nDTSTART;TZID=\"Europe/Vienna: x\":20240131T120000\r\nDTEND:20240131T130000Z\r\nSUMMARY:A long\r\n  " +
	"line\\nand " +
	"more\r\nATTENDEE:mailto:a\r\nATTENDEE:mailto:b\r\nBEGIN:VALARM\r\nTRIGGER:-PT1H\r\nSUMMARY:no\r\nEND:VALARM\r\nEND:VEVENT\r\n" +
	"BEGIN:VTODO\r\nUID:2\r\nDUE;VALUE=DATE:20240201\r\nSUMMARY:\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"

func TestCalendars(t *testing.T) {
	t.Parallel()
	in := sourcetest.Input("text/calendar", []byte(ics))
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

// archive returns a WARC file, compressed by record if packed is set.
func archive(packed bool) []byte {
	var out bytes.Buffer
	record := func(head, block string) {
		text := "WARC/1.1\r\n" + head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
		if !packed {
			out.WriteString(text)
			return
		}
		z := gzip.NewWriter(&out)
		z.Write([]byte(text))
		z.Close()
	}
	record(
		"WARC-Type: warcinfo\r\nWARC-Date: 2024-01-31T12:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\nContent-Type: "+
			"application/warc-fields\r\n", "software: x\r\n")
	record(
		"WARC-Type: response\r\nWARC-Date: 2024-01-31T12:00:01Z\r\nWARC-Record-ID: <urn:uuid:2>\r\nWARC-Target-URI: "+
			"http://a.example/x\r\nContent-Type: application/http;msgtype=response\r\nWARC-Payload-Digest: sha1:AB\r\n",
		"HTTP/1.1 404 Not Found\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>")
	return out.Bytes()
}

func TestWebArchives(t *testing.T) {
	t.Parallel()
	for _, packed := range []bool{false, true} {
		tables := sourcetest.Read(t, captures, sourcetest.Input("application/warc", archive(packed)))
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

func TestDamagedEntries(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		read source.Reader
		raw  []byte
	}{"calendar": {calendar, []byte(ics)}, "warc": {captures, archive(false)}, "warc.gz": {captures, archive(true)}} {
		try := func(what string, raw []byte) {
			if _, err := c.read(t.Context(), sourcetest.Input("", raw), source.Options{}.WithDefaults()); err != nil &&
				!errors.Is(err, source.ErrFormat) {
				t.Errorf("%s %s: %v", name, what, err)
			}
		}
		for i := range 40 {
			try(fmt.Sprint("cut ", i), c.raw[:len(c.raw)*i/40])
		}
		for i := range 200 {
			b := bytes.Clone(c.raw)
			b[i*len(b)/200] ^= 1 << (i % 8)
			try(fmt.Sprint("flipped ", i), b)
		}
	}
}

func FuzzEntries(f *testing.F) {
	f.Add(true, []byte(ics))
	f.Add(false, archive(false))
	f.Add(false, archive(true))
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
