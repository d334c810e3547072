package discover

import (
	"bytes"
	"context"
	"mime"
	"net/url"
	"path"
	"strings"

	"odarchive/crawler/inspect/detect"

	"golang.org/x/net/publicsuffix"
)

// certain returns why a link is a data file that need not be asked for, "" if that is not known. What its extension
// shows is a file; otherwise the answers of its group decide: links that look alike and name the same kind of format.
func (w *walk) certain(l *link) string {
	if l.file >= 1 {
		return "its address shows a " + strings.ToUpper(l.format) + " file"
	}
	if l.file < sureEnough || l.format == "" {
		return ""
	}
	t := w.groups[groupOf(l)]
	if t.Data < probes || float64(t.Data+1)/float64(t.Data+t.Other+1) < precise {
		return ""
	}
	if (t.Data+t.Other)%recheck == 0 { // the group is judged again from time to time
		return ""
	}
	return "its anchor names a " + strings.ToUpper(l.format) + " file, as did others that were"
}

const (
	sureEnough = 0.5  // confidence of the helper that lets a group be trusted
	probes     = 3    // answers that a group needs before it is trusted
	precise    = 0.97 // share of data among them
	recheck    = 50
)

// groupOf returns the group of links that answer alike: the same shape of address, and a format named or not. An
// archive may hold anything, so these are a group of their own.
func groupOf(l *link) uint64 {
	shape, _, _ := shapeOf(l.url)
	switch l.format {
	case "":
		return hash(shape, "unnamed")
	case "zip", "gz", "tgz", "bz2", "xz", "7z", "rar", "tar", "zst":
		return hash(shape, "archive")
	}
	return hash(shape, "named")
}

// wait keeps a link that is taken as soon as its group is trusted.
func (w *walk) wait(l *link) {
	if g := groupOf(l); len(w.waiting) < maxGroups && len(w.waiting[g]) < maxQueue {
		w.waiting[g] = append(w.waiting[g], l)
	}
}

// takeWaiting takes the links of a group that is trusted now.
func (w *walk) takeWaiting(g uint64) error {
	for i, l := range w.waiting[g] {
		if l.done {
			continue
		}
		why := w.certain(l)
		if why == "" {
			w.waiting[g] = w.waiting[g][i:]
			return nil
		}
		l.done = true
		if l.from != noPage {
			w.pages[l.from].files++
		}
		if err := w.take(l, l.from, why); err != nil {
			return err
		}
	}
	delete(w.waiting, g)
	return nil
}

// judged records what a link that may be a file turned out to be.
func (w *walk) judged(l *link, data bool) error {
	g := groupOf(l)
	t := w.groups[g]
	if data {
		t.Data++
	} else {
		t.Other++
	}
	if len(w.groups) < maxGroups || t.Data+t.Other > 1 {
		w.groups[g] = t
	}
	return w.takeWaiting(g)
}

const maxGroups = 5000

// dataTypes are media types of data; pages and documents are not.
var dataTypes = strings.Fields(
	"text/csv text/tab-separated-values application/json application/geo+json application/x-ndjson application/ld+json application/xml " +
		"text/xml " +
		"application/zip application/gzip application/x-7z-compressed application/vnd.ms-excel " +
		"application/vnd.oasis.opendocument.spreadsheet " +
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet application/vnd.google-earth.kml+xml " +
		"application/vnd.google-earth.kmz " +
		"application/gml+xml application/rdf+xml text/turtle application/n-triples application/n-quads application/trig " +
		"application/vnd.apache.parquet " +
		"application/geopackage+sqlite3 application/vnd.sqlite3 application/x-netcdf " +
		"application/x-hdf application/x-hdf5 application/dbf " +
		"application/vnd.shp " +
		"application/vnd.ms-excel.sheet.binary.macroenabled.12 application/vnd.ms-excel.sheet.macroenabled.12 application/topo+json " +
		"application/gpx+xml")

// isData reports whether an answer that is not a page is a file of data. Its declared type counts if it says anything,
// else its name, else its beginning.
func isData(ctx context.Context, a answer) bool {
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	name := fileName(a)
	switch ext := strings.TrimPrefix(path.Ext(strings.ToLower(name)), "."); {
	case strings.Contains(otherNames, " "+ext+" ") && ext != "":
		return false
	case isOneOf(kind):
		return !listOfPages(a.Body)
	case kind != "" && kind != "application/octet-stream" && kind != "text/plain" && kind != "application/force-download" &&
		kind != "application/download" && kind != "binary/octet-stream" && kind != "application/x-download":
		return false
	case strings.Contains(dataNames, " "+ext+" ") && ext != "":
		return true
	}
	found, err := detect.File(ctx, detect.Input{Body: bytes.NewReader(a.Body), Size: int64(len(a.Body)), Name: name, Declared: kind})
	return err == nil && (isOneOf(found.Type) || found.Tabular)
}

const (
	dataNames = " csv tsv tab xls xlsx xlsm xlsb ods json jsonl ndjson geojson topojson xml rdf ttl nt nq trig jsonld kml kmz shp gpkg " +
		"gml gpx dbf parquet sqlite zip gz 7z "
	otherNames = " pdf doc docx odt rtf ppt pptx odp epub jpg jpeg png gif svg webp mp3 mp4 avi mov js css html htm ics vcf exe "
)

func isOneOf(kind string) bool {
	for _, t := range dataTypes {
		if t == kind {
			return true
		}
	}
	return false
}

// listOfPages reports whether XML is a feed or sitemap, which is no data of the site.
func listOfPages(body []byte) bool {
	head := body[:min(len(body), 1024)]
	for _, root := range []string{"<rss", "<feed", "<urlset", "<sitemapindex", "<rdf:RDF xmlns=\"http://purl.org/rss"} {
		if bytes.Contains(head, []byte(root)) {
			return true
		}
	}
	return false
}

// fileName returns the name that an answer gives its file, "" if none.
func fileName(a answer) string {
	if _, params, err := mime.ParseMediaType(a.Header.Get("Content-Disposition")); err == nil && params["filename"] != "" {
		return path.Base(params["filename"])
	}
	if u, err := url.Parse(a.URL); err == nil {
		return path.Base(u.Path)
	}
	return ""
}

// registered returns the registered domain of a host, or the host if it has none.
func registered(host string) string {
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil && strings.Trim(host, "0123456789.") != "" {
		return domain
	}
	return host
}
