package sitemap

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/rdfio"

	"golang.org/x/net/html/charset"
)

// Entry is a page or file that a sitemap lists, as declared.
type Entry struct {
	URL       string
	Modified  string
	Frequency string // "daily"
	Title     string
	MediaType string
}

// list receives the content of a document.
type list struct {
	entry   func(Entry) error
	sitemap func(address string) error
}

const (
	maxBody    = 64 << 20  // bytes of a sitemap as received
	maxOpened  = 256 << 20 // bytes of a sitemap when decompressed
	maxToken   = 1 << 20   // bytes between two angle brackets
	maxEntries = 1_000_000 // per document; the protocol allows 50,000
)

var (
	errNoSitemap = errors.New("it is neither a sitemap nor a feed nor a list of addresses")
	errTooMany   = fmt.Errorf("it lists more than %d addresses", maxEntries)
)

// parse reads a sitemap, an index of sitemaps, a feed (RSS, Atom), a robots.txt or a list of addresses, which may be
// compressed. With an error, everything before the fault has been handed over.
func parse(body []byte, found list) error {
	opened, err := (rdfio.Decompression{Max: maxOpened}).Open(bytes.NewReader(body), "")
	if err != nil {
		return err
	}
	defer opened.Close()
	in := bufio.NewReaderSize(&guard{r: opened}, 64<<10)
	head, _ := in.Peek(4096) // shorter if the document is
	n := 0
	counted := list{entry: func(e Entry) error {
		if n++; n > maxEntries {
			return errTooMany
		}
		return found.entry(e)
	}, sitemap: found.sitemap}
	text := strings.ToLower(string(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))))
	switch {
	case harvest.LooksLikeHTML([]byte(text)):
		return errors.New("it is an HTML page")
	case strings.HasPrefix(text, "<") || bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return readXML(in, head, counted)
	case strings.Contains(text, "user-agent:") || strings.Contains(text, "sitemap:"):
		return readRobots(in, counted)
	case strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://"):
		return readLines(in, counted)
	}
	return errNoSitemap
}

// guard limits the length of tokens and replaces bytes that XML excludes.
type guard struct {
	r     io.Reader
	token int
}

var errToken = fmt.Errorf("there are more than %d bytes without a tag", maxToken)

func (g *guard) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	for i, b := range p[:n] {
		switch {
		case b == '<' || b == '>' || b == '\n':
			g.token = 0
		case b < ' ' && b != '\t' && b != '\r' && b != 0: // zero may be half of a UTF-16 character
			p[i] = ' '
		default:
			if g.token++; g.token > maxToken {
				return 0, errToken
			}
		}
	}
	return n, err
}

// readXML reads raw tokens: it keeps no stack of open elements, which could grow, and knows only the usual entities.
func readXML(in *bufio.Reader, head []byte, found list) error {
	var r io.Reader = in
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		decoded, err := charset.NewReader(in, "text/xml")
		if err != nil {
			return err
		}
		r = decoded
	}
	dec := xml.NewDecoder(r)
	dec.Strict, dec.Entity = false, xml.HTMLEntity
	dec.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if strings.HasPrefix(strings.ToLower(label), "utf-16") || strings.HasPrefix(strings.ToLower(label), "ucs") {
			return in, nil // it has been decoded, or is not really UTF-16
		}
		return charset.NewReaderLabel(label, in)
	}
	w := walker{found: found}
	for {
		t, err := dec.RawToken()
		switch {
		case errors.Is(err, io.EOF) && !w.known:
			return errNoSitemap
		case errors.Is(err, io.EOF):
			return errors.New("it breaks off")
		case err != nil:
			return fmt.Errorf("broken XML: %w", err)
		}
		if done, err := w.token(t); done || err != nil {
			return err
		}
	}
}

// walker collects one entry at a time.
type walker struct {
	found list
	known bool   // the root element is known
	root  string // name of the root element
	open  int    // 1 inside an entry
	field string // element whose text is being read
	e     Entry
	text  strings.Builder
}

func (w *walker) token(t xml.Token) (done bool, err error) {
	switch t := t.(type) {
	case xml.StartElement:
		return false, w.start(t)
	case xml.EndElement:
		return w.end(t.Name.Local)
	case xml.CharData:
		if w.field != "" && w.text.Len()+len(t) <= maxToken {
			w.text.Write(t)
		}
	}
	return false, nil
}

func (w *walker) start(t xml.StartElement) error {
	name := strings.ToLower(t.Name.Local)
	if !w.known {
		switch name {
		case "urlset", "sitemapindex", "rss", "rdf", "feed":
			w.known, w.root = true, name
			return nil
		}
		return errNoSitemap
	}
	switch name {
	case "url", "sitemap", "item", "entry":
		w.e, w.open, w.field = Entry{}, 1, ""
		return nil
	}
	if w.open == 0 || (t.Name.Space != "" && !w.own(t.Name.Space)) {
		return nil // image:loc, video:title and the like
	}
	switch name {
	case "loc", "lastmod", "changefreq", "title", "pubdate", "updated", "date":
		w.begin(name)
	case "link":
		if href := attribute(t, "href"); href != "" { // Atom
			if rel := attribute(t, "rel"); rel == "enclosure" {
				w.file(href, attribute(t, "type"))
			} else if w.e.URL == "" || rel == "" || rel == "alternate" {
				w.e.URL = href
			}
			return nil
		}
		w.begin(name)
	case "enclosure":
		w.file(attribute(t, "url"), attribute(t, "type"))
	}
	return nil
}

// own reports whether a prefix may belong to the elements of the protocol.
func (w *walker) own(prefix string) bool {
	switch strings.ToLower(prefix) {
	case "image", "video", "news", "xhtml", "mobile", "media", "itunes", "content", "pagemap":
		return false
	}
	return true
}

func (w *walker) begin(field string) {
	w.field = field
	w.text.Reset()
}

// file makes a file the entry's address, instead of the page about it.
func (w *walker) file(address, mediaType string) {
	if address == "" {
		return
	}
	w.e.URL, w.e.MediaType = address, mediaType
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Space == "" && strings.EqualFold(a.Name.Local, name) {
			return strings.TrimSpace(a.Value)
		}
	}
	return ""
}

func (w *walker) end(local string) (done bool, err error) {
	name := strings.ToLower(local)
	if w.field == name {
		w.set(name, strings.TrimSpace(w.text.String()))
		w.field = ""
	}
	switch name {
	case "url", "item", "entry":
		if w.open > 0 && w.e.URL != "" {
			err = w.found.entry(w.e)
		}
		w.open = 0
	case "sitemap":
		if w.open > 0 && w.e.URL != "" {
			err = w.found.sitemap(w.e.URL)
		}
		w.open = 0
	}
	return name == w.root, err // anything after the root is ignored
}

func (w *walker) set(field, value string) {
	switch field {
	case "loc", "link":
		if w.e.URL == "" {
			w.e.URL = value
		}
	case "lastmod", "pubdate", "updated", "date":
		w.e.Modified = value
	case "changefreq":
		w.e.Frequency = strings.ToLower(value)
	case "title":
		w.e.Title = value
	}
}

// readRobots reads the Sitemap lines of a robots.txt.
func readRobots(in io.Reader, found list) error {
	none := true
	err := eachLine(in, func(line string) error {
		name, value, ok := strings.Cut(line, ":")
		if value = strings.TrimSpace(value); !ok || !strings.EqualFold(strings.TrimSpace(name), "sitemap") || value == "" {
			return nil
		}
		none = false
		return found.sitemap(value)
	})
	if err == nil && none {
		return errors.New("it names no sitemap")
	}
	return err
}

func readLines(in io.Reader, found list) error {
	return eachLine(in, func(line string) error {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")); line != "" && !strings.HasPrefix(line, "#") {
			return found.entry(Entry{URL: line})
		}
		return nil
	})
}

func eachLine(in io.Reader, line func(string) error) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if err := line(lines.Text()); err != nil {
			return err
		}
	}
	return lines.Err()
}
