package rest

import "strings"

// types pairs extensions of open data with media types. The first extension of a type is the preferred one.
var types = []struct{ ext, mime string }{
	{"csv", "text/csv"}, {"tsv", "text/tab-separated-values"}, {"tab", "text/tab-separated-values"}, {"txt", "text/plain"},
	{"json", "application/json"}, {"geojson", "application/geo+json"}, {"topojson", "application/topo+json"},
	{"jsonl", "application/x-ndjson"}, {"ndjson", "application/x-ndjson"},
	{"xml", "application/xml"}, {"xml", "text/xml"}, {"kml", "application/vnd.google-earth.kml+xml"},
	{"kmz", "application/vnd.google-earth.kmz"}, {"gpx", "application/gpx+xml"}, {"gml", "application/gml+xml"},
	{"rss", "application/rss+xml"}, {"atom", "application/atom+xml"}, {"html", "text/html"}, {"htm", "text/html"},
	{"xhtml", "application/xhtml+xml"},
	{"ttl", "text/turtle"}, {"nt", "application/n-triples"}, {"nq", "application/n-quads"}, {"trig", "application/trig"},
	{"rdf", "application/rdf+xml"}, {"owl", "application/rdf+xml"}, {"jsonld", "application/ld+json"}, {"n3", "text/n3"},
	{"hdt", "application/vnd.hdt"},
	{"xls", "application/vnd.ms-excel"}, {"xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
	{"ods", "application/vnd.oasis.opendocument.spreadsheet"},
	{"doc", "application/msword"}, {"docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{"odt", "application/vnd.oasis.opendocument.text"},
	{"ppt", "application/vnd.ms-powerpoint"}, {"pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
	{"pdf", "application/pdf"}, {"rtf", "application/rtf"}, {"epub", "application/epub+zip"},
	{"zip", "application/zip"}, {"gz", "application/gzip"}, {"tar", "application/x-tar"}, {"bz2", "application/x-bzip2"},
	{"xz", "application/x-xz"}, {"7z", "application/x-7z-compressed"}, {"rar", "application/vnd.rar"},
	{"parquet", "application/vnd.apache.parquet"}, {"sqlite", "application/vnd.sqlite3"}, {"gpkg", "application/geopackage+sqlite3"},
	{"shp", "application/vnd.shp"}, {"dbf", "application/vnd.dbf"}, {"nc", "application/x-netcdf"},
	{"png", "image/png"}, {"jpg", "image/jpeg"}, {"jpeg", "image/jpeg"}, {"gif", "image/gif"}, {"tif", "image/tiff"},
	{"tiff", "image/tiff"}, {"svg", "image/svg+xml"},
	{"ics", "text/calendar"}, {"warc", "application/warc"}, {"md", "text/markdown"}, {"yaml", "application/yaml"},
	{"yml", "application/yaml"}, {"js", "text/javascript"}, {"css", "text/css"},
}

// MediaType reads a type as people write it: "text/csv", "CSV", ".csv". It returns "" for an unknown word.
func MediaType(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if strings.Contains(name, "/") {
		base, _, _ := strings.Cut(name, ";")
		return strings.TrimSpace(base)
	}
	name = strings.TrimPrefix(name, ".")
	for _, t := range types {
		if t.ext == name {
			return t.mime
		}
	}
	return ""
}

// ExtensionOf returns the preferred extension of a media type without a dot, or "" if none is known.
func ExtensionOf(mime string) string {
	for _, t := range types {
		if t.mime == mime {
			return t.ext
		}
	}
	return ""
}
