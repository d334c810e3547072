package search

import (
	"odarchive/crawler/archive/wordindex"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/document"
)

// maxDocumentWords bounds the words of what one resource and its members say of themselves.
const maxDocumentWords = 500

// documentWords returns the words of what a version says of itself, and of what its members do: titles, names of variables,
// descriptions.
func documentWords(in *inspect.Inside) (words []string) {
	if in == nil {
		return nil
	}
	seen := map[string]bool{}
	add := func(d *document.Document) {
		for text := range d.Texts() {
			if len(words) >= maxDocumentWords {
				return
			}
			for _, w := range wordindex.Words(text, maxWords, true) {
				if !seen[w] && len(words) < maxDocumentWords {
					seen[w] = true
					words = append(words, w)
				}
			}
		}
	}
	add(in.Document)
	for _, m := range in.Members {
		add(m.Document)
	}
	return words
}
