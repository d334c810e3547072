package plot

import (
	"html/template"
	"slices"
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
	labels, sums := make([]string, len(stacks)), make([]float64, len(stacks))
	for i, s := range stacks {
		labels[i] = s.Label
		for _, p := range s.Values {
			sums[i] += max(0, p.Value)
		}
	}
	f := newFrame(frameStyle{width: 1040, left: 44, share: 0.85, least: 0.5}, labels, slices.Max(sums), label)
	for i, s := range stacks {
		below := 0.0
		for _, p := range s.Values {
			if p.Value <= 0 {
				continue
			}
			class := "bar"
			if p.Class != "" {
				class += " " + p.Class
			}
			f.bar(i, below, below+p.Value, class, p.Title)
			below += p.Value
		}
	}
	return f.end()
}
