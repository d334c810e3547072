package crawler

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"odarchive/crawler/detect"
	"odarchive/crawler/fetch"
	"odarchive/crawler/frontier"
)

// htmlFormats are the declared formats and endings that a page may well stand behind.
var htmlFormats = []string{"", "html", "htm", "xhtml", "text/html", "application/xhtml+xml", "php", "asp", "aspx", "jsp", "do", "api", "web", "website", "link", "url"}

// soft404 says why a page of HTML is no file but an error page with a good status: data was promised. "" where it is not.
func soft404(job frontier.Job, ex *fetch.Exchange, found detect.Detection) string {
	if found.Type != "text/html" && found.Type != "application/xhtml+xml" {
		return ""
	}
	address, _, _ := strings.Cut(job.URL, "?")
	promises := []string{job.Seed.Format, job.Seed.MediaType, strings.TrimPrefix(path.Ext(address), ".")}
	for _, p := range promises {
		if p = strings.ToLower(strings.TrimSpace(p)); !slices.Contains(htmlFormats, p) && len(p) <= 80 && isFormat(p) {
			return fmt.Sprintf("an HTML page was served where %s was promised", p)
		}
	}
	return ""
}

// isFormat tells a data format's name from any other word that may stand at the end of an address.
func isFormat(p string) bool {
	if strings.Contains(p, "/") {
		return !strings.Contains(p, "html")
	}
	return slices.Contains([]string{"csv", "tsv", "json", "geojson", "xml", "xlsx", "xls", "ods", "zip", "gz", "pdf", "rdf", "ttl", "nt", "nq", "jsonld",
		"kml", "kmz", "gpx", "shp", "gml", "txt", "doc", "docx", "parquet", "sqlite", "gpkg", "7z", "rar", "px", "dbf"}, p)
}
