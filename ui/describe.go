package ui

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Describe answers with the page of statements about an IRI (linkeddata.Page). It redirects to the pages of files,
// versions, datasets and portals.
func (u *UI) Describe(w http.ResponseWriter, r *http.Request, iri string) error {
	ctx := r.Context()
	ref, minted := u.mint.Parse(iri)
	if minted && ref.ID != "" && ref.Kind != ns.KindMember && strings.Contains(iri, "/get/file/id/") {
		address := u.versionPath(ref.ID)
		if ref.Column > 0 {
			address += "#columns"
		}
		redirect(w, address)
		return nil
	}
	if _, err := u.archive.Resource(ctx, iri); err == nil {
		redirect(w, pagePath(iri))
		return nil
	}
	if _, err := u.archive.Dataset(ctx, iri); err == nil {
		redirect(w, pagePath(iri))
		return nil
	}
	if _, known, err := u.portal(ctx, iri); err == nil && known {
		redirect(w, pagePath(iri))
		return nil
	}
	s, err := u.statements(ctx, iri)
	if err != nil {
		return err
	}
	if s == nil || len(s.Out)+len(s.In) == 0 {
		return problem.Newf(http.StatusNotFound, "Unknown IRI", "the archive has no statements about %s", iri)
	}
	page := struct {
		IRI        string
		Name       string
		Statements *statements
		Query      string
		Member     string // address of the bytes, if the IRI is a file inside a version
		Version    string // address of that version
	}{IRI: iri, Name: curie(iri, u.mint.Base), Statements: s, Query: "DESCRIBE <" + iriText(iri) + ">"}
	if minted && ref.Kind == ns.KindMember {
		page.Name, page.Member, page.Version = ref.Path, u.memberPath(ref.ID, ref.Path)+"?download=1", u.versionPath(ref.ID)
	}
	return u.render(w, r, http.StatusOK, "describe", view{Title: page.Name, Page: page})
}

// Bounds of the page of a document. That of a catalog with all its files would have megabytes.
const (
	maxSubjects = 20
	maxAbout    = 50 // statements about one of them
)

// Document answers with the page of a document of statements, by subject, with links to its other syntaxes, which have
// the subjects that the page leaves out.
func (u *UI) Document(w http.ResponseWriter, r *http.Request, title string, quads []term.Quad) error {
	bySubject := make(map[term.Key][]term.Quad)
	var order []term.Key
	inside := make(map[term.Key]bool) // blank nodes that are objects of other statements
	for _, q := range quads {
		if _, known := bySubject[q.S]; !known {
			order = append(order, q.S)
		}
		bySubject[q.S] = append(bySubject[q.S], q)
		if q.O.Kind() == term.KindBlank {
			inside[q.O] = true
		}
	}
	page := struct {
		Name     string
		Formats  []format
		Subjects []subject
		More     int // subjects that are not shown
	}{Name: title}
	for _, f := range [][2]string{{"Turtle", "ttl"}, {"JSON-LD", "jsonld"}, {"RDF/XML", "rdf"}, {"N-Triples", "nt"}} {
		q := r.URL.Query()
		q.Set("format", f[1])
		page.Formats = append(page.Formats, format{f[0], strings.TrimSuffix(r.URL.EscapedPath(), ".html") + "?" + q.Encode()})
	}
	for _, s := range order {
		if inside[s] {
			continue
		}
		if len(page.Subjects) == maxSubjects {
			page.More++
		} else {
			out := u.about(s, bySubject)
			shown := out[:min(len(out), maxAbout)]
			page.Subjects = append(page.Subjects, subject{u.node(s), shown, len(out) - len(shown)})
		}
	}
	return u.render(w, r, http.StatusOK, "document", view{Title: title, Page: page})
}

type subject struct {
	Node node
	Out  []statement
	More int // statements that are not shown
}

// describedTerm is a term of the vocabulary.
type describedTerm struct {
	Name, IRI, Kind, Label, Comment string
}

// Vocabulary answers with the page of the archive's own terms.
func (u *UI) Vocabulary(w http.ResponseWriter, r *http.Request, quads []term.Quad) error {
	terms := make(map[string]*describedTerm)
	for _, q := range quads {
		name, ok := strings.CutPrefix(q.S.Value(), vocab.ArcNS)
		if !ok || q.S.Kind() != term.KindIRI || name == "" {
			continue
		}
		t := terms[name]
		if t == nil {
			t = &describedTerm{Name: name, IRI: q.S.Value()}
			terms[name] = t
		}
		switch q.P.Value() {
		case vocab.RDFType:
			t.Kind = curie(q.O.Value(), "")
		case vocab.RDFSLabel:
			t.Label = q.O.Value()
		case vocab.RDFSComment:
			t.Comment = q.O.Value()
		}
	}
	var list []*describedTerm
	for _, t := range terms {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *describedTerm) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	page := struct {
		NS    string
		Terms []*describedTerm
	}{vocab.ArcNS, list}
	return u.render(w, r, http.StatusOK, "vocabulary", view{Title: "Vocabulary", Page: page})
}

// describePage answers GET /describe if the pages are served without package linkeddata.
func (u *UI) describePage(w http.ResponseWriter, r *http.Request) error {
	iri := r.URL.Query().Get("iri")
	if parsed, err := url.Parse(iri); err != nil || !parsed.IsAbs() {
		return problem.New(http.StatusBadRequest, "No IRI given", "expected /describe?iri= followed by an absolute IRI")
	}
	return u.Describe(w, r, iri)
}
