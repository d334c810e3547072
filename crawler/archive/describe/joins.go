package describe

import (
	"slices"
	"strconv"

	"odarchive/crawler/archive/joins"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Joins describes which columns of other tables a version's columns share values with.
func Joins(m ns.Mint, matches []joins.Match) []term.Quad { return describeJoins(m, matches, nil) }

// JoinsChange describes the difference between the matches of a version before and after a change.
func JoinsChange(m ns.Mint, before, after []joins.Match) (removed, added []term.Quad) {
	return describeJoins(m, joins.Without(before, after), after), describeJoins(m, joins.Without(after, before), before)
}

// pair is the two files of a match.
type pair [2]joins.Place

func pairOf(match joins.Match) pair {
	return pair{{Version: match.Column.Version, Member: match.Column.Member}, {Version: match.Other.Version, Member: match.Other.Member}}
}

// describeJoins describes matches, except that files are joinable if others imply the same.
func describeJoins(m ns.Mint, matches, others []joins.Match) []term.Quad {
	if len(matches) == 0 {
		return nil
	}
	g := &graph{}
	for i, match := range matches {
		from, to := Column(m, match.Column), Column(m, match.Other)
		files := pairOf(match)
		same := func(other joins.Match) bool { return pairOf(other) == files }
		if files[0] != files[1] && !slices.ContainsFunc(others, same) && !slices.ContainsFunc(matches[:i], same) {
			g.about(term.IRI(fileOf(m, files[0])))
			g.add(vocab.ArcJoinableWith, term.IRI(fileOf(m, files[1])))
		}
		if match.Containment < match.Reverse && match.Containment < joins.Threshold {
			continue // described from the other column
		}
		g.about(term.IRI(from))
		g.add(vocab.ArcContainedIn, term.IRI(to))
		g.about(term.Blank("join-" + label(match.Column) + "-" + label(match.Other)))
		g.isA(vocab.ArcJoin)
		g.add(vocab.ArcJoinFrom, term.IRI(from))
		g.add(vocab.ArcJoinTo, term.IRI(to))
		g.add(vocab.ArcContainment, share(match.Containment))
		g.add(vocab.ArcJaccard, share(match.Jaccard))
	}
	return g.quads
}

// Column returns the IRI of a column.
func Column(m ns.Mint, p joins.Place) string {
	return fileOf(m, p) + "#" + fragment(p.Table) + strconv.Itoa(p.Column+1)
}

func fileOf(m ns.Mint, p joins.Place) string {
	if p.Member == "" {
		return m.Version(p.Version)
	}
	return m.Member(p.Version, p.Member)
}

// fragment returns the prefix of the column numbers of a file's table, which are counted from 0.
func fragment(table int) string {
	if table == 0 {
		return ""
	}
	return strconv.Itoa(table+1) + "."
}

// label returns a place as a part of a blank node label. It contains the hash of a path, which may be long.
func label(p joins.Place) string {
	s := p.Version
	if p.Member != "" {
		s += "-" + ns.ResourceID(p.Member)
	}
	return s + "-" + strconv.Itoa(p.Table) + "." + strconv.Itoa(p.Column+1)
}

func share(f float64) term.Key {
	return term.Typed(strconv.FormatFloat(f, 'f', -1, 64), vocab.XSDDecimal)
}
