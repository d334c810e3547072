// Package plot draws small plots as SVG on the server. They need no script, print, scale, and take their colours from
// the page through CSS classes, because the page's policy forbids style attributes.
//
// Every plot is one <svg role="img"> with a label that describes it; the values are in a table next to it.
package plot

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"strings"
)

// canvas collects the elements of one SVG.
type canvas struct {
	b    strings.Builder
	w, h float64
}

func newCanvas(w, h float64, class, label string) *canvas {
	c := &canvas{w: w, h: h}
	fmt.Fprintf(&c.b, `<svg class="plot %s" viewBox="0 0 %s %s" role="img" aria-label="%s">`, class, num(w), num(h),
		html.EscapeString(label))
	return c
}

func (c *canvas) end() template.HTML {
	c.b.WriteString("</svg>")
	return template.HTML(c.b.String()) // made of escaped text and numbers only
}

func (c *canvas) rect(x, y, w, h float64, class, title string) {
	fmt.Fprintf(&c.b, `<rect x="%s" y="%s" width="%s" height="%s"%s%s`, num(x), num(y), num(w), num(h), classed(class),
		ending("rect", title))
}

func (c *canvas) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(&c.b, `<text x="%s" y="%s" text-anchor="%s" class="%s">%s</text>`, num(x), num(y), anchor, class, html.EscapeString(s))
}

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	fmt.Fprintf(&c.b, `<line x1="%s" y1="%s" x2="%s" y2="%s" class="%s"/>`, num(x1), num(y1), num(x2), num(y2), class)
}

func (c *canvas) circle(x, y, r float64, class, title string) {
	fmt.Fprintf(&c.b, `<circle cx="%s" cy="%s" r="%s"%s%s`, num(x), num(y), num(r), classed(class), ending("circle", title))
}

// path draws a line through points.
func (c *canvas) path(points [][2]float64, class string) {
	var d strings.Builder
	for i, p := range points {
		d.WriteByte("ML"[min(i, 1)])
		d.WriteString(num(p[0]) + " " + num(p[1]))
	}
	fmt.Fprintf(&c.b, `<path d="%s" class="%s"/>`, d.String(), class)
}

// classed returns the attribute of a class, "" for none.
func classed(class string) string {
	if class == "" {
		return ""
	}
	return ` class="` + class + `"`
}

// ending returns the end of an element's tag, with a title inside if it has one.
func ending(element, title string) string {
	if title == "" {
		return "/>"
	}
	return "><title>" + html.EscapeString(title) + "</title></" + element + ">"
}

// num formats a coordinate with at most two decimals.
func num(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	s := fmt.Sprintf("%.2f", f)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Spark draws a line the size of a word: values in order, with a mark on the last one.
func Spark(values []float64, label string) template.HTML {
	if len(values) < 2 {
		return ""
	}
	const w, h, pad = 120.0, 28.0, 3.0
	c := newCanvas(w, h, "spark", label)
	lo, hi := bounds(values)
	points := make([][2]float64, len(values))
	for i, v := range values {
		points[i] = [2]float64{pad + (w-2*pad)*float64(i)/float64(len(values)-1), h - pad - (h-2*pad)*share(v, lo, hi)}
	}
	c.path(points, "line")
	last := points[len(points)-1]
	c.circle(last[0], last[1], 2.5, "dot", "")
	return c.end()
}

// Histogram draws a row of thin columns.
func Histogram(counts []int64, label string) template.HTML {
	if len(counts) == 0 {
		return ""
	}
	const w, h = 96.0, 24.0
	c := newCanvas(w, h, "histogram", label)
	var largest int64 = 1
	for _, n := range counts {
		largest = max(largest, n)
	}
	step := w / float64(len(counts))
	for i, n := range counts {
		height := (h - 1) * float64(n) / float64(largest)
		if n > 0 {
			height = max(height, 1.5)
		}
		c.rect(float64(i)*step, h-height, max(step-1, 0.5), height, "bar", "")
	}
	return c.end()
}

// Share draws one bar of a table of bars: value as a part of whole.
func Share(value, whole float64) template.HTML {
	const w, h = 100.0, 10.0
	fraction := 0.0
	if whole > 0 {
		fraction = value / whole
	}
	c := &canvas{}
	fmt.Fprintf(&c.b, `<svg class="plot share" viewBox="0 0 %s %s" preserveAspectRatio="none" aria-hidden="true">`, num(w), num(h))
	c.rect(0, 0, w, h, "back", "")
	if fraction > 0 {
		c.rect(0, 0, max(w*fraction, 0.6), h, "bar", "")
	}
	return c.end()
}

func bounds(values []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// share maps v from the range lo to hi to 0 to 1. If the range is empty, it returns 0.5.
func share(v, lo, hi float64) float64 {
	if hi <= lo {
		return 0.5
	}
	return (v - lo) / (hi - lo)
}

// Box draws a box plot of seven values: minimum, 5 %, the three quartiles, 95 %, maximum.
func Box(v [7]float64, label string) template.HTML {
	const w, h, mid = 96.0, 24.0, 12.0
	c := newCanvas(w, h, "histogram box", label)
	x := func(f float64) float64 { return 2 + (w-4)*share(f, v[0], v[6]) }
	c.line(x(v[0]), mid, x(v[6]), mid, "axis")
	c.line(x(v[1]), mid-4, x(v[1]), mid+4, "axis")
	c.line(x(v[5]), mid-4, x(v[5]), mid+4, "axis")
	c.rect(x(v[2]), mid-7, max(x(v[4])-x(v[2]), 1.5), 14, "back-box", "")
	c.line(x(v[3]), mid-7, x(v[3]), mid+7, "line")
	return c.end()
}
