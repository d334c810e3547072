package describe

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
)

// CitationArchive has the records of what is cited. An unknown thing is an error that wraps archive.ErrNotFound.
type CitationArchive interface {
	Version(ctx context.Context, id string) (catalog.Version, error)
	Latest(ctx context.Context, url string) (catalog.Version, error)
	Resource(ctx context.Context, url string) (catalog.Resource, error)
	Dataset(ctx context.Context, iri string) (catalog.DatasetEntry, error)
}

// Select runs a SELECT query and returns at most max of its rows, with the values in the order of the variables. An
// unbound value is the empty Key.
type Select func(ctx context.Context, query string, max int) (rows [][]term.Key, err error)

// Collector finds what there is to cite.
type Collector struct {
	Archive CitationArchive
	Select  Select // nil: nothing of what portals say
	Mint    ns.Mint
	// Proved reports whether there is a proof of a version; nil for no.
	Proved func(catalog.Version) (bool, error)
}

// Version returns the version with an id.
func (c *Collector) Version(ctx context.Context, id string) (Work, error) {
	v, err := c.Archive.Version(ctx, id)
	if err != nil {
		return Work{}, err
	}
	r, err := c.Archive.Resource(ctx, v.URL)
	if err != nil {
		return Work{}, err
	}
	w := c.file(r)
	w.ID, w.IRI, w.Version = v.ID, c.Mint.Version(v.ID), v.N
	w.ofVersion(v)
	if c.Proved != nil {
		proved, err := c.Proved(v)
		if err != nil {
			return Work{}, err
		}
		if proved {
			w.Proof = c.Mint.Proof(v.ID)
		}
	}
	return w, c.ask(ctx, &w)
}

// Dataset returns a file or a dataset of a portal, by its URL.
func (c *Collector) Dataset(ctx context.Context, link string) (Work, error) {
	r, err := c.Archive.Resource(ctx, link)
	if errors.Is(err, archive.ErrNotFound) || err == nil && r.ID == "" {
		return c.entry(ctx, link)
	}
	if err != nil {
		return Work{}, err
	}
	w := c.file(r)
	if r.Versions > r.ErrorPages {
		v, err := c.Archive.Latest(ctx, r.URL)
		if err != nil && !errors.Is(err, archive.ErrNotFound) {
			return Work{}, err
		}
		if err == nil {
			w.ofVersion(v)
		}
	}
	return w, c.ask(ctx, &w)
}

// file returns what the record of a file says.
func (c *Collector) file(r catalog.Resource) Work {
	w := Work{ID: r.ID, Title: cmp.Or(line(r.Title), line(r.FileName), r.URL), Host: hostOf(r.URL), URL: r.URL,
		Archive: hostOf(c.Mint.Base), IRI: c.Mint.Page(r.URL), Version: -1}
	if title := line(r.DatasetTitle); title != "" && !strings.EqualFold(title, w.Title) {
		w.Title = title + ": " + w.Title
	}
	if len(r.Datasets) > 0 {
		w.Dataset = r.Datasets[0]
	}
	return w
}

func (w *Work) ofVersion(v catalog.Version) {
	w.Archived, w.Type, w.Size, w.SHA256 = v.At, v.Type, v.Size, hex.EncodeToString(v.Digests.SHA256[:])
}

// entry returns a dataset of a portal.
func (c *Collector) entry(ctx context.Context, iri string) (Work, error) {
	d, err := c.Archive.Dataset(ctx, iri)
	if err != nil {
		return Work{}, err
	}
	w := Work{Title: cmp.Or(line(d.Title), d.IRI), Host: hostOf(d.IRI), URL: d.IRI, Dataset: d.IRI, Archive: hostOf(c.Mint.Base),
		IRI: c.Mint.Page(d.IRI), Version: -1}
	for _, link := range d.URLs[:min(len(d.URLs), maxFiles)] {
		v, err := c.Archive.Latest(ctx, link)
		if err == nil && v.At.After(w.Archived) {
			w.Archived = v.At
		} else if err != nil && ctx.Err() != nil {
			return Work{}, err
		}
	}
	return w, c.ask(ctx, &w)
}

// Bounds of what is collected.
const (
	maxFiles    = 50 // files of a dataset of which the latest date is taken
	maxRows     = 300
	maxNames    = 50
	maxText     = 5000 // bytes of a description
	maxNameText = 300
)

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// question asks the portals' graphs what they say of a dataset and a file. Names of agents are beside them.
const question = `PREFIX dct: <http://purl.org/dc/terms/>
PREFIX dcat: <http://www.w3.org/ns/dcat#>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX vcard: <http://www.w3.org/2006/vcard/ns#>
PREFIX schema: <http://schema.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>
PREFIX adms: <http://www.w3.org/ns/adms#>
SELECT DISTINCT ?s ?p ?o ?name WHERE {
  VALUES ?s { %s }
  VALUES ?p { dct:creator dct:publisher dct:license dct:rights dct:description dct:language dct:issued dct:identifier adms:identifier dcat:keyword schema:creator schema:author }
  GRAPH ?g {
    ?s ?p ?o .
    OPTIONAL { ?o foaf:name|vcard:fn|schema:name|rdfs:label|skos:prefLabel|skos:notation ?name }
  }
  FILTER(!STRENDS(STR(?g), "#withdrawn"))
}`

var doiForm = regexp.MustCompile(`(?i)\b10\.[0-9]{4,9}/[^\s"<>{}]+`)

// ask adds what the portals say.
func (c *Collector) ask(ctx context.Context, w *Work) error {
	if c.Select == nil {
		return nil
	}
	var about []string
	for _, iri := range []string{w.Dataset, w.URL} {
		if iri != "" && !strings.ContainsFunc(iri, func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"{}|\\^`", r) }) {
			about = append(about, "<"+iri+">")
		}
	}
	if len(about) == 0 {
		return nil
	}
	rows, err := c.Select(ctx, fmt.Sprintf(question, strings.Join(slices.Compact(about), " ")), maxRows)
	if err != nil {
		return fmt.Errorf("citation of %s: %w", w.URL, err)
	}
	// Of several, the file's own comes first, and texts in their order, so that a citation stays the same.
	slices.SortStableFunc(rows, func(a, b []term.Key) int {
		own := func(r []term.Key) int {
			if r[0].Value() == w.URL {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(own(a), own(b)), cmp.Compare(a[1], b[1]), cmp.Compare(a[2], b[2]), cmp.Compare(a[3], b[3]))
	})
	for _, row := range rows {
		if len(row) == 4 {
			w.say(row[1].Value(), row[2], row[3])
		}
	}
	if w.Licence == "" && w.Dataset != "" {
		return c.askLicence(ctx, w, about[0])
	}
	return nil
}

// licences asks for the licences of the distributions of a dataset, whose addresses are beside them. In DCAT, the
// licence is that of a distribution, which may have another IRI than its file.
const licences = `PREFIX dct: <http://purl.org/dc/terms/>
PREFIX dcat: <http://www.w3.org/ns/dcat#>
SELECT DISTINCT ?licence ?file WHERE {
  GRAPH ?g {
    %s dcat:distribution ?d .
    ?d dct:license ?licence .
    OPTIONAL { ?d dcat:downloadURL|dcat:accessURL ?file }
  }
  FILTER(!STRENDS(STR(?g), "#withdrawn") && !ISBLANK(?licence))
}`

// askLicence adds the licence of the file, or of all files of the dataset if they have the same.
func (c *Collector) askLicence(ctx context.Context, w *Work, dataset string) error {
	rows, err := c.Select(ctx, fmt.Sprintf(licences, dataset), maxRows)
	if err != nil {
		return fmt.Errorf("citation of %s: %w", w.URL, err)
	}
	same := ""
	for i, row := range rows {
		if len(row) != 2 {
			continue
		}
		licence := line(row[0].Value())
		if row[1].Value() == w.URL {
			w.Licence = licence
			return nil
		}
		switch {
		case i == 0:
			same = licence
		case same != licence:
			same = ""
		}
	}
	if len(rows) < maxRows {
		w.Licence = same
	}
	return nil
}

// say adds one statement.
func (w *Work) say(predicate string, object, name term.Key) {
	value := line(object.Value())
	isIRI, isLiteral := object.Kind() == term.KindIRI, object.Kind() == term.KindLiteral
	if len(value) > maxText {
		value = strings.ToValidUTF8(value[:maxText], "")
	}
	called := ""
	if isLiteral {
		called = value
	}
	if name != "" {
		called = line(name.Value())
	}
	if len(called) > maxNameText {
		called = strings.ToValidUTF8(called[:maxNameText], "")
	}
	switch predicate[strings.LastIndexAny(predicate, "/#")+1:] {
	case "creator", "author":
		if called != "" && len(w.Authors) < maxNames && !slices.Contains(w.Authors, called) {
			w.Authors = append(w.Authors, called)
		}
		if isIRI && len(w.AuthorIRIs) < maxNames && !slices.Contains(w.AuthorIRIs, object.Value()) {
			w.AuthorIRIs = append(w.AuthorIRIs, object.Value())
		}
	case "publisher":
		w.Publisher = cmp.Or(w.Publisher, called)
	case "license":
		if isIRI {
			called = value
		}
		w.Licence = cmp.Or(w.Licence, called, value)
	case "rights":
		if isIRI || isLiteral {
			w.Licence = cmp.Or(w.Licence, value)
		}
	case "description":
		if isLiteral {
			w.Description = cmp.Or(w.Description, value)
		}
	case "language":
		w.Language = cmp.Or(w.Language, languageTag(value))
	case "issued":
		if t, err := time.Parse(dayForm, value[:min(len(value), len(dayForm))]); err == nil && w.Published.IsZero() {
			w.Published = t
		}
	case "identifier":
		w.DOI = cmp.Or(w.DOI, doiForm.FindString(cmp.Or(called, value)))
	case "keyword":
		if isLiteral && len(w.Keywords) < maxNames && !slices.Contains(w.Keywords, value) {
			w.Keywords = append(w.Keywords, value)
		}
	}
}

var tagForm = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$`)

// euLanguages are the last parts of the IRIs of the EU's list of languages.
var euLanguages = map[string]string{"DEU": "de", "ENG": "en", "FRA": "fr", "ITA": "it", "SPA": "es", "NLD": "nl", "POR": "pt", "POL": "pl",
	"CES": "cs", "SLK": "sk", "SLV": "sl", "HUN": "hu", "HRV": "hr", "SWE": "sv", "DAN": "da", "FIN": "fi", "ELL": "el", "BUL": "bg",
	"RON": "ro", "EST": "et", "LAV": "lv", "LIT": "lt", "MLT": "mt", "GLE": "ga"}

// languageTag returns the language tag (BCP 47) of a language that is named by it, or by an IRI that ends in it.
func languageTag(s string) string {
	s = s[strings.LastIndex(s, "/")+1:]
	if tag := euLanguages[s]; tag != "" {
		return tag
	}
	if tagForm.MatchString(s) {
		return strings.ToLower(s[:2]) + s[2:]
	}
	return ""
}
