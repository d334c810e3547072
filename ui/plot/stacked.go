package plot

import (
	"html/template"
	"math"
)

// Stack is several values in one column of a chart.
type Stack struct {
	Label  string // below the axis, if there is room
	Values []Part
}

// Part is a part of a column.
type Part struct {
	Value float64
	Class string // "", "muted", "bad"
	Title string // shown on hover
}

// Stacked draws columns of several parts each, the first at the bottom. The axis starts at zero.
func Stacked(stacks []Stack, label string) template.HTML {
	if len(stacks) == 0 {
		return ""
	}
	const w, h, left, bottom, top = 1040.0, 170.0, 44.0, 24.0, 10.0
	c := newCanvas(w, h, "columns", label)
	largest := 0.0
	longest := 0
	for _, s := range stacks {
		sum := 0.0
		for _, p := range s.Values {
			sum += max(0, p.Value)
		}
		largest = max(largest, sum)
		longest = max(longest, len(s.Label))
	}
	ceiling := roundUp(largest)
	y := func(v float64) float64 { return h - bottom - (h-bottom-top)*v/ceiling }
	for i := range 3 {
		v := ceiling * float64(i) / 2
		c.line(left, y(v), w, y(v), "grid")
		c.text(left-6, y(v)+4, "end", "tick", short(v))
	}
	step := (w - left) / float64(len(stacks))
	width := min(step*0.85, 28)
	every := max(1, int(math.Ceil((float64(longest)*7+8)/step)))
	for i, s := range stacks {
		x := left + step*(float64(i)+0.5)
		below := 0.0
		for _, p := range s.Values {
			if p.Value <= 0 {
				continue
			}
			class := "bar"
			if p.Class != "" {
				class += " " + p.Class
			}
			height := max(y(below)-y(below+p.Value), 0.5)
			c.rect(x-width/2, y(below)-height, width, height, class, p.Title)
			below += p.Value
		}
		if i%every == 0 {
			c.text(x, h-8, "middle", "tick", s.Label)
		}
	}
	return c.end()
}
