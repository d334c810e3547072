package plot

import (
	"fmt"
	"html"
	"html/template"
)

// Range is a part of an axis, with a share of all values in it.
type Range struct {
	From, To float64
	Share    float64 // of 1
	Title    string
	Href     string // "" for none
}

// Ranges draws a histogram with columns of different widths: the area of each is the share of its values. Each may be a
// link. Ranges without a width are left out.
func Ranges(ranges []Range, label string) template.HTML {
	const w, h, least = 192.0, 40.0, 1.5
	lo, hi, highest := 0.0, 0.0, 0.0
	for i, r := range ranges {
		if i == 0 {
			lo, hi = r.From, r.To
		}
		lo, hi = min(lo, r.From), max(hi, r.To)
		if r.To > r.From {
			highest = max(highest, r.Share/(r.To-r.From))
		}
	}
	if hi <= lo || highest <= 0 {
		return ""
	}
	c := &canvas{w: w, h: h}
	fmt.Fprintf(&c.b, `<svg class="plot ranges" viewBox="0 0 %s %s" preserveAspectRatio="none" role="group" aria-label="%s">`, num(w),
		num(h), html.EscapeString(label))
	for _, r := range ranges {
		if r.To <= r.From {
			continue
		}
		x, width := w*share(r.From, lo, hi), max(w*(r.To-r.From)/(hi-lo)-1, 0.5)
		height := max((h-1)*r.Share/(r.To-r.From)/highest, least)
		if r.Href != "" {
			fmt.Fprintf(&c.b, `<a href="%s" aria-label="%s">`, html.EscapeString(r.Href), html.EscapeString(r.Title))
			c.rect(x, 0, width, h, "", "")
		}
		c.rect(x, h-height, width, height, "", "")
		if r.Href != "" {
			c.b.WriteString("</a>")
		}
	}
	return c.end()
}
