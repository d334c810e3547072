package ldes

import (
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// page is the statements of a page, by subject. Members may be in named graphs.
type page struct {
	quads []term.Quad
	of    map[term.Key][]term.Quad
}

// version is a member of a stream.
type version struct {
	member  term.Key
	thing   string // of which it is a version
	time    string
	deleted bool
}

func newPage(quads []term.Quad) *page {
	p := &page{quads: quads, of: map[term.Key][]term.Quad{}}
	for _, q := range quads {
		p.of[q.S] = append(p.of[q.S], q)
	}
	return p
}

// value returns the first object of a subject for one of the predicates, "" if there is none.
func (p *page) value(s term.Key, predicates ...string) string {
	for _, predicate := range predicates {
		for _, q := range p.of[s] {
			if q.P == term.IRI(predicate) && q.O.Kind() != term.KindBlank {
				return q.O.Value()
			}
		}
	}
	return ""
}

func (p *page) isA(s term.Key, class string) bool {
	for _, q := range p.of[s] {
		if q.P == term.IRI(vocab.RDFType) && q.O == term.IRI(class) {
			return true
		}
	}
	return false
}

// stream returns the IRI of the stream, "" if the page does not name it.
func (p *page) stream() string {
	for _, q := range p.quads {
		isStream := q.P == term.IRI(vocab.TreeView) || q.P == term.IRI(vocab.TreeMember) || q.P == term.IRI(vocab.RDFType) &&
			q.O == term.IRI(vocab.LDESEventStream)
		if isStream && q.S.Kind() == term.KindIRI {
			return q.S.Value()
		}
	}
	return ""
}

// paths returns the predicates that the stream declares for the thing and the time of a version, "" where it declares
// none.
func (p *page) paths() (versionOf, timestamp string) {
	for _, q := range p.quads {
		switch {
		case q.O.Kind() != term.KindIRI:
		case q.P == term.IRI(vocab.LDESVersionOfPath):
			versionOf = q.O.Value()
		case q.P == term.IRI(vocab.LDESTimestampPath):
			timestamp = q.O.Value()
		}
	}
	return versionOf, timestamp
}

// members returns the members, each once.
func (p *page) members() (list []term.Key) {
	seen := map[term.Key]bool{}
	for _, q := range p.quads {
		if q.P == term.IRI(vocab.TreeMember) && q.O.Kind() == term.KindIRI && !seen[q.O] {
			seen[q.O] = true
			list = append(list, q.O)
		}
	}
	return list
}

// nodes returns the pages to which relations, or the views of a stream, lead.
func (p *page) nodes() (list []string) {
	seen := map[term.Key]bool{}
	for _, q := range p.quads {
		if (q.P == term.IRI(vocab.TreeNodeProp) || q.P == term.IRI(vocab.TreeView)) && q.O.Kind() == term.KindIRI && !seen[q.O] {
			seen[q.O] = true
			list = append(list, q.O.Value())
		}
	}
	return list
}

// isFile reports whether a member describes a file.
func (p *page) isFile(member term.Key) bool {
	return p.value(member, vocab.DCATDownloadURL, vocab.DCATMediaType, vocab.DCATByteSize) != ""
}

// materialized returns the statements about some versions as statements about their things. Those about other members
// are left out, and so is the structure of the stream.
func (p *page) materialized(versions []version) (quads []term.Quad) {
	things := map[term.Key]term.Key{}
	for _, m := range p.members() {
		things[m] = ""
	}
	for _, v := range versions {
		if !v.deleted {
			things[v.member] = term.IRI(v.thing)
		}
	}
	for _, q := range p.quads {
		switch q.P {
		case term.IRI(vocab.TreeMember), term.IRI(vocab.TreeRelationProp), term.IRI(vocab.TreeView):
			continue
		}
		q.G = ""
		if thing, isMember := things[q.S]; isMember {
			if q.S = thing; thing == "" {
				continue
			}
		}
		if thing, isMember := things[q.O]; isMember && thing != "" {
			q.O = thing
		}
		quads = append(quads, q)
	}
	return quads
}
