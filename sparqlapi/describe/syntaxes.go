package describe

import (
	"net/url"
	"strings"
)

// ianaType returns the IRI of a registered media type, for dcat:mediaType in DCAT-AP 3, or "".
func ianaType(mime string) string {
	kind, name, ok := strings.Cut(mime, "/")
	if !ok || kind == "" || name == "" || strings.HasPrefix(name, "x-") {
		return ""
	}
	return "https://www.iana.org/assignments/media-types/" + url.PathEscape(kind) + "/" + url.PathEscape(name)
}

// euFormat returns the IRI of a media type in the EU's file type authority table, for dct:format in DCAT-AP 3, or "".
func euFormat(mime string) string {
	code, ok := map[string]string{
		"text/csv": "CSV", "text/tab-separated-values": "TSV", "text/plain": "TXT", "text/html": "HTML", "application/xhtml+xml": "XHTML",
		"application/json": "JSON", "application/geo+json": "GEOJSON", "application/ld+json": "JSON_LD", "application/xml": "XML",
		"text/xml":    "XML",
		"text/turtle": "RDF_TURTLE", "application/rdf+xml": "RDF_XML", "application/n-triples": "RDF_N_TRIPLES",
		"application/n-quads": "RDF_N_QUADS", "application/trig": "RDF_TRIG",
		"application/pdf": "PDF", "application/zip": "ZIP", "application/gzip": "GZIP", "application/vnd.ms-excel": "XLS",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "XLSX",
		"application/vnd.oasis.opendocument.spreadsheet":                    "ODS",
		"application/msword": "DOC", "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "DOCX",
		"application/vnd.google-earth.kml+xml": "KML", "application/vnd.google-earth.kmz": "KMZ", "application/gml+xml": "GML",
		"application/gpx+xml": "GPX",
		"application/vnd.shp": "SHP", "application/vnd.dbf": "DBF", "application/geopackage+sqlite3": "GPKG",
		"application/topo+json": "TOPOJSON", "application/vnd.sqlite3": "SQLITE",
		"image/png": "PNG", "image/jpeg": "JPEG", "image/tiff": "TIFF", "image/svg+xml": "SVG", "application/octet-stream": "BIN",
		"application/vnd.apache.parquet": "PARQUET",
	}[mime]
	if !ok {
		return ""
	}
	return "http://publications.europa.eu/resource/authority/file-type/" + code
}
