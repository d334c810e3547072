package describe

import (
	"strconv"

	"odarchive/crawler/archive/joins"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
	"odarchive/vocab/xsd"
)

// Joins describes which columns of other tables a version's columns share values with.
func Joins(m ns.Mint, matches []joins.Match) []term.Quad { return joinsBut(m, matches, nil) }

// JoinsChange describes what goes and what comes where a version's matches become others; what stays is in neither.
func JoinsChange(m ns.Mint, before, after []joins.Match) (gone, come []term.Quad) {
	return joinsBut(m, without(before, after), after), joinsBut(m, without(after, before), before)
}

// without gives the matches that are not among others.
func without(matches, others []joins.Match) (rest []joins.Match) {
	if len(others) == 0 {
		return matches
	}
	among := make(map[joins.Match]struct{}, len(others))
	for _, match := range others {
		among[match] = struct{}{}
	}
	for _, match := range matches {
		if _, there := among[match]; !there {
			rest = append(rest, match)
		}
	}
	return rest
}

// pair of files that matches are between.
type pair [2]joins.Place

func pairOf(match joins.Match) pair {
	return pair{{Version: match.Column.Version, Member: match.Column.Member}, {Version: match.Other.Version, Member: match.Other.Member}}
}

// joinsBut describes matches, but not that two files can be joined where others say so.
func joinsBut(m ns.Mint, matches, others []joins.Match) []term.Quad {
	if len(matches) == 0 {
		return nil
	}
	g := &graph{}
	said := make(map[pair]struct{}, len(others))
	for _, match := range others {
		said[pairOf(match)] = struct{}{}
	}
	for _, match := range matches {
		from, to := Column(m, match.Column), Column(m, match.Other)
		files := pairOf(match)
		if _, known := said[files]; !known && files[0] != files[1] {
			said[files] = struct{}{}
			g.about(term.IRI(fileOf(m, files[0])))
			g.add(arc.JoinableWith, term.IRI(fileOf(m, files[1])))
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
