package graphs

import (
	"context"
	"fmt"
	"slices"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
)

// Content is the content of a graph, prepared for Put.
type Content struct {
	URL     string // of the document that answered
	Omitted string // why the statements are not kept; "" if they are
	Source  string // IRI of the source of the statements, if that is not a version

	id     graphID
	quads  []term.Quad // sorted, without duplicates and graph names
	digest digest
	parts  [][]byte // encoded and compressed quads
}

// isLarge reports whether Prepare writes the parts, because they are too large for the transaction of Put.
func (c *Content) isLarge() bool {
	size := 0
	for _, part := range c.parts {
		size += len(part)
	}
	return size > largeContent
}

// BlankPrefix returns the prefix of the labels of a document's blank nodes. It differs from document to document.
func BlankPrefix(url string) string {
	id := idOf(url)
	return fmt.Sprintf("g%x", id[:8])
}

// Prepare returns the content of a graph with the statements of a document. It modifies quads. Call it before the
// transaction of Put: it does the work that takes long, and writes parts that are too large for that transaction.
func (s *Store) Prepare(ctx context.Context, url string, quads []term.Quad) (*Content, error) {
	c := &Content{URL: url, id: idOf(url)}
	if len(quads) <= maxRelabel {
		quads = harvest.Relabelled(quads, BlankPrefix(url))
	}
	quads = slices.DeleteFunc(quads, func(q term.Quad) bool {
		return len(q.S) > maxTerm || len(q.P) > maxTerm || len(q.O) > maxTerm || q.P.Kind() != term.KindIRI ||
			q.O.Kind() == term.KindNone ||
			q.S.Kind() != term.KindIRI && q.S.Kind() != term.KindBlank
	})
	for i := range quads {
		quads[i].G = ""
	}
	slices.SortFunc(quads, compare)
	c.quads = slices.Compact(quads)
	c.digest, c.parts = s.packed(c.quads)
	if !c.isLarge() {
		return c, nil
	}
	if err := s.writeParts(ctx, c); err != nil {
		return nil, fmt.Errorf("graphs: %s: %w", url, err)
	}
	return c, nil
}

// Omit returns the content of a document whose statements are not kept.
func Omit(url, why string) *Content { return &Content{URL: url, id: idOf(url), Omitted: why} }
