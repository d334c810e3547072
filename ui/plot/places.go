package plot

import (
	"fmt"
	"html"
	"html/template"
	"math"
)

// Place is a point or a box in degrees: west, south, east and north.
type Place struct {
	Box   [4]float64
	Title string
	Href  string // "" for none
}

// Places draws places on a part of the Earth, wide enough that they can be told apart. outline is the address of an
// image of the whole Earth in the same projection, "" for none.
func Places(places []Place, outline, label string) template.HTML {
	if len(places) == 0 {
		return ""
	}
	west, south, east, north := part(places)
	const w = 480.0
	scale := w / (east - west)
	h := (north - south) * scale
	c := &canvas{w: w, h: h}
	fmt.Fprintf(&c.b, `<svg class="plot places" viewBox="0 0 %s %s" role="group" aria-label="%s">`, num(w), num(h),
		html.EscapeString(label))
	c.rect(0, 0, w, h, "back", "")
	if outline != "" {
		fmt.Fprintf(&c.b, `<image href="%s" x="%s" y="%s" width="%s" height="%s"/>`, html.EscapeString(outline), num((-180-west)*scale),
			num((north-90)*scale), num(360*scale), num(180*scale))
	}
	step := gridStep(east - west)
	for lon := math.Ceil(west/step) * step; lon <= east; lon += step {
		c.line((lon-west)*scale, 0, (lon-west)*scale, h, "grid")
		c.text((lon-west)*scale+3, h-4, "start", "tick", degrees(lon, "E", "W"))
	}
	for lat := math.Ceil(south/step) * step; lat <= north; lat += step {
		c.line(0, (north-lat)*scale, w, (north-lat)*scale, "grid")
		c.text(3, (north-lat)*scale-3, "start", "tick", degrees(lat, "N", "S"))
	}
	for _, p := range places {
		if p.Href != "" {
			fmt.Fprintf(&c.b, `<a href="%s" aria-label="%s">`, html.EscapeString(p.Href), html.EscapeString(p.Title))
		}
		x, y := (p.Box[0]-west)*scale, (north-p.Box[3])*scale
		width, height := (p.Box[2]-p.Box[0])*scale, (p.Box[3]-p.Box[1])*scale
		if width < 6 && height < 6 {
			c.circle(x+width/2, y+height/2, 4, "", "")
		} else {
			c.rect(x, y, width, height, "", "")
		}
		if p.Href != "" {
			c.b.WriteString("</a>")
		}
	}
	return c.end()
}

// part returns the part of the Earth that is drawn: the box of the places with a margin, half as high as it is wide at
// least, and within the Earth.
func part(places []Place) (west, south, east, north float64) {
	west, south, east, north = 180, 90, -180, -90
	for _, p := range places {
		west, south, east, north = min(west, p.Box[0]), min(south, p.Box[1]), max(east, p.Box[2]), max(north, p.Box[3])
	}
	width := max((east-west)*1.2, (north-south)*2.4, 0.02)
	width = min(width, 360)
	height := max(width/2, min((north-south)*1.2, 180))
	x, y := (west+east)/2, (south+north)/2
	west, east = x-width/2, x+width/2
	south, north = y-height/2, y+height/2
	if west < -180 {
		west, east = -180, -180+width
	} else if east > 180 {
		west, east = 180-width, 180
	}
	if south < -90 {
		south, north = -90, -90+height
	} else if north > 90 {
		south, north = 90-height, 90
	}
	return west, south, east, north
}

// gridStep returns a distance of lines so that there are some, but not many, on a width in degrees.
func gridStep(width float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(width/3)))
	for _, times := range []float64{5, 2} {
		if step*times <= width/3 {
			return step * times
		}
	}
	return step
}

func degrees(v float64, positive, negative string) string {
	v = math.Round(v*1e6) / 1e6
	switch {
	case v > 0:
		return fmt.Sprintf("%.6g° %s", v, positive)
	case v < 0:
		return fmt.Sprintf("%.6g° %s", -v, negative)
	}
	return "0°"
}
