package plot

import "math"

// frameStyle is what charts of columns differ in, in the units of the drawing.
type frameStyle struct {
	width, left float64 // of the drawing, and of the numbers beside the axis
	share       float64 // of the room of a column that the column takes
	least       float64 // height of what is not zero
}

// frame is a chart of columns with the axes drawn. The vertical axis starts at zero.
type frame struct {
	*canvas
	style   frameStyle
	step    float64 // between the middles of two columns
	ceiling float64 // value at the top
}

const frameHeight, frameBottom, frameTop = 170.0, 24.0, 10.0

// newFrame draws the axes of a chart with a column for each label. Labels for which there is no room are left out.
func newFrame(style frameStyle, labels []string, largest float64, label string) *frame {
	f := &frame{newCanvas(style.width, frameHeight, "columns", label), style, (style.width - style.left) / float64(len(labels)),
		roundUp(largest)}
	for i := range 3 {
		v := f.ceiling * float64(i) / 2
		f.line(style.left, f.y(v), style.width, f.y(v), "grid")
		f.text(style.left-6, f.y(v)+4, "end", "tick", short(v))
	}
	longest := 0
	for _, l := range labels {
		longest = max(longest, len(l))
	}
	every := max(1, int(math.Ceil((float64(longest)*7+8)/f.step)))
	for i := 0; i < len(labels); i += every {
		f.text(f.middle(i), frameHeight-8, "middle", "tick", labels[i])
	}
	return f
}

func (f *frame) y(v float64) float64 {
	return frameHeight - frameBottom - (frameHeight-frameBottom-frameTop)*v/f.ceiling
}

func (f *frame) middle(i int) float64 { return f.style.left + f.step*(float64(i)+0.5) }

// bar draws column i, or the part of it from one value to another.
func (f *frame) bar(i int, from, to float64, class, title string) {
	width := min(f.step*f.style.share, 28)
	height := max(f.y(from)-f.y(to), f.style.least)
	f.rect(f.middle(i)-width/2, f.y(from)-height, width, height, class, title)
}
