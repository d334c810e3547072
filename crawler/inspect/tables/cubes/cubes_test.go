package cubes

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/source"
	"odarchive/crawler/inspect/tables/source/sourcetest"
)

// input returns a text as an input.
func input(mediaType, text string) source.Input { return sourcetest.Input(mediaType, []byte(text)) }

func fileOf(t testing.TB, name string) string { return string(sourcetest.File(t, "testdata/"+name)) }

// rowsOf returns the tables of a text, and their rows as lines of cells separated by bars.
func rowsOf(t testing.TB, read source.Reader, in source.Input) (found []*csvprofile.Profile, rows [][]string) {
	t.Helper()
	for _, table := range sourcetest.Read(t, read, in) {
		found, rows = append(found, table.Profile), append(rows, table.Lines())
	}
	return found, rows
}

func namesOf(p *csvprofile.Profile) string {
	var names []string
	for _, c := range p.Columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, "|")
}

const px = `CHARSET="ANSI";
AXIS-VERSION="2010";
LANGUAGE="en";
CREATION-DATE="20240131 09:00";
MATRIX="T1";
TITLE="Births by region, "
"sex and year";
TITLE[de]="Geburten";
UNITS="persons";
STUB="region","sex ";
HEADING="year";
VALUES("region")="A; west","B";
VALUES("sex ")="m","f";
VALUES("year")="2020","2021";
TIMEVAL("year")=TLIST(A1),"2020","2021";
CODES("region")="01","02";
SOURCE="Office";
NOTE="a note
over lines";
DATA=
1 2.5
".." "-"
-3 4
5 6;
`

func TestPCAxisIsReadAsItsCells(t *testing.T) {
	t.Parallel()
	found, rows := rowsOf(t, pcAxis, input("text/x-pcaxis", strings.ReplaceAll(px, "\n", "\r\n")))
	if len(found) != 1 || found[0].Name != "Births by region, sex and year" || namesOf(found[0]) != "region|region code|sex|year|value" {
		t.Fatalf("%d tables: %+v", len(found), found)
	}
	want := "A; west|01|m|2020|1\nA; west|01|m|2021|2.5\nA; west|01|f|2020|..\nA; " +
		"west|01|f|2021|-\nB|02|m|2020|-3\nB|02|m|2021|4\nB|02|f|2020|5\nB|02|f|2021|6"
	if got := strings.Join(rows[0], "\n"); got != want {
		t.Errorf("rows:\n%s", got)
	}
	value := found[0].Columns[4]
	if value.Datatype != "decimal" || value.Nulls != 2 || value.Min != "-3" {
		t.Errorf("value: %+v", value)
	}
	h, err := PCAxis(input("text/x-pcaxis", px))
	if err != nil || h.Title != found[0].Name || h.Updated != "2024-01-31" || h.Source != "Office" || h.Unit != "persons" ||
		len(h.Axes) != 3 || h.Axes[2] != (Axis{"year", 2}) {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestPCAxisWithKeysHasTheCellsThatAreThere(t *testing.T) {
	t.Parallel()
	sparse := strings.Replace(px, "DATA=", "KEYS(\"region\")=CODES;\nKEYS(\"sex \")=VALUES;\nDATA=", 1)
	sparse = sparse[:strings.Index(sparse, "DATA=")] + "DATA=\n\"02\",\"f\",7 8\n\"01\",\"m\",1 2;"
	_, rows := rowsOf(t, pcAxis, input("text/x-pcaxis", sparse))
	if got := strings.Join(rows[0], "\n"); got != "B|02|f|2020|7\nB|02|f|2021|8\nA; west|01|m|2020|1\nA; west|01|m|2021|2" {
		t.Errorf("rows:\n%s", got)
	}
}

func TestAPCAxisFileThatEndsEarlyKeepsItsRows(t *testing.T) {
	t.Parallel()
	found, rows := rowsOf(t, pcAxis, input("text/x-pcaxis", strings.Split(px, "\n-3")[0]))
	if len(found) != 1 || !found[0].Truncated || len(rows[0]) != 4 ||
		!strings.Contains(strings.Join(found[0].Why, " "), "4 of 8 cells are missing") {
		t.Errorf("%+v", found)
	}
}

const stat2 = `{"version":"2.0","class":"dataset","label":"L","source":"S","updated":"2024-01-31","id":["geo","year"],"size":[2,2],
 "dimension":{"geo":{"label":"place","category":{"index":{"AT":0,"DE":1},"label":{"AT":"Austria","DE":"Germany"}}},"year":{"category":{"index":["2020","2021"]}}},
 "value":[1,null,3.5,4],"status":{"1":"c"}}`

func TestJSONStatIsReadAsItsCells(t *testing.T) {
	t.Parallel()
	want := "Austria|AT|2020|1|\nAustria|AT|2021||c\nGermany|DE|2020|3.5|\nGermany|DE|2021|4|"
	version1 := `{"first":{"value":{"3":4,"0":1,"2":3.5},"label":"L","dimension":{"id":["geo","year"],"size":[2,2],"geo":{"label":"place"` +
		`,"category":{"index":["AT","DE"],"label":{"AT":"Austria","DE":"Germany"}}},"year":{"category":{"index":["2020","2021"]}}}}}`
	for name, c := range map[string]struct{ text, header, rows string }{
		"2.0": {stat2, "place|place code|year|value|status", want},
		"collection": {`{"version":"2.0","class":"collection","link":{"item":[` + stat2 + `,{"class":"dataset","href":"x"}]}}`,
			"place|place code|year|value|status", want},
		"1.0": {version1, "place|place code|year|value", "Germany|DE|2021|4\nAustria|AT|2020|1\nGermany|DE|2020|3.5"},
	} {
		in := input("application/json", c.text)
		if !IsJSONStat(in) {
			t.Errorf("%s: not recognised", name)
		}
		found, rows := rowsOf(t, JSONStat, in)
		if len(found) != 1 || namesOf(found[0]) != c.header || strings.Join(rows[0], "\n") != c.rows || found[0].Name != "L" {
			t.Errorf("%s: %s\n%s", name, namesOf(found[0]), strings.Join(rows[0], "\n"))
		}
	}
	found, _ := rowsOf(t, JSONStat, input("application/json", stat2))
	if p := found[0]; strings.Join(p.Columns[0].Titles, "") != "geo" || p.Columns[2].Datatype != "gYear" ||
		p.Columns[3].Datatype != "decimal" {
		t.Errorf("columns: %+v", p.Columns)
	}
	h, n, err := JSONStatHead(input("application/json", stat2))
	if err != nil || n != 1 || h.Title != "L" || h.Source != "S" || h.Updated != "2024-01-31" || len(h.Axes) != 2 ||
		h.Axes[0] != (Axis{"place", 2}) {
		t.Errorf("%+v %d %v", h, n, err)
	}
}

func TestOtherJSONIsNotJSONStat(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"value":[{"name":"x","n":1},{"name":"y","n":2}]}`, `[{"dimension":1,"value":2}]`, `{"a":{"b":{"dimension":1,"value":2}}}`,
		`{"class":"dataset","id":[]}`, `"x"`, `{`, ``,
		`{"items":[{"dimension":"a","value":1},{"dimension":"b","value":2}]}`,
	} {
		if IsJSONStat(input("application/json", text)) {
			t.Errorf("JSON-stat: %s", text)
		}
	}
	late := `{"x":{"value":[` + strings.Repeat("1,", statHead) +
		`1],"dimension":{"id":["a"],"size":[1],"a":{"category":{"label":{"k":"v"}}}}}}`
	if !IsJSONStat(input("application/json", late)) {
		t.Error("dimensions behind the values are not found")
	}
}

func TestWrongJSONStatIsAnError(t *testing.T) {
	t.Parallel()
	for _, change := range [][2]string{
		{`"size":[2,2]`, `"size":[2]`}, {`"size":[2,2]`, `"size":[2000000000,2000000000]`}, {`"size":[2,2]`, `"size":[-1,2]`},
		{`"DE":1}`, `"DE":7}`},
		{`["2020","2021"]`, `["2020"]`}, {`[1,null,3.5,4]`, `7`}, {`"dimension":{`, `"dimension":{"size":["x"],`},
		{`"size":[2,2]`, `"size":[2,1000000]`},
	} {
		text := strings.Replace(stat2, change[0], change[1], 1)
		if found, err := JSONStat(t.Context(), input("application/json", text), source.Options{}.WithDefaults()); !errors.Is(err,
			source.ErrFormat) || len(found) > 0 {
			t.Errorf("%s: %v, %v", change[1], found, err)
		}
	}
}

// Generic and structure-specific data of the same observations are the same table.
func TestSDMXInXMLIsReadAsItsObservations(t *testing.T) {
	t.Parallel()
	sdmxGeneric, sdmxSpecific := fileOf(t, "generic.sdmx.xml"), fileOf(t, "specific.sdmx.xml")
	for name, text := range map[string]string{"generic": sdmxGeneric, "specific": sdmxSpecific} {
		found, rows := rowsOf(t, sdmxML, input("", text))
		if len(found) != 1 || namesOf(found[0]) != "FREQ|CUR|DEC|TIME_PERIOD|STATUS|TITLE|OBS_VALUE" {
			t.Fatalf("%s: %s", name, namesOf(found[0]))
		}
		if got := strings.Join(rows[0], "\n"); got != "M|CHF|4|2010-08|A|franc|1.34\nM|CHF|4|2010-09||franc|1.30\nM|USD||2010-08|||1.2" {
			t.Errorf("%s: rows\n%s", name, got)
		}
		if found[0].Columns[3].Datatype != "gYearMonth" || found[0].Columns[6].Datatype != "decimal" {
			t.Errorf("%s: %+v", name, found[0].Columns)
		}
	}
	if h, err := SDMXML(input("", sdmxGeneric)); err != nil || h.Source != "ECB" || h.Updated != "2024-01-31T00:00:00Z" {
		t.Errorf("%+v %v", h, err)
	}
	found, _ := rowsOf(t, sdmxML, input("", sdmxSpecific[:len(sdmxSpecific)-100]))
	if len(found) != 1 || !found[0].Truncated || found[0].Rows != 2 {
		t.Errorf("a message that ends early: %+v", found)
	}
}

const sdmxParts1 = `"dimensions":{"dataSet":[{"id":"FREQ","name":"Frequency","values":[{"id":"D","name":"Daily"}]}],"series":[{"id":"CUR","name":{"de":"Währung","en":"Currency"},"values":[{"id":"NZD","name":"dollar"},{"id":"RUB","name":"rouble"}]}],
"observation":[{"id":"TIME_PERIOD","values":[{"id":"2013-01-18"},{"value":"2013-01-21"}]}]},"attributes":{"series":[{"id":"TITLE","values":[{"name":"t0"},{"name":"t1"}]}],"observation":[{"id":"STATUS","values":[{"id":"A","name":"Normal"}]}]}`

func TestSDMXInJSONIsReadAsItsObservations(t *testing.T) {
	t.Parallel()
	sets := `"dataSets":[{"action":"I","links":[{"a":{"b":1}}],"series":{"0":{"attributes":[1],"observations":{"0":[1.5,0],"1":[1.6,null]` +
		`}},"1":{"annotations":[],"observations":{"0":[40,0]},"attributes":[0]}}}]`
	want := "Daily|D|dollar|NZD|2013-01-18|1.5|t1|Normal\nDaily|D|dollar|NZD|2013-01-21|1.6|t1|\nDaily|D|rouble|RUB|2013-01-18|40||Normal"
	for name, text := range map[string]string{
		"draft": `{"header":{"prepared":"2024-01-31","sender":{"id":"ECB"}},` + sets + `,"structure":{` + sdmxParts1 + `}}`,
		"1.0":   `{"meta":{"prepared":"2024-01-31","sender":{"id":"ECB"}},"data":{"structure":{` + sdmxParts1 + `},` + sets + `}}`,
		"2.0": `{"meta":{"prepared":"2024-01-31","sender":{"id":"ECB"}},"data":{` + sets + `,"structures":[{"dataSets":[0],` +
			sdmxParts1 + `}]}}`,
	} {
		in := input("application/vnd.sdmx.data+json", text)
		found, rows := rowsOf(t, sdmxJSON, in)
		if len(found) != 1 || namesOf(found[0]) != "Frequency|Frequency code|Currency|Currency code|TIME_PERIOD|OBS_VALUE|TITLE|STATUS" ||
			strings.Join(rows[0], "\n") != want {
			t.Errorf("%s: %s\n%s", name, namesOf(found[0]), strings.Join(rows[0], "\n"))
		}
		if h, err := SDMXJSON(in); err != nil || h.Source != "ECB" || h.Updated != "2024-01-31" || len(h.Axes) != 3 {
			t.Errorf("%s: %+v %v", name, h, err)
		}
	}
	flat := `{"structure":{` +
		strings.Replace(strings.Replace(sdmxParts1, `"series":[{"id":"CUR"`, `"series":[],"observation":[{"id":"CUR"`, 1),
			"}],\n\"observation\":[", "},", 1) +
		`},"dataSets":[{"observations":{"0:0":[1.5,0,0],"1:1":[40]}}]}`
	_, rows := rowsOf(t, sdmxJSON, input("", flat))
	if len(rows) != 1 || len(rows[0]) != 2 || !strings.HasPrefix(rows[0][1], "Daily|D|rouble|RUB|2013-01-21|40|") {
		t.Errorf("flat: %v", rows)
	}
}

// The numbers are those that other programs read from the same files: pyaxis, pyjstat.
func TestFilesOfOffices(t *testing.T) {
	t.Parallel()
	found, rows := rowsOf(t, pcAxis, input("", fileOf(t, "ine-1001.px")))
	if len(found) != 1 || len(rows[0]) != 504 || !strings.HasPrefix(rows[0][0], "Total|Ambos sexos|2013T4|") {
		t.Errorf("ine-1001.px: %d tables, %d rows, %s", len(found), len(rows[0]), rows[0][0])
	}
	in := input("", fileOf(t, "oecd-canada.json"))
	found, rows = rowsOf(t, JSONStat, in)
	if !IsJSONStat(in) || len(found) != 2 || len(rows[0]) != 432 || len(rows[1]) != 120 ||
		rows[0][0] != "unemployment rate|UNR|Australia|AU|2003|5.943826289|" {
		t.Errorf("oecd-canada.json: %d tables, %d and %d rows, %s", len(found), len(rows[0]), len(rows[1]), rows[0][0])
	}
}

func FuzzCubes(f *testing.F) {
	for i, s := range []string{px, stat2, fileOf(f, "generic.sdmx.xml"), fileOf(f, "specific.sdmx.xml"),
		`{"dataSets":[{"observations":{"0":[1]}}],"structure":{` + sdmxParts1 + `}}`} {
		f.Add(byte(i), []byte(s))
	}
	f.Fuzz(func(t *testing.T, kind byte, raw []byte) {
		read := []source.Reader{pcAxis, JSONStat, sdmxML, sdmxML, sdmxJSON}[int(kind)%5]
		in := source.Input{Size: int64(len(raw)), Body: bytes.NewReader(raw)}
		found, err := read(t.Context(), in, source.Options{MaxRows: 1000, MaxBytes: 1 << 20}.WithDefaults())
		for _, p := range found {
			if !source.Worthwhile(p) {
				t.Errorf("a table without rows or columns: %+v, %v", p, err)
			}
		}
		IsJSONStat(in)
		PCAxis(in)
		JSONStatHead(in)
		SDMXJSON(in)
		SDMXML(in)
	})
}
