package plot

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
	"time"
)

// Day is a day on which something happened.
type Day struct {
	Date  time.Time // any time of the day, in UTC
	Count int       // how often; more is darker
	Title string    // shown on hover
	Href  string    // target of the day's link, "" for none
}

// Calendar draws a year: a column for each week, from Monday to Sunday. Days of other years are left out; each other
// day must be given at most once.
func Calendar(year int, days []Day, label string) template.HTML {
	const cell, left, top = 19.0, 36.0, 22.0
	first := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	monday := (int(first.Weekday()) + 6) % 7 // days between the first Monday of the drawing and New Year
	place := func(t time.Time) (x, y float64) {
		n := t.YearDay() - 1 + monday
		return left + float64(n/7)*cell, top + float64(n%7)*cell
	}
	c := newCanvas(left+54*cell, top+7*cell+2, "calendar", label)
	for i, name := range []string{"Mon", "Wed", "Fri"} {
		c.text(left-6, top+float64(2*i)*cell+14, "end", "tick", name)
	}
	var grid strings.Builder
	for t := first; t.Year() == year; t = t.AddDate(0, 0, 1) {
		x, y := place(t)
		fmt.Fprintf(&grid, "M%g %gh16v16h-16z", x+1, y+1)
		if t.Day() == 1 {
			if n := t.YearDay() - 1 + monday; n%7 != 0 { // the month is named above its first whole week
				x += cell
			}
			c.text(x+1, top-8, "start", "tick", t.Format("Jan"))
		}
	}
	fmt.Fprintf(&c.b, `<path class="grid" d="%s"/>`, grid.String())
	largest := 1
	for _, d := range days {
		largest = max(largest, d.Count)
	}
	for _, d := range days {
		at := d.Date.UTC()
		if at.Year() != year {
			continue
		}
		x, y := place(at)
		level := 1 + int(math.Round(2*math.Sqrt(float64(max(d.Count, 1)-1)/float64(max(largest-1, 1)))))
		if d.Href != "" {
			fmt.Fprintf(&c.b, `<a href="%s" aria-label="%s">`, html.EscapeString(d.Href), html.EscapeString(d.Title))
		}
		c.rect(x+1, y+1, 16, 16, fmt.Sprintf("mark d%d", level), d.Title)
		if d.Href != "" {
			c.b.WriteString("</a>")
		}
	}
	return c.group()
}
