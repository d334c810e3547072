package ui

import (
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/archive/series"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/scope"
	"odarchive/ui/plot"
)

// Operation is what pages need to show how the crawl is operated.
type Operation struct {
	// Series returns what was visited over time, in slots.
	Series func(from, to time.Time, step time.Duration) ([]series.Slot, error)
	// Orders returns the latest orders, newest first.
	Orders func(limit int) ([]frontier.Note, error)
	// Refused returns what the scope refused, by rule.
	Refused func() []scope.Refusal
	// The rest is for the page of operation. What is nil is not shown there.
	Hosts    func(after string, limit int) ([]crawler.HostStatus, error) // in the order of names
	Space    func() (Space, error)
	Crawling Crawling
	Scope    Scope
}

// operation is the part of the crawls' page about operating the crawl.
type operation struct {
	Spans   []chosen
	Visits  template.HTML // plots
	Bytes   template.HTML
	Slots   []slotRow // newest first, without empty ones
	Errors  []errorRow
	Orders  []frontier.Note
	Refused []scope.Refusal
	JSON    string // address of the series
}

type slotRow struct {
	At                             time.Time
	Visits, New, Same, Failed, Not int64
	Bytes                          int64
	Mean                           float64 // seconds of a fetch
}

type errorRow struct {
	Class catalog.ErrorClass
	Count int64
}

// spans are the stretches of time that are shown, with the length of their slots.
var spans = []struct {
	name       string
	long, step time.Duration
	format     string
}{
	{"day", 24 * time.Hour, 30 * time.Minute, "15:04"},
	{"week", 7 * 24 * time.Hour, 3 * time.Hour, "2 Jan 15:04"},
	{"month", 30 * 24 * time.Hour, 12 * time.Hour, "2 Jan"},
	{"year", 365 * 24 * time.Hour, 7 * 24 * time.Hour, "2 Jan"},
}

// Limits of the lists on the page. The JSON has more.
const (
	shownOrders  = 10
	shownRefused = 20
)

// operated returns the part of the page for a span, "" for the first one; nil if Options.Operation is not set.
func (u *UI) operated(q url.Values) (*operation, error) {
	if u.operation == nil {
		return nil, nil
	}
	span := spans[0]
	for _, s := range spans {
		if s.name == q.Get("span") {
			span = s
		}
	}
	o := &operation{}
	for _, s := range spans {
		link := maps.Clone(q)
		link.Del("before")
		link.Set("span", s.name)
		c := chosen{Name: "last " + s.name, Href: "/crawls?" + link.Encode()}
		if s.name == span.name {
			c.Value = "here"
		}
		o.Spans = append(o.Spans, c)
	}
	to := u.now().Add(time.Second)
	slots, err := u.operation.Series(to.Add(-span.long), to, span.step)
	if err != nil {
		return nil, err
	}
	o.JSON = "/crawl/series?" + url.Values{"from": {to.Add(-span.long).UTC().Format(time.RFC3339)}, "to": {to.UTC().Format(time.RFC3339)},
		"step": {span.step.String()}}.Encode()
	o.draw(slots, span.name, span.format)
	if o.Orders, err = u.operation.Orders(shownOrders); err != nil {
		return nil, err
	}
	o.Refused = u.operation.Refused()
	o.Refused = o.Refused[:min(len(o.Refused), shownRefused)]
	return o, nil
}

// draw makes plots and tables of slots.
func (o *operation) draw(slots []series.Slot, span, format string) {
	var visits, bytes []plot.Stack
	errors := map[catalog.ErrorClass]int64{}
	for _, s := range slots {
		row := slotRow{At: s.At, Visits: s.Visits, New: s.Outcomes[catalog.Archived], Same: s.Outcomes[catalog.Unchanged],
			Failed: s.Outcomes[catalog.NoVersion], Bytes: s.Bytes}
		row.Not = s.Visits - row.New - row.Same - row.Failed
		if s.Visits > 0 {
			row.Mean = s.Seconds / float64(s.Visits)
			o.Slots = append(o.Slots, row)
		}
		for class, n := range s.Errors {
			errors[class] += n
		}
		label := s.At.UTC().Format(format)
		part := func(n int64, class, what string) plot.Part {
			return plot.Part{Value: float64(n), Class: class, Title: fmt.Sprintf("%s: %d %s", label, n, what)}
		}
		visits = append(visits,
			plot.Stack{Label: label,
				Values: []plot.Part{part(row.New, "", "new versions"), part(row.Same, "muted", "unchanged"),
					part(row.Failed+row.Not, "bad", "failed, refused or put off")}})
		bytes = append(bytes, plot.Stack{Label: label,
			Values: []plot.Part{{Value: float64(s.Bytes), Title: label + ": " + humanBytes(s.Bytes)}}})
	}
	slices.Reverse(o.Slots)
	if len(o.Slots) > 0 {
		o.Visits = plot.Stacked(visits, "Fetches over the last "+span+", by outcome; the table has the numbers")
		o.Bytes = plot.Stacked(bytes, "Bytes fetched over the last "+span+"; the table has the numbers")
	}
	for _, class := range slices.Sorted(maps.Keys(errors)) {
		o.Errors = append(o.Errors, errorRow{class, errors[class]})
	}
	slices.SortStableFunc(o.Errors, func(a, b errorRow) int { return int(b.Count - a.Count) })
}
