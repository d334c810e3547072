package detect

import (
	"mime"
	"path"
	"strings"
)

// hints is what the name and the declaration of a file say: media types, "" where they say nothing.
type hints struct {
	ext      string // of the name, lower case, without the dot
	name     string // type that the extension stands for
	declared string
}

func hintsOf(name, declared string) hints {
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	if i := strings.IndexAny(base, "?#"); i >= 0 {
		base = base[:i]
	}
	h := hints{ext: strings.ToLower(strings.TrimPrefix(path.Ext(base), "."))}
	h.name = byExtension(h.ext)
	if d := strings.ToLower(strings.TrimSpace(declared)); strings.Contains(d, "/") && !strings.Contains(d, "://") {
		t, _, _ := strings.Cut(d, ";")
		h.declared = strings.TrimSpace(t)
	} else if d != "" {
		h.declared = byExtension(strings.TrimPrefix(d, "."))
	}
	return h
}

func charsetParam(declared string) string {
	_, params, err := mime.ParseMediaType(declared)
	if err != nil {
		return ""
	}
	return params["charset"]
}

// says tells whether the name or the declaration stand for one of the types.
func (h hints) says(types ...string) bool {
	for _, t := range types {
		if h.name == t || h.declared == t {
			return true
		}
	}
	return false
}

// text is the kind of text that the name, or else the declaration, stands for, where content cannot tell; "" for none.
func (h hints) text() string {
	for _, t := range []string{h.name, h.declared} {
		if textKind(t) {
			return t
		}
	}
	return ""
}

// binary is the type that the name, or else the declaration, stands for, where it is one without a signature.
func (h hints) binary() string {
	for _, t := range []string{h.name, h.declared} {
		switch t {
		case "application/x-brotli", "application/zip", "application/msword", "application/octet-stream", "application/vnd.ms-excel", "application/x-lzma",
			"application/vnd.apache.parquet", "application/x-protobuf", "application/vnd.mapbox-vector-tile", "application/x-sas", "application/dicom",
			"application/x-r-data", "application/x-tar", "application/msaccess":
			return t
		}
	}
	return ""
}

// textKind tells whether a type is one of texts that look like any other.
func textKind(t string) bool {
	switch t {
	case "text/css", "text/javascript", "text/x-python", "text/x-c", "text/x-java", "text/x-shellscript", "text/x-r", "text/x-sql", "application/sql",
		"application/yaml", "application/toml", "text/x-perl", "text/x-ruby", "text/x-php", "text/x-lua", "text/x-tex", "text/x-rst", "text/x-diff",
		"text/vtt", "application/x-subrip", "text/x-log", "application/x-sh", "text/x-go", "text/x-rust", "text/x-scala", "text/x-fortran", "text/x-matlab",
		"text/n3", "text/x-ini", "application/x-httpd-php", "application/sparql-query", "text/shex", "text/x-pcaxis", "application/x-bibtex",
		"application/x-research-info-systems", "text/troff", "chemical/x-pdb", "text/x-arcgrid":
		return true
	}
	return false
}

// byExtension is the media type that a file name extension stands for; "" if it stands for none in particular.
func byExtension(ext string) string {
	switch ext {
	case "csv":
		return "text/csv"
	case "tsv", "tab":
		return "text/tab-separated-values"
	case "txt", "text", "asc", "md", "markdown", "readme":
		return "text/plain"
	case "html", "htm", "shtml", "asp", "aspx":
		return "text/html"
	case "xhtml", "xht":
		return "application/xhtml+xml"
	case "xml", "xsd", "xsl", "xslt":
		return "application/xml"
	case "json":
		return "application/json"
	case "geojson":
		return "application/geo+json"
	case "topojson":
		return "application/topo+json"
	case "jsonld":
		return "application/ld+json"
	case "ndjson", "jsonl":
		return "application/x-ndjson"
	case "rdf", "rdfxml":
		return "application/rdf+xml"
	case "owl":
		return "application/rdf+xml"
	case "ttl", "turtle":
		return "text/turtle"
	case "nt", "ntriples":
		return "application/n-triples"
	case "nq", "nquads":
		return "application/n-quads"
	case "trig":
		return "application/trig"
	case "n3":
		return "text/n3"
	case "trix":
		return "application/trix+xml"
	case "hdt":
		return "application/vnd.hdt"
	case "rq", "sparql":
		return "application/sparql-query"
	case "rss":
		return "application/rss+xml"
	case "atom":
		return "application/atom+xml"
	case "kml":
		return "application/vnd.google-earth.kml+xml"
	case "kmz":
		return "application/vnd.google-earth.kmz"
	case "gml":
		return "application/gml+xml"
	case "gpx":
		return "application/gpx+xml"
	case "svg":
		return "image/svg+xml"
	case "ics", "ical", "ifb":
		return "text/calendar"
	case "vcf", "vcard":
		return "text/vcard"
	case "eml":
		return "message/rfc822"
	case "mht", "mhtml":
		return "multipart/related"
	case "mbox":
		return "application/mbox"
	case "bib", "bibtex":
		return "application/x-bibtex"
	case "ris":
		return "application/x-research-info-systems"
	case "px":
		return "text/x-pcaxis"
	case "rtf":
		return "application/rtf"
	case "pdf":
		return "application/pdf"
	case "zip", "shp.zip":
		return "application/zip"
	case "gz", "tgz":
		return "application/gzip"
	case "br":
		return "application/x-brotli"
	case "lzma":
		return "application/x-lzma"
	case "tar":
		return "application/x-tar"
	case "doc", "dot":
		return "application/msword"
	case "xls", "xlt":
		return "application/vnd.ms-excel"
	case "ppt", "pps", "pot":
		return "application/vnd.ms-powerpoint"
	case "msg":
		return "application/vnd.ms-outlook"
	case "vsd":
		return "application/vnd.visio"
	case "xlsx":
		return "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	case "docx":
		return "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	case "pptx":
		return "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	case "ods":
		return "application/vnd.oasis.opendocument.spreadsheet"
	case "odt":
		return "application/vnd.oasis.opendocument.text"
	case "key":
		return "application/vnd.apple.keynote"
	case "numbers":
		return "application/vnd.apple.numbers"
	case "pages":
		return "application/vnd.apple.pages"
	case "epub":
		return "application/epub+zip"
	case "parquet":
		return "application/vnd.apache.parquet"
	case "mvt":
		return "application/vnd.mapbox-vector-tile"
	case "css":
		return "text/css"
	case "js", "mjs":
		return "text/javascript"
	case "py":
		return "text/x-python"
	case "c", "h", "cpp", "cc", "hpp":
		return "text/x-c"
	case "java":
		return "text/x-java"
	case "sh", "bash":
		return "text/x-shellscript"
	case "r":
		return "text/x-r"
	case "sql":
		return "application/sql"
	case "yaml", "yml":
		return "application/yaml"
	case "toml":
		return "application/toml"
	case "pl", "pm":
		return "text/x-perl"
	case "rb":
		return "text/x-ruby"
	case "php":
		return "text/x-php"
	case "lua":
		return "text/x-lua"
	case "tex", "latex":
		return "text/x-tex"
	case "rst":
		return "text/x-rst"
	case "diff", "patch":
		return "text/x-diff"
	case "vtt":
		return "text/vtt"
	case "srt":
		return "application/x-subrip"
	case "go":
		return "text/x-go"
	case "rs":
		return "text/x-rust"
	case "scala":
		return "text/x-scala"
	case "f", "f90", "for":
		return "text/x-fortran"
	case "ini", "cfg", "properties":
		return "text/x-ini"
	case "rdata", "rda", "rds":
		return "application/x-r-data"
	}
	return ""
}
