package detect

import (
	"mime"
	"path"
	"slices"
	"strings"
)

// hints are the media types that a file's name and declaration suggest, "" if they suggest none.
type hints struct {
	ext      string // extension of the name, in lower case, without the dot
	name     string // type of the extension
	declared string
}

// hintsOf returns what a name and a declaration, a media type or a format's name, suggest.
func hintsOf(name, declared string) hints {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if i := strings.IndexAny(base, "?#"); i >= 0 {
		base = base[:i]
	}
	h := hints{ext: strings.ToLower(strings.TrimPrefix(path.Ext(base), "."))}
	h.name = byExtension[h.ext]
	if d := strings.ToLower(strings.TrimSpace(declared)); strings.Contains(d, "/") && !strings.Contains(d, "://") {
		t, _, _ := strings.Cut(d, ";")
		h.declared = strings.TrimSpace(t)
	} else if d != "" {
		h.declared = byExtension[strings.TrimPrefix(d, ".")]
	}
	return h
}

// charsetParam returns the charset parameter of a declared media type.
func charsetParam(declared string) string {
	_, params, err := mime.ParseMediaType(declared)
	if err != nil {
		return ""
	}
	return params["charset"]
}

// says reports whether the name or the declaration suggests one of the types.
func (h hints) says(types ...string) bool {
	return slices.Contains(types, h.name) || slices.Contains(types, h.declared)
}

// text returns the type that the name, or else the declaration, suggests, if it is one that content does not show; else
// "".
func (h hints) text() string {
	for _, t := range []string{h.name, h.declared} {
		if textKind(t) {
			return t
		}
	}
	return ""
}

// binary returns the type that the name, or else the declaration, suggests, if it is one without a signature; else "".
func (h hints) binary() string {
	for _, t := range []string{h.name, h.declared} {
		switch t {
		case "application/x-brotli", "application/zip", "application/msword", "application/octet-stream", "application/vnd.ms-excel",
			"application/x-lzma",
			"application/vnd.apache.parquet", "application/x-protobuf", "application/vnd.mapbox-vector-tile", "application/x-sas",
			"application/dicom",
			"application/x-r-data", "application/x-tar", "application/msaccess":
			return t
		}
	}
	return ""
}

// textKind reports whether texts of a type look like any other text.
func textKind(t string) bool {
	switch t {
	case "text/css", "text/javascript", "text/x-python", "text/x-c", "text/x-java", "text/x-shellscript", "text/x-r", "text/x-sql",
		"application/sql",
		"application/yaml", "application/toml", "text/x-perl", "text/x-ruby", "text/x-php", "text/x-lua", "text/x-tex", "text/x-rst",
		"text/x-diff",
		"text/vtt", "application/x-subrip", "text/x-log", "application/x-sh", "text/x-go", "text/x-rust", "text/x-scala", "text/x-fortran",
		"text/x-matlab",
		"text/n3", "text/x-ini", "application/x-httpd-php", "application/sparql-query", "text/shex", "text/x-pcaxis",
		"application/x-bibtex",
		"application/x-research-info-systems", "text/troff", "chemical/x-pdb", "text/x-arcgrid", "text/x-scss", "text/x-less",
		"text/x-makefile",
		"text/x-msdos-batch", "text/x-gettext-translation", "text/x-protobuf", "text/x-sas":
		return true
	}
	return false
}

// byExtension maps file name extensions to media types.
var byExtension = func() map[string]string {
	types := map[string]string{}
	for line := range strings.Lines(extensions) {
		fields := strings.Fields(line)
		for _, ext := range fields[1:] {
			types[ext] = fields[0]
		}
	}
	return types
}()

// extensions lists media types, each with its file name extensions.
const extensions = `text/csv csv
text/tab-separated-values tsv tab
text/plain txt text asc readme
text/markdown md markdown
text/html html htm shtml asp aspx
application/xhtml+xml xhtml xht
application/xml xml xsd xsl xslt
application/json json
application/geo+json geojson
application/topo+json topojson
application/ld+json jsonld
application/x-ndjson ndjson jsonl
application/rdf+xml rdf rdfxml owl
text/turtle ttl turtle
application/n-triples nt ntriples
application/n-quads nq nquads
application/trig trig
text/n3 n3
application/trix+xml trix
application/vnd.hdt hdt
application/sparql-query rq sparql
application/rss+xml rss
application/atom+xml atom
application/vnd.google-earth.kml+xml kml
application/vnd.google-earth.kmz kmz
application/gml+xml gml
application/gpx+xml gpx
image/svg+xml svg
text/calendar ics ical ifb
text/vcard vcf vcard
message/rfc822 eml
multipart/related mht mhtml
application/mbox mbox
application/x-bibtex bib bibtex
application/x-research-info-systems ris
text/x-pcaxis px
application/rtf rtf
application/pdf pdf
application/zip zip shp.zip
application/gzip gz tgz
application/x-brotli br
application/x-lzma lzma
application/x-tar tar
application/msword doc dot
application/vnd.ms-excel xls xlt
application/vnd.ms-powerpoint ppt pps pot
application/vnd.ms-outlook msg
application/vnd.visio vsd
application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx
application/vnd.openxmlformats-officedocument.wordprocessingml.document docx
application/vnd.openxmlformats-officedocument.presentationml.presentation pptx
application/vnd.oasis.opendocument.spreadsheet ods
application/vnd.oasis.opendocument.text odt
application/vnd.apple.keynote key
application/vnd.apple.numbers numbers
application/vnd.apple.pages pages
application/epub+zip epub
application/vnd.apache.parquet parquet
application/vnd.mapbox-vector-tile mvt
text/css css
text/javascript js mjs
text/x-python py
text/x-c c h cpp cc hpp
text/x-java java
text/x-shellscript sh bash
text/x-r r
application/sql sql
application/yaml yaml yml cff
application/toml toml
text/x-perl pl pm
text/x-ruby rb
text/x-php php
text/x-lua lua
text/x-tex tex latex
text/x-rst rst
text/x-diff diff patch
text/vtt vtt
application/x-subrip srt
text/x-go go
text/x-rust rs
text/x-scala scala
text/x-fortran f f90 for
text/x-ini ini cfg properties conf
text/x-scss scss sass
text/x-less less
text/x-makefile mk mak
text/x-msdos-batch bat cmd
text/x-gettext-translation po
text/x-protobuf proto
text/x-sas sas
application/x-sylk slk sylk
application/x-dif dif
image/x-xpixmap xpm
image/x-xbitmap xbm
model/obj obj
application/x-r-data rdata rda rds
`

// Declared returns the media type that a declaration means, a media type or a format's name such as "CSV" or ".csv"; ""
// if it means none.
func Declared(text string) string { return hintsOf("", text).declared }
