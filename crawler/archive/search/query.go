package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"odarchive/crawler/catalog"
)

// Bounds of the text of a search.
const (
	maxText  = 2000 // bytes
	maxParts = 32   // words, phrases and filters
)

// query is the text of a search, read: what must be there, what must not, and filters.
//
//	wien bevölkerung       both words, in any form; a word also finds those that it begins
//	"stadt wien"           these words one after the other, as they are
//	wien OR graz           either
//	-prognose              not this word; also -"stadt wien", -type:pdf
//	title:wien             a word in one field: title, description, keyword, publisher, licence, column, value, url
//	type:csv  portal:wien  filters; also host, dataset, since, before, size, rows, outcome, gone
//	publisher="Stadt Wien" a filter by the whole value
type query struct {
	must    [][]clause // one of the alternatives of each
	not     []clause
	filters []filter
}

// clause is a word of a question, several that are written as one ("co2-ausstoß"), or a phrase.
type clause struct {
	words  []string // folded
	raw    string   // as written
	phrase bool     // the words follow each other, and are not found in other forms
	fields []Field
	portal bool // titles and addresses of portals count, too
}

// filter is a condition on one property.
type filter struct {
	key, value string
	whole      bool // the value is the whole one, not a part of it
	not        bool
}

// wordFields are the fields that a word can be limited to, by name.
var wordFields = map[string][]Field{
	"title": {fieldTitle}, "titel": {fieldTitle},
	"description": {fieldDescription, fieldDocument}, "text": {fieldDescription, fieldDocument},
	"beschreibung": {fieldDescription, fieldDocument},
	"keyword":      {fieldKeyword}, "tag": {fieldKeyword}, "schlagwort": {fieldKeyword},
	"publisher": {fieldPublisher}, "herausgeber": {fieldPublisher},
	"licence": {fieldLicence}, "license": {fieldLicence}, "lizenz": {fieldLicence},
	"column": {fieldColumn}, "spalte": {fieldColumn},
	"value": {fieldValue}, "wert": {fieldValue},
	"url": {fieldAddress}, "address": {fieldAddress},
}

// filterNames are the names of filters in texts, with the key of each.
var filterNames = map[string]string{
	"type": "type", "format": "type", "filetype": "type", "portal": "portal", "host": "host", "site": "host", "dataset": "dataset",
	"since": "since", "changed": "since", "after": "since", "before": "before", "until": "before",
	"size": "size", "rows": "rows", "outcome": "outcome", "gone": "gone",
}

// wholeNames are the filters by the whole value (publisher="Stadt Wien") that are not in filterNames.
var wholeNames = map[string]string{"publisher": "publisher", "licence": "licence", "license": "licence"}

// parseQuery reads the text of a search. Its errors are of type *catalog.QuestionError.
func parseQuery(text string) (q query, err error) {
	if len(text) > maxText {
		return q, catalog.BadQuestion("A search has at most %d characters; this one has %d.", maxText, utf8.RuneCountInString(text))
	}
	p := parser{in: strings.ToValidUTF8(text, " ")}
	n, or := 0, false
	for {
		t, ok := p.token()
		if !ok {
			return q, nil
		}
		if !t.quoted && (t.text == "OR" || t.text == "|" || t.text == "||" || t.text == "ODER") {
			or = len(q.must) > 0
			continue
		}
		if !t.quoted && t.name == "" && (t.text == "AND" || t.text == "&&") {
			or = false
			continue
		}
		if n++; n > maxParts {
			return q, catalog.BadQuestion("A search has at most %d words, phrases and filters.", maxParts)
		}
		if f, ok := t.filter(); ok {
			if err := f.check(); err != nil {
				return q, err
			}
			q.filters, or = append(q.filters, f), false
			continue
		}
		for i, c := range t.clauses() {
			switch {
			case t.not:
				q.not = append(q.not, c)
			case or && i == 0:
				last := len(q.must) - 1
				q.must[last] = append(q.must[last], c)
			default:
				q.must = append(q.must, []clause{c})
			}
		}
		or = false
	}
}

// token is a part of a text between blanks: -name:"text".
type token struct {
	not, quoted, whole bool
	name               string // of a field or filter, in lower case
	text               string
}

type parser struct {
	in  string
	not bool // NOT precedes
}

func blank(r rune) bool { return r <= ' ' || r == 0xa0 || r == 0x3000 }

func (p *parser) token() (t token, ok bool) {
	for {
		p.in = strings.TrimLeftFunc(p.in, blank)
		if p.in == "" {
			return t, false
		}
		if rest, is := strings.CutPrefix(p.in, "NOT "); is {
			p.in, p.not = rest, true
			continue
		}
		break
	}
	t.not, p.not = p.not, false
	if (p.in[0] == '-' || p.in[0] == '!') && len(p.in) > 1 && !blank(rune(p.in[1])) && p.in[1] != '-' {
		t.not, p.in = true, p.in[1:]
	} else if p.in[0] == '+' && len(p.in) > 1 {
		p.in = p.in[1:]
	}
	if i := strings.IndexAny(p.in, ":= \t\r\n\""); i > 0 && (p.in[i] == ':' || p.in[i] == '=') {
		name := strings.ToLower(p.in[:i])
		_, isField := wordFields[name]
		_, isFilter := filterNames[name]
		if rest := p.in[i+1:]; (isField || isFilter) && rest != "" && !blank(rune(rest[0])) && !strings.HasPrefix(rest, "//") {
			t.name, t.whole, p.in = name, p.in[i] == '=', rest
		}
	}
	if strings.HasPrefix(p.in, `"`) {
		t.quoted = true
		p.in = p.in[1:]
		end := strings.IndexByte(p.in, '"')
		if end < 0 { // a quotation mark without another begins nothing
			t.quoted = false
		} else {
			t.text, p.in = p.in[:end], p.in[end+1:]
			return t, true
		}
	}
	end := strings.IndexFunc(p.in, func(r rune) bool { return blank(r) || r == '"' })
	if end < 0 {
		end = len(p.in)
	}
	t.text, p.in = p.in[:end], p.in[end:]
	return t, true
}

// filter returns the filter that a token is.
func (t token) filter() (filter, bool) {
	key, ok := filterNames[t.name]
	if !ok && t.whole {
		key, ok = wholeNames[t.name]
	}
	return filter{key, strings.TrimSpace(t.text), t.whole, t.not}, ok && strings.TrimSpace(t.text) != ""
}

// clauses returns the words of a token. Words that are written as one are one clause if they are alternatives or
// excluded, so that the token means the same everywhere; otherwise each must be there.
func (t token) clauses() (list []clause) {
	words := Words(unescaped(t.text), maxParts, false)
	if t.quoted {
		words = phraseWords(t.text, maxParts)
	}
	if len(words) == 0 {
		return nil
	}
	c := clause{words: words, raw: t.text, phrase: t.quoted, fields: wordFields[t.name], portal: t.name == ""}
	if t.quoted || t.not || len(words) == 1 {
		return []clause{c}
	}
	for _, w := range words {
		one := c
		one.words, one.raw = []string{w}, w
		list = append(list, one)
	}
	return list
}

// check reports what is wrong with the value of a filter.
func (f filter) check() error {
	switch f.key {
	case "since", "before":
		if _, err := parseDay(f.value, time.Now()); err != nil {
			return err
		}
	case "size", "rows":
		if _, _, err := parseRange(f.value); err != nil {
			return err
		}
	case "gone":
		if !slices.Contains([]string{"yes", "no", "ja", "nein"}, strings.ToLower(f.value)) {
			return catalog.BadQuestion("gone:%s: expected gone:yes or gone:no.", shown(f.value))
		}
	}
	return nil
}

// shown returns a value for a message.
func shown(s string) string {
	if runes := []rune(s); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return s
}

// parseDay reads a time as people write it: 2026, 2026-10, 2026-10-24, a time of RFC 3339, or 30d, 4w, 6m, 1y before
// now.
func parseDay(s string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	if n, err := strconv.Atoi(s[:max(0, len(s)-1)]); err == nil && n >= 0 && n <= 1000 {
		today := now.UTC().Truncate(24 * time.Hour)
		switch s[len(s)-1] {
		case 'd':
			return today.AddDate(0, 0, -n), nil
		case 'w':
			return today.AddDate(0, 0, -7*n), nil
		case 'm':
			return today.AddDate(0, -n, 0), nil
		case 'y':
			return today.AddDate(-n, 0, 0), nil
		}
	}
	return time.Time{}, catalog.BadQuestion("“%s” is not a date: expected 2026-10-24, 2026-10, 2026, or 30d for the last 30 days.",
		shown(s))
}

// parseRange reads a range of numbers: >10, <=1MB, 100..200, 5. max is -1 if there is none.
func parseRange(s string) (least, most int64, err error) {
	bad := catalog.BadQuestion("“%s” is not a range: expected >1000, <10MB or 100..200.", shown(s))
	number := func(s string) int64 {
		n, ok := parseNumber(s)
		if !ok {
			err = bad
		}
		return n
	}
	low, high, isRange := strings.Cut(s, "..")
	switch {
	case isRange:
		most = -1
		if low != "" {
			least = number(low)
		}
		if high != "" {
			most = number(high)
		}
	case strings.HasPrefix(s, ">="):
		least, most = number(s[2:]), -1
	case strings.HasPrefix(s, "<="):
		most = number(s[2:])
	case strings.HasPrefix(s, ">"):
		least, most = number(s[1:])+1, -1
	case strings.HasPrefix(s, "<"):
		most = number(s[1:]) - 1
	default:
		least = number(s)
		most = least
	}
	return least, most, err
}

// parseNumber reads a number of rows or bytes: 1000, 1,000, 10k, 1.5MB. A k is 1000.
func parseNumber(s string) (int64, bool) {
	s = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), ",", ""))
	s = strings.TrimSuffix(s, "b")
	factor := 1.0
	if s != "" {
		if i := strings.IndexByte("kmgt", s[len(s)-1]); i >= 0 {
			s = s[:len(s)-1]
			for range i + 1 {
				factor *= 1000
			}
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || !(n >= 0 && n*factor < 1<<60) {
		return 0, false
	}
	return int64(n * factor), true
}

// Text returns the text of a search that has all of its filters in the text, so that one text selects the same files:
// for feeds, queries and addresses. Its Sort, After, Limit and Facets have no effect.
func Text(s catalog.Search) string {
	parts := []string{}
	if text := strings.TrimSpace(s.Text); text != "" {
		parts = append(parts, text)
	}
	for _, f := range filtersOf(s) {
		op := ":"
		if f.whole {
			op = "="
		}
		value := strings.ReplaceAll(f.value, `"`, " ")
		if value == "" || strings.ContainsFunc(value, blank) {
			value = `"` + value + `"`
		}
		parts = append(parts, f.key+op+value)
	}
	return strings.Join(parts, " ")
}

// filtersOf returns the filters that are fields of a search.
func filtersOf(s catalog.Search) (list []filter) {
	add := func(key, value string) {
		if value != "" {
			list = append(list, filter{key: key, value: value, whole: true})
		}
	}
	add("type", s.Type)
	add("portal", s.Portal)
	add("dataset", s.Dataset)
	add("host", s.Host)
	add("licence", s.Licence)
	add("publisher", s.Publisher)
	add("outcome", string(s.Outcome))
	for _, t := range []struct {
		key string
		at  time.Time
	}{{"since", s.Since}, {"before", s.Before}} {
		if !t.at.IsZero() {
			layout := time.RFC3339
			if t.at.UTC().Truncate(24 * time.Hour).Equal(t.at) {
				layout = "2006-01-02"
			}
			list = append(list, filter{key: t.key, value: t.at.UTC().Format(layout)})
		}
	}
	for _, r := range []struct {
		key string
		catalog.Range
	}{{"size", s.Size}, {"rows", s.Rows}} {
		switch {
		case r.Least > 0 && r.Most > 0:
			list = append(list, filter{key: r.key, value: fmt.Sprintf("%d..%d", r.Least, r.Most)})
		case r.Least > 0:
			list = append(list, filter{key: r.key, value: fmt.Sprintf("%d..", r.Least)})
		case r.Most > 0:
			list = append(list, filter{key: r.key, value: fmt.Sprintf("..%d", r.Most)})
		}
	}
	return list
}
