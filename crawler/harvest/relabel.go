package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/term"
)

// Relabelled replaces the labels of blank nodes by labels derived from the statements about them, so that a source with
// new labels in each answer yields the same statements. Colours are refined as in RDF graph canonicalisation. Nodes
// that this cannot distinguish are numbered in the order of their appearance, which matters only among nodes with the
// same statements.
func Relabelled(quads []term.Quad, prefix string) []term.Quad {
	colours := map[term.Key]string{}
	var order []term.Key
	for _, q := range quads {
		for _, k := range []term.Key{q.S, q.O} {
			if k.Kind() == term.KindBlank && colours[k] == "" {
				colours[k] = "blank"
				order = append(order, k)
			}
		}
	}
	if len(order) == 0 {
		return quads
	}
	for range min(len(order), maxRounds) {
		next := recoloured(quads, colours)
		if kinds(next) == kinds(colours) && kinds(next) > 1 {
			colours = next
			break
		}
		colours = next
	}
	labels := map[term.Key]term.Key{}
	taken := map[string]int{}
	for _, k := range order {
		label := prefix + colours[k][:16]
		if taken[label]++; taken[label] > 1 {
			label += "x" + strconv.Itoa(taken[label])
		}
		labels[k] = term.Blank(label)
	}
	out := slices.Clone(quads)
	for i := range out {
		out[i].S, out[i].O = renamed(out[i].S, labels), renamed(out[i].O, labels)
	}
	return out
}

// maxRounds is the maximum number of refinements: the distance at which nodes are still distinguished.
const maxRounds = 12

func renamed(k term.Key, labels map[term.Key]term.Key) term.Key {
	if label, ok := labels[k]; ok {
		return label
	}
	return k
}

// recoloured returns new colours, derived from the statements that a node is part of.
func recoloured(quads []term.Quad, colours map[term.Key]string) map[term.Key]string {
	said := map[term.Key][]string{}
	look := func(k term.Key) string {
		if c, ok := colours[k]; ok {
			return c
		}
		return string(k)
	}
	for _, q := range quads {
		if q.S.Kind() == term.KindBlank {
			said[q.S] = append(said[q.S], "s\x01"+string(q.P)+"\x01"+look(q.O))
		}
		if q.O.Kind() == term.KindBlank {
			said[q.O] = append(said[q.O], "o\x01"+string(q.P)+"\x01"+look(q.S))
		}
	}
	next := make(map[term.Key]string, len(colours))
	for k, all := range said {
		slices.Sort(all)
		sum := sha256.Sum256([]byte(strings.Join(slices.Compact(all), "\x02")))
		next[k] = hex.EncodeToString(sum[:])
	}
	return next
}

func kinds(colours map[term.Key]string) int {
	seen := make(map[string]bool, len(colours))
	for _, c := range colours {
		seen[c] = true
	}
	return len(seen)
}
