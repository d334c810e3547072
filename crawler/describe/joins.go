package describe

import (
	"slices"
	"strconv"

	"odarchive/crawler/joins"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
	"odarchive/vocab/xsd"
)

// Joins describes which columns of other tables a version's columns share values with.
func Joins(m ns.Mint, matches []joins.Match) []term.Quad {
	g := &graph{}
	var said []joins.Place // pairs of files
	for _, match := range matches {
		from, to := Column(m, match.Column), Column(m, match.Other)
		mine, other := joins.Place{Version: match.Column.Version, Member: match.Column.Member}, joins.Place{Version: match.Other.Version, Member: match.Other.Member}
		if pair := []joins.Place{mine, other}; mine != other && !contains(said, pair) {
			said = append(said, pair...)
			g.about(term.IRI(fileOf(m, mine)))
			g.add(arc.JoinableWith, term.IRI(fileOf(m, other)))
		}
		if match.Containment < match.Reverse && match.Containment < joins.Threshold {
			continue // said the other way round
		}
		g.about(term.IRI(from))
		g.add(arc.ContainedIn, term.IRI(to))
		g.about(term.Blank("join-" + label(match.Column) + "-" + label(match.Other)))
		g.isA(arc.Join)
		g.add(arc.JoinFrom, term.IRI(from))
		g.add(arc.JoinTo, term.IRI(to))
		g.add(arc.Containment, share(match.Containment))
		g.add(arc.Jaccard, share(match.Jaccard))
	}
	return g.quads
}

func contains(said, pair []joins.Place) bool {
	for at := range slices.Chunk(said, 2) {
		if slices.Equal(at, pair) {
			return true
		}
	}
	return false
}

// Column is the IRI of a column at a place.
func Column(m ns.Mint, p joins.Place) string {
	return fileOf(m, p) + "#" + fragment(p.Table) + strconv.Itoa(p.Column+1)
}

func fileOf(m ns.Mint, p joins.Place) string {
	if p.Member == "" {
		return m.Version(p.Version)
	}
	return m.Member(p.Version, p.Member)
}

// fragment is what the columns of a file's i-th table, from 0, have before their numbers.
func fragment(table int) string {
	if table == 0 {
		return ""
	}
	return strconv.Itoa(table+1) + "."
}

// label is a place as a part of the label of a blank node; a path is told by its hash, for it may be long.
func label(p joins.Place) string {
	s := p.Version
	if p.Member != "" {
		s += "-" + ns.ResourceID(p.Member)
	}
	return s + "-" + strconv.Itoa(p.Table) + "." + strconv.Itoa(p.Column+1)
}

func share(f float64) term.Key { return term.Typed(strconv.FormatFloat(f, 'f', -1, 64), xsd.Decimal) }
