package describe

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
)

const (
	// sitemapAim is how many files a part of the sitemap has on average. The protocol allows 50,000 addresses, and a
	// file can add that of its dataset.
	sitemapAim = 20_000
	sitemapMax = 50_000
	idDigits   = 24 // hexadecimal digits of a resource's id
)

// Sitemap answers GET /sitemap.xml (sitemaps.org): the pages of all files with a version, and of their datasets, each
// with the time of its last change. A large archive has an index instead. Its parts are the files whose ids begin with
// the same digits; ids are hashes, so that the parts have about the same size, and a file always stays in one part
// until the archive is sixteen times larger. A dataset whose files are in several parts is in each of them.
func (l *LinkedData) Sitemap(w http.ResponseWriter, r *http.Request) error {
	part := strings.ToLower(r.URL.Query().Get("part"))
	if part != "" && (len(part) > 6 || strings.Trim(part, "0123456789abcdef") != "") {
		return problem.Newf(http.StatusBadRequest, "Bad parameter", "part=%.20q is not a part of the sitemap; /sitemap.xml lists them",
			part)
	}
	stats, err := l.o.Archive.Stats(r.Context())
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/xml; charset=utf-8")
	h.Set("Cache-Control", "public, max-age=3600")
	out := bufio.NewWriter(w)
	if digits := sitemapDigits(stats.Crawled); part == "" && digits > 0 {
		l.sitemapIndex(out, digits)
	} else if err := l.sitemapPart(r, out, part); err != nil {
		return err
	}
	_ = out.Flush() // an error means that the client has left
	return nil
}

// SitemapAddress returns the address of the sitemap, for robots.txt.
func (l *LinkedData) SitemapAddress() string { return l.o.Mint.Base + "sitemap.xml" }

// sitemapDigits returns how many digits the name of a part has, 0 if one sitemap holds everything.
func sitemapDigits(files int) (digits int) {
	for parts := 1; files > parts*sitemapAim && digits < 4; parts *= 16 {
		digits++
	}
	return digits
}

func (l *LinkedData) sitemapIndex(out io.Writer, digits int) {
	fmt.Fprint(out, xml.Header+`<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`+"\n")
	for i := range 1 << (4 * digits) {
		fmt.Fprintf(out, "<sitemap><loc>%s?part=%0*x</loc></sitemap>\n", escaped(l.o.Mint.Base+"sitemap.xml"), digits, i)
	}
	fmt.Fprint(out, "</sitemapindex>\n")
}

// sitemapPart writes the addresses of the files whose ids begin with part.
func (l *LinkedData) sitemapPart(r *http.Request, out io.Writer, part string) error {
	fmt.Fprint(out, xml.Header+`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`+"\n")
	written := 0
	datasets := map[string]bool{}
	entry := func(address string, changed time.Time) {
		fmt.Fprintf(out, "<url><loc>%s</loc>", escaped(l.o.Mint.Page(address)))
		if !changed.IsZero() {
			fmt.Fprintf(out, "<lastmod>%s</lastmod>", changed.UTC().Format(time.RFC3339))
		}
		fmt.Fprint(out, "</url>\n")
		written++
	}
	err := l.o.Archive.Archived(r.Context(), before(part), func(f catalog.Resource) bool {
		if !strings.HasPrefix(f.ID, part) {
			return false
		}
		entry(f.URL, f.Changed)
		if len(f.Datasets) > 0 && !datasets[f.Datasets[0]] {
			datasets[f.Datasets[0]] = true
			entry(f.Datasets[0], time.Time{}) // its other files may have changed later
		}
		return written+2 <= sitemapMax
	})
	fmt.Fprint(out, "</urlset>\n")
	return err
}

// before returns the last id before those that begin with part.
func before(part string) string {
	n, err := strconv.ParseUint(part, 16, 64)
	if err != nil || n == 0 {
		return ""
	}
	last := fmt.Sprintf("%0*x", len(part), n-1)
	return last + strings.Repeat("f", idDigits-len(part))
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder does not fail
	return b.String()
}
