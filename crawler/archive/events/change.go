package events

import (
	"fmt"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"

	"github.com/dustin/go-humanize/english"
)

// Change is the JSON form of an event: in JSON feeds, at the event's own address, and in the requests of hooks. Later
// versions of this program may add members, but do not change or remove any.
type Change struct {
	ID       string             `json:"id"`    // IRI of the event
	Event    uint64             `json:"event"` // its number
	At       time.Time          `json:"at"`
	Kinds    []string           `json:"kinds"`
	Summary  string             `json:"summary"` // one sentence
	URL      string             `json:"url,omitempty"`
	Title    string             `json:"title,omitempty"`
	Datasets []string           `json:"datasets,omitempty"`
	Portals  []string           `json:"portals,omitempty"`
	Version  string             `json:"version,omitempty"`  // IRI
	Previous string             `json:"previous,omitempty"` // IRI of the version before
	Type     string             `json:"mediaType,omitempty"`
	Rows     *catalog.RowChange `json:"rows,omitempty"`
	Columns  *Columns           `json:"columns,omitempty"`
	Bytes    *Sizes             `json:"bytes,omitempty"`
	Licence  *FromTo            `json:"licence,omitempty"`
	Why      string             `json:"why,omitempty"`
}

// Columns names the columns that were added, removed, and got another datatype; at most maxNamed of each.
type Columns struct {
	Added   []string          `json:"added"`
	Removed []string          `json:"removed"`
	Retyped []catalog.Retyped `json:"retyped"`
}

// Sizes are the sizes of the version before and of the new version, in bytes.
type Sizes struct {
	From *int64 `json:"from,omitempty"` // nil for the first version
	To   int64  `json:"to"`
}

// FromTo is a licence before and after; "" for none.
type FromTo struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// maxNamed bounds the columns of each list that a Change names.
const maxNamed = 100

// Describe returns the JSON form of an event.
func Describe(m ns.Mint, e catalog.Event) Change {
	c := Change{
		ID: m.Event(e.Seq), Event: e.Seq, At: e.At.UTC(), Kinds: e.Kinds, Summary: Summary(e), URL: e.URL, Title: e.Title,
		Datasets: e.Datasets, Portals: e.Portals, Type: e.Type, Why: e.Why,
	}
	if e.Version != "" {
		c.Version, c.Bytes = m.Version(e.Version), &Sizes{To: e.Size}
	}
	if e.Previous != "" {
		c.Previous, c.Bytes.From = m.Version(e.Previous), &e.Before
	}
	if e.Rows != (catalog.RowChange{}) {
		c.Rows = &e.Rows
	}
	if !e.Columns.IsZero() {
		c.Columns = &Columns{Added: first(e.Columns.Added), Removed: first(e.Columns.Removed), Retyped: first(e.Columns.Retyped)}
	}
	if e.From != e.To {
		c.Licence = &FromTo{e.From, e.To}
	}
	return c
}

// first returns the first maxNamed elements of a list. The result is not nil, so that it is [] in JSON and not null.
func first[T any](list []T) []T {
	return append([]T{}, list[:min(len(list), maxNamed)]...)
}

// Summary describes a change in one line of text, which does not name the file.
func Summary(e catalog.Event) string {
	var parts []string
	say := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	for _, kind := range e.Kinds {
		switch kind {
		case "new":
			say("new file")
		case "past":
			say("an older version was added")
		case "rows":
			if words := counts(e.Rows); words != "" {
				say("%s", words)
			} else {
				say("rows changed")
			}
		case "schema":
			say("%s", columns(e.Columns))
		case "content":
			say("content changed")
		case "shrunk":
			say("less than half is left")
		case "gone":
			say("gone")
		case "back":
			say("back again")
		case "withdrawn":
			say("the bytes of a version were taken away")
		case "licence":
			say("licence changed from %s to %s", orNone(e.From), orNone(e.To))
		}
	}
	text := strings.Join(parts, "; ")
	if e.Why != "" {
		text += ": " + e.Why
	}
	return text
}

func orNone(licence string) string {
	if licence == "" {
		return "none"
	}
	return licence
}

// counts describes a change of rows, such as "2 rows added, 1 row removed". It returns "" if the numbers are not known.
func counts(r catalog.RowChange) string {
	var parts []string
	for _, c := range []struct {
		n    int64
		what string
	}{{r.Added, "added"}, {r.Removed, "removed"}, {r.Changed, "changed"}} {
		if c.n > 0 {
			parts = append(parts, english.Plural(int(c.n), "row", "")+" "+c.what)
		}
	}
	return strings.Join(parts, ", ")
}

// sampleNames is how many columns of each list a summary names.
const sampleNames = 5

// columns describes a change of columns.
func columns(c catalog.SchemaChange) string {
	var parts []string
	list := func(what string, names []string) {
		if len(names) == 0 {
			return
		}
		more := ""
		if len(names) > sampleNames {
			more = fmt.Sprintf(" and %d more", len(names)-sampleNames)
			names = names[:sampleNames]
		}
		parts = append(parts, what+" "+strings.Join(names, ", ")+more)
	}
	list("columns added:", c.Added)
	list("columns removed:", c.Removed)
	var retyped []string
	for _, t := range c.Retyped {
		retyped = append(retyped, fmt.Sprintf("%s (%s, was %s)", t.Name, t.To, t.From))
	}
	list("columns with another type:", retyped)
	if len(parts) == 0 {
		return "columns changed"
	}
	return strings.Join(parts, "; ")
}
