package search

import (
	"slices"
	"strings"
	"unicode"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
)

// Bounds of the words of one resource that come from descriptions and contents.
const (
	maxDescriptionWords = 250
	maxKeywordWords     = 80
	maxPublisherWords   = 30
	maxLicenceWords     = 20
	maxValueWords       = 120
	maxValueLength      = 60  // bytes of a cell whose words are indexed: longer ones are texts, which have too many
	maxShown            = 480 // bytes of a description that are kept to be shown
	maxPublisher        = 200 // bytes of a publisher or licence that are kept
)

// contents is what is searched inside a version beside the names of columns and what it says of itself.
type contents struct {
	values []string
	rows   int64 // of all tables
}

// contentsOf returns the words inside a version. Columns whose values seem to identify people give none of them.
func contentsOf(in *inspect.Inside) (c contents) {
	if in == nil {
		return c
	}
	values := collector{max: maxValueWords}
	for _, t := range tablesOf(in) {
		if t == nil {
			continue
		}
		c.rows += t.Rows
		for i := range t.Columns {
			addValues(&values, &t.Columns[i])
		}
	}
	c.values = values.words
	return c
}

// addValues adds the words of the most frequent values of a column of texts.
func addValues(values *collector, col *csvprofile.Column) {
	if col.Personal || col.Datatype != "string" {
		return
	}
	for _, top := range col.Top {
		if len(top.Value) <= maxValueLength {
			values.add(top.Value)
		}
	}
	for _, l := range col.Labels {
		values.add(l.Label)
	}
}

// collector gathers distinct words that have a letter.
type collector struct {
	max   int
	words []string
	seen  map[string]bool
}

func (c *collector) add(text string) {
	if text == "" || len(c.words) >= c.max {
		return
	}
	for _, w := range Words(text, c.max, true) {
		if len(c.words) >= c.max {
			return
		}
		if c.seen[w] || !strings.ContainsFunc(w, unicode.IsLetter) {
			continue
		}
		if c.seen == nil {
			c.seen = map[string]bool{}
		}
		c.seen[w] = true
		c.words = append(c.words, w)
	}
}

// textsFrom puts together what is indexed of a resource beside its record and the names of its columns.
func textsFrom(r records.Resource, m metadata, c contents) (texts, traits) {
	words := func(list []string, max int) []string { return Words(strings.Join(list, "\n"), max, true) }
	t := texts{words: map[Field][]string{}}
	for f, list := range map[Field][]string{
		fieldDescription: words(m.descriptions, maxDescriptionWords), fieldKeyword: words(m.keywords, maxKeywordWords),
		fieldPublisher: words(m.publishers, maxPublisherWords),
		fieldLicence:   words(append(slices.Clone(m.licences), m.declared...), maxLicenceWords), fieldValue: c.values,
	} {
		if len(list) > 0 {
			t.words[f] = list
		}
	}
	t.Description = cutText(strings.Join(m.descriptions, " "), maxShown)
	for i, k := range m.keywords {
		if i < 12 && len(k) <= 60 {
			t.Keywords = append(t.Keywords, k)
		}
	}
	s := traits{Rows: c.rows, Delisted: r.Delisted()}
	if len(m.publishers) > 0 {
		s.Publisher = cutText(m.publishers[0], maxPublisher)
	}
	if len(m.licences) > 0 {
		s.Licence = cutText(m.licences[0], maxPublisher)
	}
	return t, s
}

// cutText returns the beginning of a text, to the end of a word if that is near.
func cutText(s string, max int) string {
	if len(s) <= max {
		return s
	}
	end := max
	if i := strings.LastIndexByte(s[:max], ' '); i > max-40 {
		end = i
	}
	return strings.ToValidUTF8(s[:end], "") + "…"
}
