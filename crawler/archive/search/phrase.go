package search

import (
	"slices"
)

// phraseWords returns the words of a phrase, at most max.
func phraseWords(text string, max int) []string { return Sequence(text, max) }

const (
	maxSequence = 4000 // words of a text that are looked at for a phrase
	maxTables   = 300  // documents of one question whose columns are read for phrases
)

// phraseIn returns the field of a document in which the words of a phrase follow each other, 0 if there is none.
func (l *lookup) phraseIn(doc uint32, c clause) (Field, error) {
	r, err := recordOf(l.t, doc)
	if err != nil {
		return 0, err
	}
	in := func(f Field, texts ...string) bool {
		return (c.fields == nil || slices.Contains(c.fields, f)) &&
			slices.ContainsFunc(texts, func(text string) bool { return follow(Sequence(text, maxSequence), c.words) })
	}
	titles := []string{r.Title}
	for _, s := range r.Sources {
		titles = append(titles, s.DatasetTitle)
	}
	if in(fieldTitle, titles...) {
		return fieldTitle, nil
	}
	t, err := l.x.textsOf(l.t.Txn, doc)
	if err != nil {
		return 0, err
	}
	s, _, err := traitsOf(l.t.Txn, doc)
	if err != nil {
		return 0, err
	}
	switch {
	case in(fieldKeyword, t.Keywords...):
		return fieldKeyword, nil
	case in(fieldPublisher, s.Publisher):
		return fieldPublisher, nil
	case in(fieldDescription, t.Description):
		return fieldDescription, nil
	case in(fieldLicence, s.Licence):
		return fieldLicence, nil
	case in(fieldAddress, unescaped(r.URL), r.FileName, r.Format):
		return fieldAddress, nil
	}
	if r.Versions == 0 {
		return 0, nil
	}
	if l.tables++; l.tables > maxTables {
		l.bounded = true
		return 0, nil
	}
	inside, err := LatestInside(l.t, r)
	if err != nil {
		return 0, err
	}
	for name := range columnNames(inside) {
		if in(fieldColumn, name) {
			return fieldColumn, nil
		}
	}
	for text := range documentTexts(inside) {
		if in(fieldDocument, text) {
			return fieldDocument, nil
		}
	}
	for _, t := range tablesOf(inside) {
		for i := range t.Columns {
			for _, v := range t.Columns[i].Top {
				if !t.Columns[i].Personal && in(fieldValue, v.Value) {
					return fieldValue, nil
				}
			}
		}
	}
	return 0, nil
}

// follow reports whether words follow each other in a sequence.
func follow(sequence, words []string) bool {
	if len(words) == 0 {
		return false
	}
	for i := 0; i+len(words) <= len(sequence); i++ {
		if slices.Equal(sequence[i:i+len(words)], words) {
			return true
		}
	}
	return false
}
