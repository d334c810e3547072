package text

import (
	"slices"
	"strings"
)

// Match reports whether a query finds a text with a language tag, which may be empty. It reads the text and needs no
// index.
func (q *Query) Match(a *Analyser, text, tag string) bool {
	if !inLanguage(tag, q.lang) {
		return false
	}
	lang := stemLanguage(tag)
	var words, stems []string
	a.tokens(text, func(t token) {
		words = append(words, t.word)
		if lang != "" {
			stems = append(stems, a.stem(lang, t.full).stem)
		}
	})
	return matches(q.root, func(l leaf) bool { return l.in(a, lang, words, stems) })
}

// inLanguage reports whether a tag is in a language range of lower-case letters (RFC 4647 §3.3.1).
func inLanguage(tag, wanted string) bool {
	if wanted == "" || wanted == "*" && tag != "" {
		return true
	}
	rest, ok := strings.CutPrefix(strings.ToLower(tag), wanted)
	return ok && (rest == "" || rest[0] == '-')
}

func matches(n node, has func(leaf) bool) bool {
	found := func(n node) bool { return matches(n, has) }
	switch n := n.(type) {
	case leaf:
		return has(n)
	case all:
		for _, m := range n.must {
			if !found(m) {
				return false
			}
		}
		return (len(n.must) > 0 || slices.ContainsFunc(n.some, found)) && !slices.ContainsFunc(n.not, found)
	}
	return false
}

// in reports whether the words of a text contain the leaf. stems are empty if its language has no stemmer.
func (l leaf) in(a *Analyser, lang string, words, stems []string) bool {
	same := func(w queryWord, i int, prefix bool) bool {
		if prefix {
			return strings.HasPrefix(words[i], w.word)
		}
		return words[i] == w.word || lang != "" && stems[i] == a.stem(lang, w.full).stem
	}
	for i := 0; i+len(l.words) <= len(words); i++ {
		j := 0
		for j < len(l.words) && same(l.words[j], i+j, l.prefix && j == len(l.words)-1) {
			j++
		}
		if j == len(l.words) {
			return true
		}
	}
	return false
}
