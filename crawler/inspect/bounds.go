package inspect

import (
	"slices"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/rdfprofile"
)

// Maximum lengths of strings in bytes and of lists, and the maximum number of omitted members that are counted.
const (
	maxFault     = 500
	maxTableName = 300
	maxWhy       = 20
	maxIRI       = 2 << 10
	maxOmitted   = 100_000
)

// omitMember counts a member that is not listed, and ends the walk when enough have been counted.
func (l *look) omitMember() error {
	l.found.More = true
	if l.found.MembersOmitted++; l.found.MembersOmitted >= maxOmitted {
		return errEnough
	}
	return l.ctx.Err()
}

// boundTables removes columns beyond the limit, the last ones first, and counts them, and notes beyond the limit of
// facts.
func (l *look) boundTables(all []*csvprofile.Profile) []*csvprofile.Profile {
	for _, p := range all {
		if p == nil {
			continue
		}
		p.Name = shortened(p.Name, maxTableName)
		p.Why = p.Why[:min(len(p.Why), maxWhy)]
		for i := range p.Why {
			p.Why[i] = shortened(p.Why[i], maxFault)
		}
		for i, s := range p.Notes {
			if len(s) > l.facts {
				p.Notes = p.Notes[:i:i]
				break
			}
			l.facts -= len(s)
		}
		if over := len(p.Columns) - l.columns; over > 0 {
			p.Columns = slices.Clip(slices.Clone(p.Columns[:l.columns]))
			p.Omitted += over
			l.found.ColumnsOmitted += over
			l.found.More = true
		}
		l.columns -= len(p.Columns)
	}
	return all
}

// boundRDF removes IRIs beyond the limit, the rarest first.
func (l *look) boundRDF(p *rdfprofile.Profile) *rdfprofile.Profile {
	if p == nil {
		return nil
	}
	for _, list := range []*[]rdfprofile.Count{&p.Predicates, &p.Classes, &p.Namespaces} {
		kept := (*list)[:0:0]
		for _, c := range *list {
			if len(c.IRI) > maxIRI || len(c.IRI) > l.iris {
				p.More = true
				continue
			}
			l.iris -= len(c.IRI)
			kept = append(kept, c)
		}
		*list = slices.Clip(kept)
		if kept == nil {
			*list = []rdfprofile.Count{}
		}
	}
	size := 0
	for name, iri := range p.Prefixes {
		size += len(name) + len(iri)
	}
	if size > l.iris/4 {
		p.Prefixes, p.More = nil, true
		return p
	}
	l.iris -= size
	return p
}

// shortened returns a text of at most about n bytes, with an ellipsis if it was longer.
func shortened(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
