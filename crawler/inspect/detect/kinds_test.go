package detect

import (
	"strings"
	"testing"
)

// Files without a name or declaration are recognised by their content alone.
func TestKindsAreToldByContent(t *testing.T) {
	t.Parallel()
	features := strings.Repeat(`{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}},`, 5000)
	nothing := strings.Repeat("\x00", 64)
	for body, want := range map[string]string{
		"SQLite format 3\x00" + nothing + nothing +
			"CREATE TABLE metadata (name text, value text)CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, " +
			"tile_data blob)": "application/vnd.mapbox.mbtiles",
		"SQLite format 3\x00" + nothing + nothing +
			"gpkg_contents gpkg_metadata tile_column tile_data": "application/geopackage+sqlite3",
		"@prefix ex: <http://e/> .\nex:g { ex:a ex:b ex:c . }\n":                            "application/trig",
		"@prefix : <#> .\n{ ?x a :Man } => { ?x a :Mortal } .\n":                            "text/n3",
		"  0\nSECTION\n  2\nHEADER\n  9\n$ACADVER\n":                                        "image/vnd.dxf",
		"ISO-10303-21;\nHEADER;\nFILE_DESCRIPTION(('x'),'2;1');\nFILE_NAME('a','b','c');\n": "model/step",
		"SIMPLE  =                    T / x" + strings.Repeat(" ", 47) +
			"END": "application/fits",
		"ASTM-E57" + strings.Repeat("\x00",
			64): "model/e57",
		"II+\x00\x08\x00\x00\x00\x10" + strings.Repeat("\x00",
			64): "image/tiff",
		"\xff\xff\xff\xff\x78\x00\x00\x00\x10\x00\x00\x00\x00\x00\x0a\x00\x0c\x00\x06\x00\x05\x00\x08\x00" + strings.Repeat("\x00",
			128): "application/vnd.apache.arrow.stream",
		`<?xml version="1.0"?><core:CityModel xmlns:core="http://www.opengis.net/citygml/2.0"/>`: "application/gml+xml",
		`<CompactData xmlns="http://www.SDMX.org/resources/SDMXML/schemas/v2_0/message"/>`: "application/vnd.sdmx.structurespecific" +
			"data+xml",
		`{"meta":{"schema":"https://raw.githubusercontent.com/sdmx-twg/sdmx-json/master/1.0/sdmx-json-data-schema.json"},"data":{"dataSet` +
			`s":[]}}`: "application/vnd.sdmx.data+json",
		"\x1e{\"a\":1}\n\x1e{\"a\":2}\n":                                           "application/json-seq",
		"\x1e{\"type\":\"Feature\",\"properties\":{},\"geometry\":null}\n\x1e{}\n": "application/geo+json-seq",
		`{"name":"layer","features":[` + features +
			`{"type":"Feature"}],"type":"FeatureCollection"}`: "application/geo+json",
		strings.Repeat("ASCII SPSS PORT FILE                    ", 5) + strings.Repeat("0", 256) +
			"SPSSPORTA8/20200101": "application/x-spss-por",
		"\xd7\xcd\xc6\x9a" + strings.Repeat("\x00",
			60): "image/wmf",
		"\x01\x00\x00\x00" + strings.Repeat("\x00", 36) + " EMF\x00\x00\x01\x00" +
			nothing: "image/emf",
		"BM\x3c\x00\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x0c\x00\x00\x00" +
			nothing: "image/bmp",
		"RIFX\x00\x00\x00\x2cWAVEfmt " +
			nothing: "audio/wav",
		"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a" +
			nothing: "application/x-pcapng",
		strings.Repeat("\x00", 12) + "\x62\x31\x05\x00" +
			nothing: "application/x-berkeley-db",
		"From someone@example.org Mon Jun 01 10:00:00 2009\n\nText\n":                         "application/mbox",
		"From here to eternity: a story\n\nIt began on Mon Jun 01 10:00:00 2009.\n":           "text/plain",
		"MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=\"b\"\r\n\r\n--b\r\n": "multipart/related",
		"II*\x00\x08\x00\x00\x00 text of an image\n":                                          "image/tiff",
		"MM\x00*\x00\x00\x00\x08 text of an image\n":                                          "image/tiff",
		"II*\x00\x10\x00\x00\x00CR\x02\x00" +
			nothing: "image/x-canon-cr2",
		"FORM\x00\x00\x00\x64AIFCFVER\x00\x00\x00\x04\xa2\x80\x51\x40COMM" +
			nothing: "audio/aiff",
		"MSCF\x00\x00\x00\x00a.csv\n1,2\n3,4\n": "application/vnd.ms-cab-compressed",
		"\x00\x01\x00\x00\x00\x0c\x00\x80\x00\x03\x00\x40OS/2" +
			nothing: "font/ttf",
		"OTTO\x00\x0a\x00\x80\x00\x03\x00\x20CFF " +
			nothing: "font/otf",
		"OTTO\nis a name, as is\nany other\n": "text/plain",
		"Rar!\x1a\x07\x00\xcf\x90s\x00\x00\r\x00\x00\x00\x00\x00\x00\x00" +
			"%PDF-1.4\n1 0 obj\n": "application/vnd.rar",
		"qoif\x00\x00\x00\x10\x00\x00\x00\x10\x04\x00" +
			nothing: "image/qoi",
		"P6\n# by hand\n2 1\n255\n\xff\x00\x00\x00\xff\x00":                                      "image/x-portable-pixmap",
		"P1\n4 2\n1 0 1 0\n0 1 0 1\n":                                                            "image/x-portable-bitmap",
		"P1 is a rank,\nas is P2\n":                                                              "text/plain",
		"ID;PWXL;N;E\r\nP;PGeneral\r\nC;Y1;X1;K\"id\"\r\nE\r\n":                                  "application/x-sylk",
		"ID;name;value\n1;a;2\n2;b;3\n":                                                          "text/csv",
		"TABLE\n0,1\n\"x\"\nVECTORS\n0,1\n\"\"\n":                                                "application/x-dif",
		"/* XPM */\nstatic char *a[] = {\n\"4 4 2 1\",\n\"    \"};\n":                            "image/x-xpixmap",
		"id,na\vme,va\flue\n1,a,2\n2,b,3\n3,c,4\n":                                               "text/csv",
		"a==1.0\nb==2.1\nc==3.4\nd==0.1\ne==7\nf==9\n":                                           "text/plain",
		"$a: 1px;\n.b {\n  color: $a;\n  margin: 0;\n}\n.c {\n  padding: 0;\n}\n":                "text/plain",
		"module m\n\nrequire (\n\ta/b v1.0\n\tc/d v1.1\n\te/f v2.0\n\tg/h v2.0\n\ti/j v2.0\n)\n": "text/plain",
		"all:\n\tcc -c a.c\n\tcc -c b.c\n\tld a.o b.o\n\tstrip a\n\trm a.o\n":                    "text/plain",
		"id,x\n1,\x00\n2,y\n":                                                                    "text/csv",
	} {
		if d := detected(t, "", "", body); d.Type != want {
			t.Errorf("%.60q: %s (%s), want %s", body, d.Type, d.Because, want)
		}
	}
}
