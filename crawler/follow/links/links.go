// Package links finds the links of a document, and what kind of link each is.
//
// Read reads RDF in any syntax, pages with their RDFa, Microdata, JSON-LD and Microformats, feeds and sitemaps, and
// what is inside archives and compressed files, which counts as said by the document itself. Header reads the Link
// header. On request, the statements of the document are kept as well.
//
// Documents are hostile: the number and size of links and statements are bounded, decoders are contained, and nothing
// is fetched. The package does not decide which links are followed.
package links

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"odarchive/crawler/address"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/unpack"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

// Kind is the kind of a link: what the document says about its target.
type Kind string

// Kinds of links, the most telling first. A target that is linked to in several ways has the first of their kinds.
const (
	Endpoint    Kind = "endpoint"     // void:sparqlEndpoint, sd:endpoint, dcat:endpointURL
	DataDump    Kind = "data-dump"    // void:dataDump
	Download    Kind = "download"     // dcat:downloadURL, contentUrl of schema.org
	Alternate   Kind = "alternate"    // rel="alternate": the same in another syntax; also pages of one list (rel="next", "item", ...)
	DescribedBy Kind = "described-by" // rel="describedby" or "meta"
	SameAs      Kind = "same-as"      // owl:sameAs
	SeeAlso     Kind = "see-also"     // rdfs:seeAlso
	Rule        Kind = "rule"         // selected by an operator's rules for pages; Read finds none itself
	Entry       Kind = "entry"        // entry of a feed or sitemap
	Object      Kind = "object"       // object of any other statement
	Subject     Kind = "subject"      // subject of a statement
	Anchor      Kind = "anchor"       // href of a page
	Class       Kind = "class"        // object of rdf:type; only with Options.Vocabularies
	Predicate   Kind = "predicate"    // likewise
)

// ranks orders kinds, the most telling first.
var ranks = map[Kind]int{Endpoint: 1, DataDump: 2, Download: 3, Alternate: 4, DescribedBy: 5, SameAs: 6, SeeAlso: 7, Rule: 8, Entry: 9,
	Object: 10, Subject: 11, Anchor: 12, Class: 13, Predicate: 14}

// Link is a link to another document.
type Link struct {
	URL  string // absolute http, https or ftp URL, without fragment
	Kind Kind
	Type string // media type that the document declares for the target, "" for none
	Text string // of an anchor, at most 200 bytes; "" for others
	Path string // of tags and classes from the root of the page to an anchor, as "body/div.list/a"; "" for others
}

// Document is what Read finds.
type Document struct {
	Links      []Link         // each target once, in the order of the document
	More       bool           // a limit was reached: there are more links
	Statements int64          // number of RDF statements, including repeated ones
	Quads      []term.Quad    // the statements, without their graphs; nil if there are more than Options.Quads
	Generator  string         // software that a page says it was made with, at most 200 bytes
	Faults     []string       // what could not be read, a sentence each, at most 20
	at         map[string]int // index in Links by URL
	bytes      int
}

// Input is a document.
type Input struct {
	URL    string // of the document itself, after redirects
	Name   string // file name
	Found  detect.Detection
	Header http.Header // of the response
	Size   int64
	Body   io.ReaderAt
}

// Options configure Read. The zero value finds links and keeps no statements.
type Options struct {
	Vocabularies bool   // predicates and classes are links too
	Quads        int    // statements to keep, at most; 0 keeps none
	BlankPrefix  string // of the labels of blank nodes, as in rdfio.Options
	// Many, if not nil, is called once a document has more than ManyQuads statements that are kept. Its error ends
	// Read. The caller can limit how many large documents are in memory.
	Many func(ctx context.Context) error
	// Context returns contexts of JSON-LD, as in rdfio.Options.
	Context func(iri string) ([]byte, error)
	// Page, if not nil, is called with each page, and returns further statements of it. They are kept and counted, but
	// are no links. Its error becomes a fault of the document.
	Page    func(ctx context.Context, root *html.Node) ([]term.Quad, error)
	TempDir string // for inner archives; "" = the system's
}

// Limits of one document.
const (
	MaxLinks     = 50_000
	maxLinkBytes = 8 << 20
	maxSeen      = 400_000 // distinct terms that are remembered, so that each is parsed once
	maxFaults    = 20
	maxMembers   = 10_000 // of an archive
	ManyQuads    = 50_000
	maxText      = 200
	maxSyntax    = 1000 // syntax errors after which a file is given up
)

// Read finds the links of a document. The error is that of ctx or of Options.Many; everything else that fails is in
// Document.Faults.
func Read(ctx context.Context, in Input, o Options) (*Document, error) {
	d := &Document{at: map[string]int{}}
	r := &reader{ctx: ctx, in: in, o: o, doc: d, seen: map[term.Key]bool{}}
	if base, err := address.Parse(in.URL); err == nil {
		r.base, r.self = base, withoutFragment(base)
	} else {
		return d, nil
	}
	for _, l := range Header(in.Header, r.base) {
		r.add(l)
	}
	err := r.document()
	if err == nil {
		err = r.fatal
	}
	if r.over {
		d.Quads = nil
	}
	d.at = nil
	if ctx.Err() != nil {
		return d, context.Cause(ctx)
	}
	return d, err
}

// reader is the state of one Read.
type reader struct {
	ctx   context.Context // of the call, for the callbacks of the walk
	in    Input
	o     Options
	doc   *Document
	base  address.URL
	self  string
	seen  map[term.Key]bool
	over  bool  // more statements than may be kept
	many  bool  // Options.Many was called
	fatal error // of Options.Many
	files int   // RDF files inside, for the labels of their blank nodes
}

func withoutFragment(u address.URL) string {
	public, _ := u.WithoutSecret()
	return public.String()
}

// document reads the document, or the members of an archive.
func (r *reader) document() error {
	found := r.in.Found
	if found.Type == "application/vnd.hdt" {
		defer func() {
			if x := recover(); x != nil {
				r.fault(r.in.Name, fmt.Errorf("the reader failed: %.200v", x))
			}
		}()
		r.hdt(r.in.Name, r.in.Body, r.in.Size)
		return nil
	}
	if found.Compression == "" && !unpack.Known(found.Type) {
		r.file(found, r.in.Name, r.in.Header.Get("Content-Type"), io.NewSectionReader(r.in.Body, 0, r.in.Size))
		return nil
	}
	n := 0
	limits := unpack.Limits{Name: r.in.Name, TempDir: r.o.TempDir, MaxMembers: maxMembers, MaxTotal: 4 << 30}
	err := unpack.Walk(r.ctx, r.in.Body, r.in.Size, found.Type, limits, func(m unpack.Member) error {
		if n++; m.Packed || r.fatal != nil {
			return r.fatal
		}
		if err := r.member(m); err != nil {
			r.fault(m.Path, err)
		}
		return cmp.Or(r.fatal, r.ctx.Err())
	})
	if err != nil && r.fatal == nil {
		r.fault(r.in.Name, err)
	}
	return nil
}

// headSize is how much of a member is read to recognise it.
const headSize = 256 << 10

// member reads one member of an archive. It is streamed, so that its size does not matter.
func (r *reader) member(m unpack.Member) (err error) {
	body, err := m.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	head, err := io.ReadAll(io.LimitReader(body, headSize))
	if err != nil {
		return err
	}
	found, err := detect.File(r.ctx, detect.Input{Name: m.Path, Size: int64(len(head)), Body: strings.NewReader(string(head))})
	if err != nil {
		return err
	}
	src := rdfio.NewSource(io.MultiReader(strings.NewReader(string(head)), body))
	r.file(found, m.Path, "", src)
	return src.Err()
}

// peekSize is how much of a file is looked at to find its syntax.
const peekSize = 32 << 10

// file reads one file by its type. What is neither RDF nor a page nor a feed has no links.
func (r *reader) file(found detect.Detection, name, declared string, body io.Reader) {
	defer func() {
		if x := recover(); x != nil { // a decoder of others, or a fault of ours: the other files are read
			r.fault(name, fmt.Errorf("the reader failed: %.200v", x))
		}
	}()
	switch found.Type {
	case "text/html", "application/xhtml+xml":
		r.page(name, body)
		return
	case "application/rss+xml", "application/atom+xml":
		r.feed(name, body)
		return
	}
	if syntax, ok := rdfio.ByMediaType(found.Type); ok {
		r.rdf(name, syntax, body)
		return
	}
	switch found.Type {
	case "application/json", "text/plain", "application/xml", "text/xml": // may be RDF that only its name or its declaration shows
		peeked := bufio.NewReaderSize(body, peekSize)
		head, _ := peeked.Peek(peekSize)
		if syntax, ok := rdfio.Detect(head, name, declared); ok {
			r.rdf(name, syntax, peeked)
			return
		}
		body = peeked
	}
	if found.Type == "application/xml" || found.Type == "text/xml" {
		r.feed(name, body) // a sitemap; other roots have no links
	}
}

// fault records what could not be read.
func (r *reader) fault(name string, err error) {
	if r.ctx.Err() == nil && len(r.doc.Faults) < maxFaults {
		r.doc.Faults = append(r.doc.Faults, cut(fmt.Sprintf("%.200s: %v", name, err), 500))
	}
}

// cut returns a text of at most n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// add adds a link, unless it leads to the document itself. Endpoints may describe themselves.
func (r *reader) add(l Link) {
	if l.URL == "" || l.URL == r.self && l.Kind != Endpoint {
		return
	}
	if i, ok := r.doc.at[l.URL]; ok {
		known := &r.doc.Links[i]
		if ranks[l.Kind] < ranks[known.Kind] {
			known.Kind = l.Kind
		}
		known.Type, known.Text, known.Path = cmp.Or(known.Type, l.Type), cmp.Or(known.Text, l.Text), cmp.Or(known.Path, l.Path)
		return
	}
	size := len(l.URL) + len(l.Text) + len(l.Path)
	if len(r.doc.Links) >= MaxLinks || r.doc.bytes+size > maxLinkBytes {
		r.doc.More = true
		return
	}
	r.doc.bytes += size
	r.doc.at[l.URL] = len(r.doc.Links)
	r.doc.Links = append(r.doc.Links, l)
}

// resolve returns the absolute URL that a reference of the document leads to, "" if that cannot be fetched.
func resolve(ref string, base address.URL) string {
	if len(ref) > address.MaxURL || strings.HasPrefix(strings.TrimSpace(ref), "#") {
		return ""
	}
	u, err := base.Resolve(ref)
	if err != nil {
		return ""
	}
	return withoutFragment(u)
}

// Kinds returns all kinds, the most telling first.
func Kinds() []Kind {
	all := make([]Kind, 0, len(ranks))
	for k := range ranks {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b Kind) int { return ranks[a] - ranks[b] })
	return all
}
