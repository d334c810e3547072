package plot

import (
	"fmt"
	"html/template"
)

// World draws a box of longitudes and latitudes (west, south, east, north) on a grid of the Earth, with lines every 30
// degrees. A small box is drawn as a circle around it, too, so that it is seen.
func World(box [4]float64, label string) template.HTML {
	const w, h = 360.0, 180.0
	c := newCanvas(w, h, "world", label)
	c.rect(0, 0, w, h, "back", "")
	for lon := 30.0; lon < w; lon += 30 {
		c.line(lon, 0, lon, h, "grid")
	}
	for lat := 30.0; lat < h; lat += 30 {
		c.line(0, lat, w, lat, "grid")
	}
	c.line(0, h/2, w, h/2, "axis")
	x, y := box[0]+180, 90-box[3]
	width, height := max(box[2]-box[0], 0), max(box[3]-box[1], 0)
	title := fmt.Sprintf("%.4g° to %.4g° east, %.4g° to %.4g° north", box[0], box[2], box[1], box[3])
	if width < 6 && height < 6 {
		c.circle(x+width/2, y+height/2, 6, "back-box", title)
	}
	c.rect(x, y, max(width, 1), max(height, 1), "dot", title)
	return c.end()
}
