package docs

import (
	"cmp"
	"slices"
	"strings"
)

// Bounds of a search.
const (
	maxQuery = 200 // bytes that are read of a query
	maxWords = 8
	maxHits  = 30
)

// Hit is a section that contains every word of a search.
type Hit struct {
	Page    *Page
	Section Section
	Excerpt string // text around the first word that was found
	score   int
}

// Search returns the sections whose text, heading or page title contain every word, best first, at most 30. A word is
// found in the middle of others, too.
func (l *Library) Search(query string) []Hit {
	words := strings.Fields(strings.ToLower(query[:min(len(query), maxQuery)]))
	words = words[:min(len(words), maxWords)]
	if len(words) == 0 {
		return nil
	}
	var hits []Hit
	for _, p := range l.order {
		title := strings.ToLower(p.Title)
		for i, s := range p.Sections {
			score, inSection := 0, false
			heading := strings.ToLower(s.Title)
			for _, w := range words {
				n := 3 * min(strings.Count(s.lower, w), 3)
				if strings.Contains(heading, w) {
					n += 10
				}
				inSection = inSection || n > 0
				if strings.Contains(title, w) {
					n += 8
					if i == 0 {
						n += 20
					}
				}
				if n == 0 {
					score = 0
					break
				}
				score += n
			}
			if score == 0 || !inSection {
				continue
			}
			if p.Group == "" {
				score /= 3 // the table of contents, and documents for developers
			}
			hits = append(hits, Hit{Page: p, Section: s, Excerpt: excerpt(s, words), score: score})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(b.score, a.score) })
	return hits[:min(len(hits), maxHits)]
}

// excerpt returns about 200 bytes of a section around the first word that it contains.
func excerpt(s Section, words []string) string {
	const before, length = 60, 200
	at := 0
	for _, w := range words {
		if i := strings.Index(s.lower, w); i >= 0 {
			at = i
			break
		}
	}
	if len(s.lower) != len(s.text) {
		at = 0 // places in the lower case are not those of the text
	}
	start, end := max(at-before, 0), min(max(at-before, 0)+length, len(s.text))
	if start > 0 {
		start += max(strings.IndexByte(s.text[start:], ' '), 0) + 1
	}
	if end < len(s.text) {
		if i := strings.LastIndexByte(s.text[:end], ' '); i > start {
			end = i
		}
	}
	if start >= end {
		return ""
	}
	text := strings.ToValidUTF8(s.text[start:end], "")
	if start > 0 {
		text = "… " + text
	}
	if end < len(s.text) {
		text += " …"
	}
	return text
}
