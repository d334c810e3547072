// Package graphs keeps the statements of documents in named graphs: the content graphs.
//
// The named graph {base}graph/{URL of the document that answered} has the statements of the document's latest version.
// When a new version is stored, only the differences are written. Since documents may state anything about anything,
// their statements are never in the default graph. The default graph only states for each content graph from which
// version it was made and how large it is. A document with more than MaxQuads statements has no graph; a statement
// about its version says why.
//
// A graph belongs to the resources that lead to its document: the resource with the document's URL, and those that
// redirect to it. The graph is removed when the last of them leads to another document, or when the document no longer
// has statements. If the document answers 404, its latest version and its graph stay; the visits in the default graph
// show that it is gone.
//
// The content of each graph is also stored as a record of its own, because the store cannot list the triples of one
// graph quickly. See FORMAT.md.
package graphs

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"odarchive/crawler/archive/describe"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
	"odarchive/vocab"

	"github.com/klauspost/compress/zstd"
)

// Limits of one graph.
const (
	MaxQuads     = 1_000_000
	maxTerm      = 256 << 10 // bytes; statements with longer terms are left out
	maxRelabel   = 50_000    // statements of a graph whose blank nodes are labelled by what is said about them
	largeContent = 256 << 10 // bytes of packed content that are written before the transaction
)

// Store has the content graphs of one data directory.
type Store struct {
	mint   ns.Mint
	db     *kv.DB
	owned  func(txn *kv.Txn, iri string) (bool, error) // see New
	pack   *zstd.Encoder
	unpack *zstd.Decoder
	large  chan struct{} // a semaphore: only one large document is in memory at a time
}

// New returns the Store of a data directory. owned reports whether another package, such as the ledger of portals, uses
// the graph that is named after an IRI. The graph of a document with that URL then gets a name that ends in "#content".
func New(mint ns.Mint, db *kv.DB, owned func(txn *kv.Txn, iri string) (bool, error)) (*Store, error) {
	pack, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithWindowSize(256<<10))
	if err != nil {
		return nil, fmt.Errorf("graphs: %w", err)
	}
	unpack, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(4*maxPart))
	if err != nil {
		return nil, fmt.Errorf("graphs: %w", err)
	}
	return &Store{mint: mint, db: db, owned: owned, pack: pack, unpack: unpack, large: make(chan struct{}, 1)}, nil
}

// EnterLarge waits until no other large document is in memory. The caller must call leave when the document is no
// longer in memory; further calls of leave do nothing.
func (s *Store) EnterLarge(ctx context.Context) (leave func(), err error) {
	select {
	case s.large <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	left := false
	return func() {
		if !left {
			left = true
			<-s.large
		}
	}, nil
}

// Put stores a prepared content as a graph. resource is the id of the resource that led to the document, version the id
// of its latest version; both are "" for content that is not from a version. It returns the number of statements that
// changed. It may be called again with the same content.
func (s *Store) Put(txn *triplestore.Txn, c *Content, resource, version string) (changed int, err error) {
	t := tables{s, txn.KV()}
	if resource != "" {
		before, err := t.move(resource, c.id)
		if err != nil {
			return 0, err
		}
		if before != (graphID{}) {
			if changed, err = s.dropUnowned(txn, before); err != nil {
				return changed, err
			}
		}
	}
	r, known, err := t.record(c.id)
	if err != nil {
		return changed, err
	}
	if !known && len(c.quads) == 0 && c.Omitted == "" {
		return changed, nil
	}
	next := record{URL: c.URL, Name: r.Name, Version: version, Source: c.Source, Quads: len(c.quads), Omitted: c.Omitted}
	if next.Name == "" {
		if next.Name, err = s.name(txn.KV(), c.URL); err != nil {
			return changed, err
		}
	}
	if c.Omitted == "" && len(c.quads) > 0 {
		next.Digest, next.Parts = c.digest, len(c.parts)
	}
	if r.Digest != next.Digest { // an unchanged graph need not be read, which would take long
		before, err := s.before(txn, c.id, r)
		if err != nil {
			return changed, err
		}
		n, err := replace(txn, term.IRI(next.Name), before, c.quads)
		if changed += n; err != nil {
			return changed, err
		}
		if err := t.setContent(c, r, next); err != nil {
			return changed, err
		}
	}
	if err := describe.Replace(txn, s.describe(r), s.describe(next)); err != nil {
		return changed, err
	}
	if next.Digest == "" && next.Omitted == "" {
		return changed, t.delete(c.id)
	}
	if next.Source != "" {
		if err := t.setSource(c.id, next.Source); err != nil {
			return changed, err
		}
	}
	return changed, t.setRecord(c.id, next)
}

// DropOthers removes the graphs of a source whose URLs are not in keep.
func (s *Store) DropOthers(txn *triplestore.Txn, source string, keep []string) (changed int, err error) {
	t := tables{s, txn.KV()}
	all, err := t.ofSource(source)
	if err != nil {
		return 0, err
	}
	stays := make(map[string]bool, len(keep)) // an endpoint may have thousands of graphs
	for _, url := range keep {
		stays[url] = true
	}
	for _, id := range all {
		r, known, err := t.record(id)
		if err != nil {
			return changed, err
		}
		if known && stays[r.URL] {
			continue
		}
		if known {
			n, err := s.drop(txn, id, r)
			if changed += n; err != nil {
				return changed, err
			}
		}
		if err := t.deleteSource(id, source); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// Clear removes the graph that is named after an IRI, so that another package can use the name (see New). The document
// gets a graph with another name when its next version is stored.
func (s *Store) Clear(txn *triplestore.Txn, iri string) error {
	t := tables{s, txn.KV()}
	r, known, err := t.record(idOf(iri))
	if err != nil || !known || r.Name != s.plain(iri) {
		return err
	}
	_, err = s.drop(txn, idOf(iri), r)
	return err
}

// dropUnowned removes a graph to which no resource leads any more.
func (s *Store) dropUnowned(txn *triplestore.Txn, id graphID) (changed int, err error) {
	t := tables{s, txn.KV()}
	owned, err := t.hasOwner(id)
	if err != nil || owned {
		return 0, err
	}
	r, known, err := t.record(id)
	if err != nil || !known {
		return 0, err
	}
	return s.drop(txn, id, r)
}

// drop removes a graph and its record.
func (s *Store) drop(txn *triplestore.Txn, id graphID, r record) (changed int, err error) {
	t := tables{s, txn.KV()}
	before, err := s.before(txn, id, r)
	if err != nil {
		return 0, err
	}
	if changed, err = replace(txn, term.IRI(r.Name), before, nil); err != nil {
		return changed, err
	}
	if err := describe.Replace(txn, s.describe(r), nil); err != nil {
		return changed, err
	}
	if err := t.deleteParts(id, r); err != nil {
		return changed, err
	}
	return changed, t.delete(id)
}

// before returns the current content of a graph from its record. If the record is damaged, it empties the graph and
// returns nothing.
func (s *Store) before(txn *triplestore.Txn, id graphID, r record) ([]term.Quad, error) {
	quads, err := tables{s, txn.KV()}.content(id, r)
	if errors.Is(err, errBad) {
		return nil, txn.ClearGraph(term.IRI(r.Name))
	}
	return quads, err
}

// plain returns the usual name of the graph of a document.
func (s *Store) plain(url string) string { return describe.IRI(s.mint.Graph(url)).Value() }

// name returns the name of the graph of a document.
func (s *Store) name(txn *kv.Txn, url string) (string, error) {
	name := s.plain(url)
	if s.owned == nil {
		return name, nil
	}
	owned, err := s.owned(txn, url)
	if owned {
		name += "#content"
	}
	return name, err
}

// describe returns the statements of the default graph about a graph.
func (s *Store) describe(r record) (quads []term.Quad) {
	if r.Name == "" {
		return nil
	}
	graph := term.IRI(r.Name)
	if r.Omitted != "" {
		about := graph
		if r.Version != "" {
			about = term.IRI(s.mint.Version(r.Version))
		}
		return []term.Quad{{S: about, P: term.IRI(vocab.ArcGraphOmitted), O: term.String(r.Omitted)}}
	}
	if r.Digest == "" {
		return nil
	}
	quads = append(quads, term.Quad{S: graph, P: term.IRI(vocab.VoIDTriples), O: term.Typed(fmt.Sprint(r.Quads), vocab.XSDInteger)})
	if r.Source != "" {
		quads = append(quads, term.Quad{S: graph, P: term.IRI(vocab.PROVWasDerivedFrom), O: describe.IRI(r.Source)})
	}
	if r.Version != "" {
		version := term.IRI(s.mint.Version(r.Version))
		quads = append(quads, term.Quad{S: version, P: term.IRI(vocab.ArcGraph), O: graph},
			term.Quad{S: graph, P: term.IRI(vocab.PROVWasDerivedFrom), O: version})
	}
	return quads
}

// replace writes the difference between two sorted lists of statements to a graph.
func replace(txn *triplestore.Txn, graph term.Key, before, after []term.Quad) (changed int, err error) {
	for len(before)+len(after) > 0 {
		order := 0
		switch {
		case len(before) == 0:
			order = 1
		case len(after) == 0:
			order = -1
		default:
			order = compare(before[0], after[0])
		}
		var q term.Quad
		if order <= 0 {
			q, before = before[0], before[1:]
		}
		if order >= 0 {
			q, after = after[0], after[1:]
		}
		q.G = graph
		switch {
		case order < 0:
			err = txn.Delete(q)
		case order > 0:
			err = txn.Insert(q)
		default:
			continue
		}
		if err != nil {
			return changed, err
		}
		changed++
	}
	return changed, nil
}

func idOf(url string) graphID {
	sum := sha256.Sum256([]byte(url))
	return graphID(sum[:16])
}
