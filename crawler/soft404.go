package crawler

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"odarchive/crawler/frontier"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/web/fetch"
)

// htmlFormats are the declared formats and endings that a page may well stand behind.
var htmlFormats = []string{"", "html", "htm", "xhtml", "text/html", "application/xhtml+xml", "php", "asp", "aspx", "jsp", "do", "api", "web", "website", "link", "url"}

// soft404 says why a page of HTML is no file but an error page with a good status: data was promised. "" where it is not.
func soft404(job frontier.Job, found detect.Detection) string {
	if !isPage(found.Type) {
		return ""
	}
	for _, p := range promises(job) {
		if !strings.Contains(p, "html") {
			return fmt.Sprintf("an HTML page was served where %s was promised", p)
		}
	}
	return ""
}

func isPage(mediaType string) bool {
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}

// promises are the data formats that a URL's source and its ending name.
func promises(job frontier.Job) (formats []string) {
	address, _, _ := strings.Cut(job.URL, "?")
	for _, p := range []string{job.Format, job.MediaType, strings.TrimPrefix(path.Ext(address), ".")} {
		if p = strings.ToLower(strings.TrimSpace(p)); !slices.Contains(htmlFormats, p) && len(p) <= 80 && isFormat(p) {
			formats = append(formats, p)
		}
	}
	return formats
}

// isFormat tells a data format's name from any other word that may stand at the end of an address.
func isFormat(p string) bool {
	if strings.Contains(p, "/") {
		return !strings.Contains(p, "html")
	}
	return slices.Contains([]string{"csv", "tsv", "json", "geojson", "xml", "xlsx", "xls", "ods", "zip", "gz", "pdf", "rdf", "ttl", "nt", "nq", "jsonld",
		"kml", "kmz", "gpx", "shp", "gml", "txt", "doc", "docx", "parquet", "sqlite", "gpkg", "7z", "rar", "px", "dbf"}, p)
}

// Under how many URLs of a host the same bytes are taken for an error page, and how long one may be that is no HTML.
const (
	sameUnder      = 3
	longestNotice  = 16 << 10
	longestMessage = 2 << 10 // in a format that data have too
)

// sameError says why bytes are an error page that a host gives for many of its URLs, "" where they are none.
//
// The same bytes under many URLs are nothing odd by themselves: portals list one file several times, and hosts keep copies.
// So bytes that are data keep all their URLs, however many; only what says nothing of its own does not: a page, or a
// short text that is no table and either is not what was promised or speaks of an error.
func (p *Pipeline) sameError(ctx context.Context, job frontier.Job, ex *fetch.Exchange, found detect.Detection) (why string, err error) {
	head, err := ex.Body.Head(longestNotice)
	if err != nil {
		return "", err
	}
	if !isPage(found.Type) && !isNotice(job, found, head, ex.Body.Size()) {
		return "", nil
	}
	others, err := p.Archive.SameBytes(ctx, job.URL, ex.Body.Digests().SHA256, sameUnder-1)
	if err != nil || others < sameUnder-1 {
		return "", err
	}
	return fmt.Sprintf("%d or more URLs of this host give these same bytes of %s: an error page", sameUnder, found.Type), nil
}

// isNotice tells a short text about a file from the file.
func isNotice(job frontier.Job, found detect.Detection, head []byte, size int64) bool {
	if size > longestNotice || found.Tabular && found.Confidence > 0.6 {
		return false
	}
	switch found.Type {
	case "text/plain", "text/csv", "text/tab-separated-values":
		formats := promises(job)
		return len(formats) > 0 && !slices.Contains(formats, "txt") && !slices.Contains(formats, "text/plain") && !found.Tabular || speaksOfError(head)
	}
	message := strings.HasSuffix(found.Type, "json") || strings.HasSuffix(found.Type, "xml")
	return message && size <= longestMessage && speaksOfError(head)
}

// speaksOfError looks for the words with which servers say that there is no file, in the larger languages of Europe.
func speaksOfError(text []byte) bool {
	text = bytes.ToLower(text)
	for _, word := range []string{"error", "exception", "not found", "notfound", "not be found", "no longer", "no such", "does not exist", "not available", "unavailable", "denied", "forbidden",
		"unauthorized", "unauthorised", "expired", "try again", "maintenance", "invalid", "fehler", "nicht gefunden", "nicht verfügbar", "wartung", "erreur",
		"introuvable", "indisponible", "no encontrad", "no disponible", "errore", "non trovat", "non disponibile", "não encontrad", "niet gevonden",
		"nie znaleziono", "nenalezen"} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}
