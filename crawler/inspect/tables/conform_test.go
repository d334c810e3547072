package tables

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// towns is one table in every format that can hold it, as other programs wrote it (testdata/SOURCES.md). A format that
// has no such columns, or whose program wrote others in their place, lacks them.
var towns = []struct {
	file  string
	types string // media types under which it is read, "" = as detected
	lacks string
}{
	{"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet application/vnd.ms-excel.sheet.macroenabled.12 " +
		"application/vnd.openxmlformats-officedocument.spreadsheetml.template", ""},
	{"xlsb", "", ""},
	{"xls", "", ""},
	{"ods", "application/vnd.oasis.opendocument.spreadsheet application/vnd.oasis.opendocument.spreadsheet-template", "ok"},
	{"sheetjs.ods", "", "day at"},
	{"slk", "", "day ok at"},
	{"dif", "", ""},
	{"json", "", ""},
	{"ndjson", "", ""},
	{"geojson", "", ""},
	{"geojsonl", "application/geo+json-seq", ""},
	{"topojson", "", ""},
	{"xml", "application/xml text/xml application/rss+xml application/atom+xml", ""},
	{"gml", "", ""},
	{"kml", "", "day ok"},
	{"fgb", "", "day"},
	{"shp", "", "ok at"},
	{"dbf", "application/vnd.dbf application/x-dbf application/dbase", "ok at"},
	{"html", "text/html application/xhtml+xml", ""},
	{"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document " +
		"application/vnd.openxmlformats-officedocument.wordprocessingml.template application/vnd.ms-word.document.macroenabled.12 " +
		"application/vnd.ms-word.template.macroenabled.12", ""},
	{"odt", "application/vnd.oasis.opendocument.text application/vnd.oasis.opendocument.text-template", ""},
	{"ipynb", "", ""},
	{"parquet", "", ""},
	{"arrow", "", ""},
	{"arrows", "", ""},
	{"avro", "", ""},
	{"sqlite.gz", "application/vnd.sqlite3 application/x-sqlite3 application/vnd.mapbox.mbtiles", ""},
	{"gpkg.gz", "", ""},
	{"dta", "", "ok"},
	{"sav", "", "ok"},
	{"xpt", "", "ok"},
	{"sas7bdat.gz", "", "ok"},
	{"rds", "", ""},
	{"nc", "", "day ok"},
	{"classic.nc", "", "day ok"},
	{"h5", "", "day ok at"},
}

const columnsOfTowns = `id integer: 1 | 2 | 3 | 4
town string: Zürich | Köln, West |  | Łódź "2"
height decimal: 1.75 |  | -0.5 | 100000.125
day date: 2020-02-29 | 1960-01-01 |  | 2024-01-01
ok boolean: true | false |  | true
at dateTime: 2021-03-04T05:06:07 | 1970-01-01T00:00:00 |  | 1999-12-31T23:59:59
`

// samples returns the files of the suite: towns, and all files of the families.
func samples(t *testing.T, readers source.Readers) []sourcetest.Sample {
	var list []sourcetest.Sample
	for _, c := range towns {
		s := sourcetest.Sample{Name: "towns." + c.file, Types: strings.Fields(c.types)}
		var detected string
		s.Input, detected = sourcetest.Open(t, "testdata/"+s.Name)
		if len(s.Types) == 0 {
			s.Types = []string{detected}
		}
		list = append(list, s)
	}
	files, _ := filepath.Glob("*/testdata/*.*")
	for _, file := range files {
		s := sourcetest.Sample{Name: file}
		var detected string
		if s.Input, detected = sourcetest.Open(t, file); readers[detected] == nil {
			continue
		}
		s.Types = []string{detected}
		switch filepath.Base(file) {
		case "new.h5":
			s.Fault = "chunks with an index of a kind that is not read"
		case "one.sdmx.json":
			s.Types = []string{"application/vnd.sdmx.data+json"}
		case "two.warc":
			s.Types = append(s.Types, "application/x-ia-arc")
		}
		list = append(list, s)
	}
	return list
}

func TestEveryReaderConforms(t *testing.T) {
	readers := Readers()
	sourcetest.Conform(t, readers, samples(t, readers))
}

func TestTheSameTableIsTheSameInEveryFormat(t *testing.T) {
	t.Parallel()
	readers := Readers()
	for i, s := range samples(t, readers)[:len(towns)] {
		lacks := strings.Fields(towns[i].lacks)
		var want strings.Builder
		for line := range strings.Lines(columnsOfTowns) {
			if name, _, _ := strings.Cut(line, " "); !slices.Contains(lacks, name) {
				want.WriteString(line)
			}
		}
		for _, mediaType := range s.Types {
			in := s.Input
			in.Type = mediaType
			tables := sourcetest.Read(t, readers[mediaType], in)
			table := tables[len(tables)-1] // a notebook has its cells before
			var got strings.Builder
			for line := range strings.Lines(columnsOfTowns) {
				name, _, _ := strings.Cut(line, " ")
				if !slices.Contains(lacks, name) {
					got.WriteString(table.Values(name))
				}
			}
			if got.String() != want.String() {
				t.Errorf("%s as %s:\n%swant\n%s", s.Name, mediaType, got.String(), want.String())
			}
		}
	}
}
