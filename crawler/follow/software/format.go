package software

import (
	"path"
	"strings"
)

// guess is what the address, the declared type and the anchor say of a target's format.
type guess struct {
	format string
	data   float64 // confidence that the target is a file of data
	other  bool    // a file of another kind
	plain  bool    // the extension of the address says so
}

// Kinds of formats.
const (
	dataFormat = 1 + iota
	archiveFormat
	otherFormat
)

// formats are extensions, and the names by which anchors and parameters call formats.
var formats = kinds(map[int]string{
	dataFormat: "csv tsv tab xls xlsx xlsm xlsb ods json jsonl ndjson geojson topojson xml rdf ttl nt nq trig jsonld n3 kml kmz shp gpkg " +
		"gml gpx dbf " +
		"parquet feather arrow avro sqlite mdb accdb sav dta sas7bdat px sdmx nc netcdf hdf5 grib fits mat rds rdata fgb tif tiff " +
		"geotiff las laz " +
		"shapefile geopackage excel sql dxf dwg ics-data",
	archiveFormat: "zip gz tgz bz2 xz 7z rar tar zst",
	otherFormat: "pdf doc docx odt rtf ppt pptx odp epub ps jpg jpeg png gif svg webp bmp ico mp3 mp4 avi mov mkv ogg wav webm m4a css " +
		"js woff woff2 " +
		"ttf eot ics vcf exe msi dmg deb rpm apk jar iso swf eml msg tex",
})

// pages are extensions of addresses of pages and programs, which say nothing of a format.
var pages = kinds(map[int]string{1: "html htm xhtml shtml php php3 php5 phtml asp aspx jsp jspx jsf do action cgi pl cfm ashx axd"})

// names are the values by which interfaces call formats, where these are not extensions.
var names = map[string]string{"application/json": "json", "text/csv": "csv", "shape-zip": "zip", "excel2007": "xlsx", "gml2": "gml",
	"gml3": "gml", "gml32": "gml",
	"application/geo+json": "geojson", "application/vnd.google-earth.kml+xml": "kml", "application/vnd.google-earth.kml xml": "kml",
	"kmz": "kmz", "pgeojson": "geojson",
	"application/vnd.geo+json": "geojson", "application/gml+xml": "gml", "application/xml": "xml", "text/xml": "xml",
	"application/pdf":          "pdf",
	"application/vnd.ms-excel": "xls", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
	"application/zip": "zip",
	"application/vnd.oasis.opendocument.spreadsheet": "ods", "application/rdf+xml": "rdf", "text/turtle": "ttl",
	"application/ld+json":       "jsonld",
	"text/tab-separated-values": "tsv", "application/geopackage+sqlite3": "gpkg", "application/x-shapefile": "shp", "text/calendar": "ics"}

func kinds(of map[int]string) map[string]int {
	all := map[string]int{}
	for kind, words := range of {
		for word := range strings.FieldsSeq(words) {
			all[word] = kind
		}
	}
	return all
}

// formatOf says what format a target probably has.
func formatOf(a place, l Link) guess {
	if ext := extension(a.path); ext != "" {
		return certain(ext)
	}
	for _, p := range a.params {
		switch p.name {
		case "f", "format", "outputformat", "fmt", "output", "exportformat", "accept", "type", "filetype", "ext":
			format := p.value
			if named := names[format]; named != "" {
				format = named
			}
			if kind := formats[format]; kind != 0 {
				return of(format, kind, 0.9)
			}
		case "file", "files", "filename", "fn", "name", "f_name", "datei", "fichier", "path":
			if ext := extension(p.value); ext != "" {
				return of(ext, formats[ext], 0.9)
			}
		}
	}
	if inner := innerName(a.path); inner != "" {
		return of(inner, formats[inner], 0.9)
	}
	if format := declared(l.Type); format != "" {
		return of(format, formats[format], 0.9)
	}
	format, sure := anchorFormat(l.Text)
	switch {
	case format != "" && (sure || l.Download):
		return of(format, formats[format], 0.8)
	case format != "":
		return of(format, formats[format], 0.5)
	case l.Download:
		return guess{data: 0.4}
	}
	return guess{}
}

// certain is the guess by an extension.
func certain(ext string) guess {
	g := of(ext, formats[ext], 1)
	g.plain = true
	return g
}

func of(format string, kind int, sure float64) guess {
	switch kind {
	case dataFormat:
		return guess{format: format, data: sure}
	case archiveFormat:
		return guess{format: format, data: sure * 0.8}
	case otherFormat:
		return guess{format: format, other: true}
	}
	return guess{}
}

// extension returns the extension of a path if it is that of a known format. path is in lower case.
func extension(p string) string {
	ext := strings.TrimPrefix(path.Ext(p), ".")
	if ext == "gz" || ext == "bz2" || ext == "xz" || ext == "zst" || ext == "zip" {
		if inner := strings.TrimPrefix(path.Ext(strings.TrimSuffix(p, "."+ext)), "."); formats[inner] == dataFormat {
			return inner
		}
	}
	if formats[ext] != 0 {
		return ext
	}
	return ""
}

// innerName returns the format of a file that is named in the middle of a path, as in "/documents/20121/1/x.csv/UUID".
func innerName(p string) string {
	for segment := range strings.SplitSeq(p, "/") {
		if strings.IndexByte(segment, '.') > 0 {
			if ext := extension(segment); ext != "" && pages[ext] == 0 {
				return ext
			}
		}
	}
	return ""
}

func declared(mediaType string) string {
	if mediaType == "" || len(mediaType) > 200 {
		return ""
	}
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	return names[strings.TrimSpace(mediaType)]
}

const maxAnchor = 200 // bytes of an anchor that are looked at

// anchorFormat returns the format that the text of a link names. sure reports that it is named as one names files: in
// capital letters, in brackets, as an extension, or beside a size.
func anchorFormat(text string) (format string, sure bool) {
	if len(text) > maxAnchor {
		text = text[len(text)-maxAnchor:] // formats stand at the end
	}
	words, size := 0, false
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && alphanumeric(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start < 0 {
			continue
		}
		word := text[start:i]
		words++
		if len(word) <= 10 {
			var space [10]byte
			low := space[:len(word)]
			capital := true
			for j := range len(word) {
				c := word[j]
				if 'A' <= c && c <= 'Z' {
					c += 'a' - 'A'
				} else if c >= 'a' {
					capital = false
				}
				low[j] = c
			}
			if kind := formats[string(low)]; kind != 0 && len(word) > 1 {
				format = string(low)
				before := byte(' ')
				if start > 0 {
					before = text[start-1]
				}
				sure = capital || before == '.' || before == '(' || before == '['
			}
			switch string(low) {
			case "kb", "mb", "kib", "mib", "gb", "ko", "mo", "bytes":
				size = true
			}
		}
		start = -1
	}
	if format == "" || words > 14 && !size {
		return "", false
	}
	return format, sure && words <= 8 || size
}

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80
}
