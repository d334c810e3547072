package quality

import "strings"

// format is a file format: whether anyone may implement it, and whether programs can extract data from it.
type format struct {
	name           string
	open, readable bool
}

// formats lists formats with the words that name them: extensions, media types (registered or in use), names. A format
// is open if it has a published standard that anyone may implement (Open Knowledge Foundation, "Open Data Handbook:
// File Formats"), and machine-readable if programs find its data without guessing.
var formats = []struct {
	format
	words string
}{
	{format{"CSV", true, true}, "csv text/csv text/comma-separated-values application/csv csv.zip csv.gz"},
	{format{"TSV", true, true}, "tsv tab text/tab-separated-values"},
	{format{"JSON", true, true}, "json application/json text/json jsonl ndjson application/x-ndjson json-lines application/jsonl"},
	{format{"GeoJSON", true, true}, "geojson application/geo+json application/vnd.geo+json topojson"},
	{format{"JSON-LD", true, true}, "jsonld json-ld json_ld application/ld+json"},
	{format{"XML", true, true}, "xml application/xml text/xml"},
	{format{"RDF/XML", true, true}, "rdf rdfxml rdf/xml rdf_xml rdf-xml application/rdf+xml owl"},
	{format{"Turtle", true, true}, "ttl turtle rdf_turtle rdf-turtle text/turtle application/x-turtle"},
	{format{"N-Triples", true, true}, "nt n-triples ntriples rdf_n_triples application/n-triples"},
	{format{"N-Quads", true, true}, "nq n-quads rdf_n_quads application/n-quads"},
	{format{"TriG", true, true}, "trig rdf_trig application/trig"},
	{format{"N3", true, true}, "n3 text/n3"},
	{format{"HTML", true, false}, "html htm xhtml text/html application/xhtml+xml"},
	{format{"TXT", true, false}, "txt text text/plain asc"},
	{format{"ODS", true, true}, "ods application/vnd.oasis.opendocument.spreadsheet"},
	{format{"ODT", true, false}, "odt application/vnd.oasis.opendocument.text"},
	{format{"ODP", true, false}, "odp application/vnd.oasis.opendocument.presentation"},
	{format{"XLSX", true, true}, "xlsx application/vnd.openxmlformats-officedocument.spreadsheetml.sheet excelx"},
	{format{"DOCX", true, false}, "docx application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
	{format{"PPTX", true, false}, "pptx application/vnd.openxmlformats-officedocument.presentationml.presentation"},
	{format{"XLS", false, true},
		"xls excel xlsm xlsb application/vnd.ms-excel application/msexcel application/excel application/x-msexcel"},
	{format{"DOC", false, false}, "doc word application/msword"},
	{format{"PPT", false, false}, "ppt application/vnd.ms-powerpoint"},
	{format{"PDF", true, false}, "pdf application/pdf pdfa1a pdfa1b pdf/a"},
	{format{"RTF", false, false}, "rtf application/rtf text/rtf"},
	{format{"KML", true, true}, "kml application/vnd.google-earth.kml+xml"},
	{format{"KMZ", true, true}, "kmz application/vnd.google-earth.kmz"},
	{format{"GML", true, true}, "gml application/gml+xml"},
	{format{"GPX", true, true}, "gpx application/gpx+xml"},
	{format{"Shapefile", true, true}, "shp shapefile shape esri-shapefile esri_shapefile application/x-shapefile application/vnd.shp"},
	{format{"GeoPackage", true, true}, "gpkg geopackage application/geopackage+sqlite3"},
	{format{"GeoTIFF", true, true}, "geotiff image/geotiff"},
	{format{"WMS", true, true}, "wms wms_srvc ogc:wms"},
	{format{"WFS", true, true}, "wfs wfs_srvc ogc:wfs"},
	{format{"WMTS", true, true}, "wmts wmts_srvc"},
	{format{"SPARQL", true, true},
		"sparql sparqlq sparqlqres application/sparql-query application/sparql-results+json application/sparql-results+xml"},
	{format{"NetCDF", true, true}, "nc netcdf net_cdf application/x-netcdf application/netcdf"},
	{format{"HDF", true, true}, "hdf hdf5 h5 application/x-hdf application/x-hdf5"},
	{format{"Parquet", true, true}, "parquet application/vnd.apache.parquet application/parquet"},
	{format{"Arrow", true, true}, "arrow feather ipc application/vnd.apache.arrow.file application/vnd.apache.arrow.stream"},
	{format{"ORC", true, true}, "orc application/vnd.apache.orc"},
	{format{"Avro", true, true}, "avro application/vnd.apache.avro+binary application/avro"},
	{format{"SQLite", true, true}, "sqlite sqlite3 db application/vnd.sqlite3 application/x-sqlite3"},
	{format{"DBF", false, true}, "dbf application/dbase application/x-dbf application/vnd.dbf"},
	{format{"Access", false, true}, "mdb accdb application/msaccess application/x-msaccess"},
	{format{"SPSS", false, true}, "sav zsav por spss application/x-spss-sav application/x-spss-por"},
	{format{"Stata", false, true}, "dta stata application/x-stata application/x-stata-dta"},
	{format{"SAS", false, true}, "sas7bdat xpt sas application/x-sas application/x-sas-data application/x-sas-xport"},
	{format{"R", true, true}, "rdata rda rds application/x-r-data"},
	{format{"PC-Axis", true, true}, "px pc-axis text/x-pcaxis"},
	{format{"SDMX", true, true}, "sdmx application/vnd.sdmx.structurespecificdata+xml application/vnd.sdmx.genericdata+xml"},
	{format{"GTFS", true, true}, "gtfs gtfs-rt"},
	{format{"iCalendar", true, true}, "ics ical icalendar text/calendar"},
	{format{"RSS", true, true}, "rss application/rss+xml"},
	{format{"Atom", true, true}, "atom application/atom+xml"},
	{format{"YAML", true, true}, "yaml yml application/yaml text/yaml application/x-yaml"},
	{format{"SQL", true, true}, "sql application/sql text/x-sql"},
	{format{"ZIP", true, false}, "zip application/zip application/x-zip-compressed application/x-zip"},
	{format{"GZIP", true, false}, "gz gzip tgz tar.gz application/gzip application/x-gzip"},
	{format{"BZIP2", true, false}, "bz2 bzip2 application/x-bzip2"},
	{format{"XZ", true, false}, "xz application/x-xz"},
	{format{"TAR", true, false}, "tar application/x-tar"},
	{format{"7z", true, false}, "7z application/x-7z-compressed"},
	{format{"RAR", false, false}, "rar application/vnd.rar application/x-rar-compressed application/x-rar"},
	{format{"PNG", true, false}, "png image/png"},
	{format{"JPEG", true, false}, "jpg jpeg jpe image/jpeg"},
	{format{"GIF", true, false}, "gif image/gif"},
	{format{"TIFF", true, false}, "tif tiff image/tiff"},
	{format{"SVG", true, false}, "svg image/svg+xml"},
	{format{"WebP", true, false}, "webp image/webp"},
	{format{"JPEG 2000", true, false}, "jp2 image/jp2 ecw"},
	{format{"DXF", true, true}, "dxf image/vnd.dxf"},
	{format{"DWG", false, false}, "dwg image/vnd.dwg"},
	{format{"LAS", true, true}, "las laz application/vnd.las application/vnd.laszip"},
	{format{"MP3", true, false}, "mp3 audio/mpeg"},
	{format{"WAV", true, false}, "wav audio/wav audio/x-wav"},
	{format{"MP4", true, false}, "mp4 video/mp4"},
	{format{"EPUB", true, false}, "epub application/epub+zip"},
	{format{"binary", false, false}, "bin application/octet-stream"},
}

var byWord = words()

func words() map[string]format {
	all := map[string]format{}
	for _, f := range formats {
		for _, word := range append(strings.Fields(f.words), strings.ToLower(f.name)) {
			all[word] = f.format
		}
	}
	return all
}

// formatOf returns the format of a declaration: "CSV", ".csv", "text/csv; charset=utf-8", or the IRI of a file type in
// the EU's authority list or of a media type in IANA's registry. A media type that is not in the table but has a
// registered type counts as known, neither open nor readable.
func formatOf(s string) (format, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if _, rest, ok := strings.Cut(s, "/media-types/"); ok {
		s = rest
	} else if _, rest, ok := strings.Cut(s, "/file-type/"); ok {
		s = rest
	} else if _, rest, ok := strings.Cut(s, "/terms/mediatypes/"); ok {
		s = rest
	} else if strings.Contains(s, "://") {
		s = s[strings.LastIndexAny(s, "/#")+1:]
	}
	s, _, _ = strings.Cut(s, ";")
	s = strings.TrimPrefix(strings.TrimSpace(s), ".")
	if f, ok := byWord[s]; ok {
		return f, true
	}
	if f, ok := byWord[strings.ReplaceAll(s, " ", "-")]; ok {
		return f, true
	}
	top, sub, ok := strings.Cut(s, "/")
	switch top {
	case "application", "audio", "font", "image", "message", "model", "multipart", "text", "video":
		return format{name: s}, ok && sub != "" && !strings.ContainsAny(sub, " /") && !strings.HasPrefix(sub, "x-")
	}
	return format{}, false
}

// sameFormat reports whether one of the declared formats is the detected one, or a special case of it.
func sameFormat(declared []string, found string) bool {
	f, _ := formatOf(found)
	for _, d := range declared {
		g, ok := formatOf(d)
		if ok && g.name == f.name {
			return true
		}
		switch {
		case f.name == "ZIP" && (g.name == "Shapefile" || g.name == "GTFS"), // these are zip files
			f.name == "JSON" && (g.name == "GeoJSON" || g.name == "JSON-LD"), f.name == "GeoJSON" && g.name == "JSON",
			f.name == "XML" &&
				(g.name == "KML" || g.name == "GML" || g.name == "GPX" || g.name == "SDMX" || g.name == "RSS" || g.name == "Atom"),
			g.name == "XML" &&
				(f.name == "KML" || f.name == "GML" || f.name == "GPX" || f.name == "RDF/XML" || f.name == "RSS" || f.name == "Atom"),
			f.name == "TIFF" && g.name == "GeoTIFF":
			return true
		}
	}
	return false
}
