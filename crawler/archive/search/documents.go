package search

import (
	"iter"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/document"
)

// maxDocumentWords bounds the words of what one resource and its members say of themselves.
const maxDocumentWords = 500

// documentWords returns the words of what a version says of itself, and of what its members do: titles, names of
// variables, descriptions.
func documentWords(in *inspect.Inside) (words []string) {
	seen := map[string]bool{}
	for text := range documentTexts(in) {
		if len(words) >= maxDocumentWords {
			break
		}
		for _, w := range Words(text, maxWords, true) {
			if !seen[w] && len(words) < maxDocumentWords {
				seen[w] = true
				words = append(words, w)
			}
		}
	}
	return words
}

// documentTexts yields what a version and its members say of themselves.
func documentTexts(in *inspect.Inside) iter.Seq[string] {
	return func(yield func(string) bool) {
		if in == nil {
			return
		}
		documents := []*document.Document{in.Document}
		for _, m := range in.Members {
			documents = append(documents, m.Document)
		}
		for _, d := range documents {
			for text := range d.Texts() {
				if !yield(text) {
					return
				}
			}
		}
	}
}
