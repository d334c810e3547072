package rdfio

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Bounds on the cost of expansion. A context is copied wherever another is opened inside it, and every short name
// becomes an IRI, so the expansion of a few kilobytes could take terabytes.
const (
	maxContextCopies = 100_000_000 // number of contexts opened, times number of terms defined
	maxExpandedBytes = 2 << 30     // number of values, times length of the longest IRI that a context can make
)

// checkExpansion returns an error if expanding the document may cost too much, or if a context is invalid.
func checkExpansion(t jsonTree) error {
	opened := len(t.contexts)
	if t.scoped {
		opened = t.objects // every object may open a scoped context
	}
	if int64(opened)*int64(t.terms) > maxContextCopies {
		return limitError("contexts opened times terms defined", maxContextCopies)
	}
	if int64(longestIRI(t.contexts))*int64(t.values) > maxExpandedBytes {
		return limitError("an expanded size", maxExpandedBytes)
	}
	for _, c := range t.contexts {
		if err := checkContext(c); err != nil {
			return err
		}
	}
	return nil
}

// keywordLike matches keywords and strings that are reserved for future keywords.
var keywordLike = regexp.MustCompile("^@[A-Za-z]+$")

// checkContext reports the errors in a context that json-gold does not (JSON-LD 1.1 API §4.2.2), and removes term
// definitions that must be ignored.
func checkContext(v any) error {
	for _, c := range items(v) {
		m, _ := c.(map[string]any)
		for term, def := range m {
			d, defined := def.(map[string]any)
			switch {
			case term == "":
				return errors.New("invalid term definition: the empty term")
			case term == "@context", term == "@type" && defined && len(d) == 0:
				return fmt.Errorf("keyword redefinition: %s", term)
			}
			if reverse, _ := d["@reverse"].(string); keywordLike.MatchString(reverse) {
				delete(m, term) // §4.2.2 step 13.3
			}
			if err := checkContext(d["@context"]); err != nil {
				return err
			}
		}
	}
	return nil
}

// longestIRI returns an upper bound for the length of the IRIs that the terms of the contexts mean. Terms may be
// defined by other terms ("b": "a:x"), so lengths add up along such chains.
func longestIRI(contexts []any) int {
	defs := map[string][]string{}
	common := 0 // length of all @vocab and @base, which may begin every IRI
	var collect func(v any)
	collect = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				collect(item)
			}
		case map[string]any:
			for key, def := range v {
				switch s := def.(type) {
				case string:
					if key == "@vocab" || key == "@base" {
						common += len(s)
					} else {
						defs[key] = append(defs[key], s)
					}
				case map[string]any:
					if id, ok := s["@id"].(string); ok {
						defs[key] = append(defs[key], id)
					}
					if id, ok := s["@reverse"].(string); ok {
						defs[key] = append(defs[key], id)
					}
					if inner, ok := s["@context"]; ok {
						collect(inner)
					}
				}
			}
		}
	}
	for _, c := range contexts {
		collect(c)
	}
	known := map[string]int{}
	var length func(name string, depth int) int
	length = func(name string, depth int) int {
		if n, ok := known[name]; ok {
			return n
		}
		known[name] = len(name) // for cycles, which json-gold rejects
		n := len(name)
		for _, s := range defs[name] {
			total := len(s)
			if prefix, _, ok := strings.Cut(s, ":"); ok && prefix != name && defs[prefix] != nil && depth < maxChain {
				total += length(prefix, depth+1)
			} else if s != name && defs[s] != nil && depth < maxChain {
				total += length(s, depth+1)
			} else if ok && defs[prefix] != nil && depth >= maxChain {
				total = maxExpandedBytes
			}
			n = max(n, total)
		}
		known[name] = n
		return n
	}
	longest := 0
	for name := range defs {
		longest = max(longest, length(name, 0))
	}
	return longest + common
}

// maxChain bounds the length of a chain of terms that are defined by other terms.
const maxChain = 1000
