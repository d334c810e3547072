package crawler

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/fetch"
)

// htmlFormats are the declared formats and extensions that do not promise anything but a page.
var htmlFormats = []string{"", "html", "htm", "xhtml", "text/html", "application/xhtml+xml", "php", "asp", "aspx", "jsp", "do", "api",
	"web", "website", "link", "url"}

// soft404 returns why an HTML page is an error page in spite of its status: data was promised. It returns "" if it is
// not.
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

// promises returns the data formats that a URL's source declares and its extension names.
func promises(job frontier.Job) (formats []string) {
	address, _, _ := strings.Cut(job.URL, "?")
	for _, p := range []string{job.Format, job.MediaType, strings.TrimPrefix(path.Ext(address), ".")} {
		if p = strings.ToLower(strings.TrimSpace(p)); !slices.Contains(htmlFormats, p) && len(p) <= 80 && isFormat(p) {
			formats = append(formats, p)
		}
	}
	return formats
}

// isFormat reports whether p, a declared format or an extension, names a data format.
func isFormat(p string) bool {
	if strings.Contains(p, "/") {
		return !strings.Contains(p, "html")
	}
	return slices.Contains([]string{"csv", "tsv", "json", "geojson", "xml", "xlsx", "xls", "ods", "zip", "gz", "pdf", "rdf", "ttl", "nt",
		"nq", "jsonld",
		"kml", "kmz", "gpx", "shp", "gml", "txt", "doc", "docx", "parquet", "sqlite", "gpkg", "7z", "rar", "px", "dbf"}, p)
}

const (
	sameURLs   = 3        // so many URLs of a host with the same bytes make them an error page
	maxNotice  = 16 << 10 // bytes of an error page that is text
	maxMessage = 2 << 10  // bytes of one in JSON or XML, which are formats of data too
)

// sameError returns why a body is an error page that a host serves for many of its URLs, "" if it is not.
//
// The same bytes under many URLs are normal: portals list one file several times, and hosts keep copies. So data keeps
// all its URLs. Only a body without content of its own is an error page: an HTML page, or a short text that is not a
// table and either is not what was promised or contains words of an error.
func (p *Pipeline) sameError(ctx context.Context, job frontier.Job, before before, ex *fetch.Exchange, found detect.Detection) (why string,
	err error) {
	head, err := ex.Body.Head(maxNotice)
	if err != nil {
		return "", err
	}
	if !isPage(found.Type) && !isNotice(job, found, head, ex.Body.Size()) {
		return "", nil
	}
	others, err := before.sameBytes(ctx, job.URL, ex.Body.Digests().SHA256, sameURLs-1)
	if err != nil || others < sameURLs-1 {
		return "", err
	}
	return sameErrorWhy(found.Type), nil
}

func sameErrorWhy(mediaType string) string {
	return fmt.Sprintf("%d or more URLs of this host give these same bytes of %s: an error page", sameURLs, mediaType)
}

// isNotice reports whether a body is a short text about the file instead of the file.
func isNotice(job frontier.Job, found detect.Detection, head []byte, size int64) bool {
	if size > maxNotice || found.Tabular && found.Confidence > 0.6 {
		return false
	}
	switch found.Type {
	case "text/plain", "text/csv", "text/tab-separated-values":
		formats := promises(job)
		return len(formats) > 0 && !slices.Contains(formats, "txt") && !slices.Contains(formats, "text/plain") && !found.Tabular ||
			speaksOfError(head)
	}
	message := found.Type == "text/markdown" || strings.HasSuffix(found.Type, "json") || strings.HasSuffix(found.Type, "xml")
	return message && size <= maxMessage && speaksOfError(head)
}

// speaksOfError reports whether a text contains words, in the larger languages of Europe, with which servers say that
// they have no such file.
func speaksOfError(text []byte) bool {
	text = bytes.ToLower(text)
	for _, word := range []string{"error", "exception", "not found", "notfound", "not be found", "no longer", "no such", "does not exist",
		"not available", "unavailable", "denied", "forbidden",
		"unauthorized", "unauthorised", "expired", "try again", "maintenance", "invalid", "fehler", "nicht gefunden", "nicht verfügbar",
		"wartung", "erreur",
		"introuvable", "indisponible", "no encontrad", "no disponible", "errore", "non trovat", "non disponibile", "não encontrad",
		"niet gevonden",
		"nie znaleziono", "nenalezen"} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}
