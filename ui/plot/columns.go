package plot

import (
	"html/template"
	"math"
	"strconv"
)

// Column is a value in a column chart.
type Column struct {
	Label string // below the axis, if there is room
	Value float64
	Title string // shown on hover
}

// Columns draws values side by side. The axis starts at zero.
func Columns(cols []Column, label string) template.HTML {
	if len(cols) == 0 {
		return ""
	}
	labels, largest := make([]string, len(cols)), 0.0
	for i, c := range cols {
		labels[i], largest = c.Label, max(largest, c.Value)
	}
	f := newFrame(frameStyle{width: 480, left: 40, share: 0.8, least: 1}, labels, largest, label)
	for i, c := range cols {
		if c.Value > 0 {
			f.bar(i, 0, c.Value, "bar", c.Title)
		}
	}
	return f.end()
}

// Quantiles draws percentiles, in ascending order, on a logarithmic axis, for distributions that range from bytes to
// gigabytes.
func Quantiles(values []float64, text func(float64) string, label string) template.HTML {
	if len(values) < 2 {
		return ""
	}
	const w, h, left, bottom, top = 480.0, 190.0, 60.0, 24.0, 10.0
	c := newCanvas(w, h, "quantiles", label)
	lo, hi := bounds(values)
	low, high := math.Floor(math.Log10(max(lo, 1))), math.Ceil(math.Log10(max(hi, 1)))
	if high <= low {
		high = low + 1
	}
	y := func(v float64) float64 {
		return h - bottom - (h-bottom-top)*(math.Log10(max(v, 1))-low)/(high-low)
	}
	for e := low; e <= high; e += max(1, math.Ceil((high-low)/5)) {
		v := math.Pow(10, e)
		c.line(left, y(v), w, y(v), "grid")
		c.text(left-6, y(v)+4, "end", "tick", text(v))
	}
	points := make([][2]float64, len(values))
	for i, v := range values {
		points[i] = [2]float64{left + (w-left-8)*float64(i)/float64(len(values)-1), y(v)}
	}
	c.path(points, "line")
	for _, q := range []int{0, 25, 50, 75, 100} {
		x := left + (w-left-8)*float64(q)/100
		anchor := "middle"
		if q == 100 {
			anchor = "end"
		}
		c.text(x, h-8, anchor, "tick", strconv.Itoa(q)+" %")
	}
	return c.end()
}

// roundUp returns the next 1, 2 or 5 times a power of ten.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5, 10} {
		if v <= m*p {
			return m * p
		}
	}
	return 10 * p
}

// short formats an axis value: 1.5k, 2M.
func short(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= u.size {
			return strconv.FormatFloat(math.Round(v/u.size*10)/10, 'g', -1, 64) + u.name
		}
	}
	return strconv.FormatFloat(math.Round(v*100)/100, 'g', -1, 64)
}
