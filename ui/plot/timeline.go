package plot

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
	"time"
)

// Moment is an event: a version or a fetch.
type Moment struct {
	At    time.Time
	Size  float64 // area of the mark, 0 for the smallest
	Title string  // shown on hover
	Href  string  // target of the mark's link, "" for none
	Class string  // "", "muted", "bad"
}

// Timeline draws moments on an axis of dates. They must be sorted by time.
func Timeline(moments []Moment, label string) template.HTML {
	if len(moments) == 0 {
		return ""
	}
	const w, h, pad, axis = 1040.0, 66.0, 24.0, 40.0
	c := newCanvas(w, h, "timeline", label)
	from, to := moments[0].At, moments[len(moments)-1].At
	if span := to.Sub(from); span < time.Minute {
		from, to = from.Add(-10*time.Second), from.Add(70*time.Second) // at the left, which small screens show first
	}
	x := func(t time.Time) float64 { return pad + (w-2*pad)*float64(t.Sub(from))/float64(to.Sub(from)) }
	c.line(pad, axis, w-pad, axis, "axis")
	for _, tick := range ticks(from, to) {
		c.line(x(tick.at), axis, x(tick.at), axis+5, "axis")
		c.text(x(tick.at), axis+19, "middle", "tick", tick.label)
	}
	largest := 0.0
	for _, m := range moments {
		largest = max(largest, m.Size)
	}
	for _, m := range moments {
		r := 4.0
		if largest > 0 {
			r += 9 * math.Sqrt(m.Size/largest)
		}
		class := "mark"
		if m.Class != "" {
			class += " " + html.EscapeString(m.Class)
		}
		if m.Href != "" {
			fmt.Fprintf(&c.b, `<a href="%s" aria-label="%s">`, html.EscapeString(m.Href), html.EscapeString(m.Title))
		}
		c.circle(x(m.At), axis-18, r, class, m.Title)
		if m.Href != "" {
			c.b.WriteString("</a>")
		}
	}
	return c.group()
}

// group ends a plot whose marks are links. With role img, assistive technology would not see them.
func (c *canvas) group() template.HTML {
	s := string(c.end())
	return template.HTML(strings.Replace(s, `role="img"`, `role="group"`, 1))
}

type tick struct {
	at    time.Time
	label string
}

// steps are distances between ticks that are easy to read, with the format of their labels.
var steps = []struct {
	every  time.Duration
	format string
}{
	{time.Second, "15:04:05"}, {5 * time.Second, "15:04:05"}, {15 * time.Second, "15:04:05"}, {time.Minute, "15:04"},
	{5 * time.Minute, "15:04"}, {15 * time.Minute, "15:04"},
	{time.Hour, "15:04"}, {3 * time.Hour, "2 Jan 15:04"}, {6 * time.Hour, "2 Jan 15:04"}, {12 * time.Hour, "2 Jan 15:04"},
	{24 * time.Hour, "2 Jan"}, {2 * 24 * time.Hour, "2 Jan"}, {7 * 24 * time.Hour, "2 Jan"}, {14 * 24 * time.Hour, "2 Jan"},
	{30 * 24 * time.Hour, "Jan 2006"}, {91 * 24 * time.Hour, "Jan 2006"}, {365 * 24 * time.Hour, "2006"},
	{5 * 365 * 24 * time.Hour, "2006"},
}

// ticks returns round moments between from and to in UTC, usually at most eight.
func ticks(from, to time.Time) []tick {
	span := to.Sub(from)
	step := steps[len(steps)-1]
	for _, s := range steps {
		if span/s.every <= 7 {
			step = s
			break
		}
	}
	var out []tick
	for t := from.UTC().Truncate(step.every); !t.After(to); t = t.Add(step.every) {
		if t.Before(from) {
			continue
		}
		out = append(out, tick{t, t.Format(step.format)})
		if len(out) == 40 { // a span of centuries
			break
		}
	}
	return out
}
