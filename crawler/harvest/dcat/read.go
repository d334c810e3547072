package dcat

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Found is a catalog with its datasets.
type Found struct {
	Portal   harvest.Portal
	Datasets []harvest.Dataset // described datasets, in the order of their first statement
	Named    []string          // IRIs of datasets that are named but not described
}

// Read finds a catalog and its datasets in statements, whose graphs are ignored. portal is the IRI of the portal; ""
// means the catalog's own. base replaces a missing IRI. The description of a dataset is its statements; its
// distributions are used for seeds.
func Read(quads []term.Quad, portal, base string) Found {
	g := newGraph(quads)
	root := g.catalog(portal, base)
	var found Found
	iri, datasets := cmp.Or(portal, nameOf(root), base), g.datasets()
	found.Portal = g.portal(root, iri)
	names := map[term.Key]term.Key{} // IRIs for datasets that are blank nodes
	var order []term.Key
	for _, d := range datasets {
		if len(g.out[d]) == 0 {
			if iri, ok := harvest.AsIRI(d.Value()); ok && d.Kind() == term.KindIRI {
				found.Named = append(found.Named, iri)
			}
			continue
		}
		order = append(order, d)
		if d.Kind() == term.KindBlank {
			names[d] = term.IRI(g.mint(d, iri))
		}
	}
	for _, d := range order {
		found.Datasets = append(found.Datasets, g.dataset(d, names))
	}
	return found
}

// graph indexes statements by subject and object.
type graph struct {
	order []term.Key // subjects in the order of their first statement
	out   map[term.Key][]term.Quad
	in    map[term.Key][]term.Quad
	apart map[term.Key]bool // subjects with a description of their own: datasets, catalogs, catalog records
}

func newGraph(quads []term.Quad) *graph {
	g := &graph{out: map[term.Key][]term.Quad{}, in: map[term.Key][]term.Quad{}, apart: map[term.Key]bool{}}
	seen := make(map[term.Quad]bool, len(quads))
	for _, q := range quads {
		q.G = ""
		if seen[q] {
			continue
		}
		seen[q] = true
		if g.out[q.S] == nil {
			g.order = append(g.order, q.S)
		}
		g.out[q.S] = append(g.out[q.S], q)
		if k := q.O.Kind(); k == term.KindIRI || k == term.KindBlank {
			g.in[q.O] = append(g.in[q.O], q)
		}
	}
	return g
}

// objects returns the objects of a subject, ordered by predicate.
func (g *graph) objects(s term.Key, predicates ...string) []term.Key {
	var all []term.Key
	for _, p := range predicates {
		for _, q := range g.out[s] {
			if q.P == term.IRI(p) {
				all = append(all, q.O)
			}
		}
	}
	return all
}

func (g *graph) value(s term.Key, predicates ...string) string {
	if all := g.objects(s, predicates...); len(all) > 0 {
		return strings.TrimSpace(all[0].Value())
	}
	return ""
}

func (g *graph) isA(s term.Key, classes ...string) bool {
	return slices.ContainsFunc(g.objects(s, vocab.RDFType), func(o term.Key) bool { return slices.Contains(classes, o.Value()) })
}

// catalog returns the catalog: the requested one, else the one with most datasets that is not part of another.
func (g *graph) catalog(portal, base string) term.Key {
	best, most := term.Key(""), -1
	for _, s := range g.order {
		if !g.isA(s, vocab.DCATCatalog) && len(g.objects(s, vocab.DCATDatasetProp)) == 0 {
			continue
		}
		g.apart[s] = true
		n := len(g.objects(s, vocab.DCATDatasetProp))
		if s == term.IRI(portal) || s == term.IRI(base) {
			n += 1 << 30
		}
		if slices.ContainsFunc(g.in[s],
			func(q term.Quad) bool {
				return q.P == term.IRI(vocab.DCATCatalogProp) || q.P == term.IRI(vocab.DCTHasPart)
			}) {
			n = 0
		}
		if n > most {
			best, most = s, n
		}
	}
	return best
}

func nameOf(k term.Key) string {
	if k.Kind() != term.KindIRI {
		return ""
	}
	iri, _ := harvest.AsIRI(k.Value())
	return iri
}

// portal returns the catalog as a portal, without its lists.
func (g *graph) portal(root term.Key, iri string) harvest.Portal {
	p := harvest.Portal{IRI: iri}
	if root == "" {
		return p
	}
	for _, o := range g.objects(root, vocab.DCTTitle) {
		p.Title = cmp.Or(p.Title, strings.TrimSpace(o.Value()))
	}
	self := term.IRI(iri)
	for _, q := range g.describe(root, map[term.Key]bool{}) {
		switch q.P.Value() {
		case vocab.DCATDatasetProp, vocab.DCATRecord, vocab.HydraMember, vocab.HydraView, vocab.LDPContains:
			continue
		}
		if q.S == root {
			q.S = self
		}
		p.Statements = append(p.Statements, q)
	}
	return p
}

// datasets returns the datasets described or named, in the order of their appearance.
func (g *graph) datasets() []term.Key {
	var all []term.Key
	add := func(k term.Key) {
		if !g.apart[k] && (k.Kind() == term.KindIRI || k.Kind() == term.KindBlank) {
			g.apart[k] = true
			all = append(all, k)
		}
	}
	for _, s := range g.order {
		if g.isA(s, vocab.DCATDataset, vocab.DCATDatasetSeries) {
			add(s)
		}
		for _, o := range g.objects(s, vocab.DCATDatasetProp) {
			add(o)
		}
		if g.isA(s, vocab.DCATCatalogRecord) {
			g.apart[s] = true
		}
	}
	for _, s := range g.order {
		if len(g.objects(s, vocab.DCATDistributionProp)) > 0 {
			add(s) // whatever its class
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, s := range g.order { // an LDP container of documents
		for _, o := range g.objects(s, vocab.LDPContains) {
			if len(g.out[o]) == 0 || g.isA(o, vocab.LDPResource) {
				g.out[o] = nil
				add(o)
			}
		}
	}
	return all
}

// mint returns an IRI for a dataset that has none: its identifier if that is one, its landing page, or a hash below the
// portal's IRI.
func (g *graph) mint(d term.Key, portal string) string {
	id := g.value(d, vocab.DCTIdentifier)
	if iri, ok := harvest.AsIRI(id); ok && strings.HasPrefix(iri, "http") {
		return iri
	}
	if id == "" {
		for _, o := range g.objects(d, vocab.DCATLandingPage, vocab.FOAFPage, vocab.FOAFHomepage) {
			if iri, ok := harvest.AsIRI(o.Value()); ok {
				return iri
			}
		}
	}
	if id == "" {
		id = g.value(d, vocab.DCTTitle)
	}
	if id == "" {
		var said []string
		for _, q := range g.describe(d, map[term.Key]bool{}) {
			if q.O.Kind() != term.KindBlank {
				said = append(said, string(q.P+q.O))
			}
		}
		slices.Sort(said)
		id = strings.Join(said, "\n")
	}
	sum := sha256.Sum256([]byte(id))
	return strings.TrimSuffix(portal, "#") + "#dataset-" + hex.EncodeToString(sum[:8])
}

// describe returns the statements about a node and all nodes that it leads to, except those with a description of their
// own.
func (g *graph) describe(node term.Key, seen map[term.Key]bool) []term.Quad {
	var all []term.Quad
	level := []term.Key{node}
	seen[node] = true
	for depth := 0; len(level) > 0 && depth < maxDepth && len(all) < maxStatements; depth++ {
		var next []term.Key
		for _, s := range level {
			all = append(all, g.out[s]...)
			for _, q := range g.out[s] {
				if k := q.O.Kind(); (k == term.KindIRI || k == term.KindBlank) && !seen[q.O] && !g.apart[q.O] &&
					q.P != term.IRI(vocab.RDFType) {
					seen[q.O] = true
					next = append(next, q.O)
				}
			}
		}
		level = next
	}
	return all
}

const (
	maxDepth      = 12
	maxStatements = 250_000 // of a description
)

// dataset returns a dataset whose statements are its description.
func (g *graph) dataset(d term.Key, names map[term.Key]term.Key) harvest.Dataset {
	seen := map[term.Key]bool{}
	own := g.describe(d, seen)
	for _, q := range g.in[d] { // catalog records and services refer to the dataset
		if (q.P == term.IRI(vocab.FOAFPrimaryTopic) || q.P == term.IRI(vocab.DCATServesDataset)) && !seen[q.S] {
			was := g.apart[q.S]
			g.apart[q.S] = false
			own = append(own, g.describe(q.S, seen)...)
			g.apart[q.S] = was
		}
	}
	for i := range own {
		own[i].S, own[i].O = cmp.Or(names[own[i].S], own[i].S), cmp.Or(names[own[i].O], own[i].O)
	}
	found := harvest.Dataset{
		IRI: cmp.Or(names[d], d).Value(), Title: texts(g.objects(d, vocab.DCTTitle)), Frequency: g.frequency(d),
		Modified:   g.value(d, vocab.DCTModified),
		Statements: own, Verbatim: true,
	}
	g.distributions(&found, d)
	return found
}

func texts(literals []term.Key) []harvest.Text {
	var all []harvest.Text
	for _, k := range literals {
		all = append(all, harvest.Text{Value: strings.TrimSpace(k.Value()), Lang: k.Lang()})
	}
	return all
}
