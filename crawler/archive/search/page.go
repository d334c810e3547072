package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/archive/tallies"
	"odarchive/crawler/catalog"
)

// readPage reads the records of a page, the titles of portals, the names of the columns in which a word was found, and
// what is shown of descriptions.
func (x *Index) readPage(ctx context.Context, found *catalog.Found, docs []uint32, scores []float64, q question) error {
	found.Resources = make([]catalog.Resource, 0, len(docs))
	found.About = make(map[string]catalog.About, len(docs))
	var marks []string
	for _, p := range q.parts {
		for _, w := range p.words {
			if !slices.Contains(marks, w) {
				marks = append(marks, w)
			}
		}
	}
	return records.View(x.db, func(t records.Txn) error {
		if err := waiting(ctx, t.Txn, &found.Indexing); err != nil {
			return err
		}
		columns, err := inColumns(ctx, t, marks)
		if err != nil {
			return err
		}
		for i, p := range found.Portals {
			n, err := tallies.Get(t.Txn, tallies.ByPortal, p.Key)
			if err != nil {
				return err
			}
			found.Portals[i].Label = n.Title
		}
		for i, doc := range docs {
			r, err := recordOf(t, doc)
			if err != nil {
				return err
			}
			found.Resources = append(found.Resources, r.Resource)
			if columns.Has(doc) && r.Versions > 0 {
				names, err := columnsFound(t, r, marks)
				if err != nil {
					return err
				}
				if found.Columns == nil {
					found.Columns = map[string][]string{}
				}
				found.Columns[r.ID] = names
			}
			text, err := x.textsOf(t.Txn, doc)
			if err != nil {
				return err
			}
			more, _, err := traitsOf(t.Txn, doc)
			if err != nil {
				return err
			}
			found.About[r.ID] = catalog.About{Score: scores[i], Title: Pieces(cutText(cmp.Or(r.Title, r.FileName), maxShown), marks),
				Dataset: Pieces(cutText(r.DatasetTitle, maxShown), marks),
				Text:    Pieces(around(text.Description, marks), marks), Publisher: more.Publisher, Licence: more.Licence, Rows: more.Rows}
		}
		return ctx.Err()
	})
}

// inColumns returns the documents with a word of the question in the name of a column.
func inColumns(ctx context.Context, t records.Txn, marks []string) (all Set, err error) {
	for _, w := range marks {
		exact, beginning, err := Find(ctx, t.Txn, fieldColumn, w)
		if err != nil {
			return nil, err
		}
		all.Union(exact)
		all.Union(beginning)
	}
	return all, nil
}

// columnsFound returns the names of the columns that contain a word of the question.
func columnsFound(t records.Txn, r records.Resource, marks []string) (list []string, err error) {
	in, err := LatestInside(t, r)
	if err != nil {
		return nil, err
	}
	for name := range columnNames(in) {
		if len(list) < maxNames && !slices.Contains(list, name) &&
			slices.ContainsFunc(marks, func(w string) bool { return Begins(name, w) }) {
			list = append(list, name)
		}
	}
	return list, nil
}

// Pieces divides a text into words that a search looks for and what is between them. words are folded; a word of the
// text counts if it begins with one.
func Pieces(text string, words []string) (list []catalog.Piece) {
	if text == "" {
		return nil
	}
	add := func(s string, found bool) {
		if last := len(list) - 1; last >= 0 && list[last].Found == found {
			list[last].Text += s
		} else if s != "" {
			list = append(list, catalog.Piece{Text: s, Found: found})
		}
	}
	eachRun(text, func(run string, isWord bool) bool {
		add(run, isWord && len(words) > 0 && isFound(run, words))
		return true
	})
	return list
}

// isFound reports whether a run of letters and digits has one of some words.
func isFound(run string, words []string) bool {
	for _, w := range Words(run, 40, true) {
		if slices.ContainsFunc(words, func(word string) bool { return Meets(w, word) }) {
			return true
		}
	}
	return false
}

// eachRun calls f with the runs of letters and digits of a text, and with what is between them, until f returns false.
func eachRun(text string, f func(run string, isWord bool) (more bool)) {
	for text != "" {
		first, _ := utf8.DecodeRuneInString(text)
		is := inWord(first)
		end := strings.IndexFunc(text, func(r rune) bool { return inWord(r) != is })
		if end < 0 {
			end = len(text)
		}
		if !f(text[:end], is) {
			return
		}
		text = text[end:]
	}
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// Bounds of the part of a description that a hit shows.
const (
	maxSnippet = 220
	leadIn     = 60
)

// around returns the part of a text where the first of some words is, or its beginning.
func around(text string, words []string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxSnippet {
		return text
	}
	at := 0
	from := 0
	if len(words) > 0 {
		eachRun(text, func(run string, isWord bool) bool {
			if isWord && isFound(run, words) {
				from = at
				return false
			}
			at += len(run)
			return true
		})
	}
	before := ""
	if from > maxSnippet-leadIn {
		from -= leadIn
		if i := strings.IndexByte(text[from:], ' '); i >= 0 && i < leadIn {
			from += i + 1
		}
		for from < len(text) && !utf8.RuneStart(text[from]) {
			from++
		}
		before, text = "… ", text[from:]
	}
	return before + cutText(text, maxSnippet)
}
