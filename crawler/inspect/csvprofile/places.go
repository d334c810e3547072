package csvprofile

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"odarchive/triplestore/geometry"
	"odarchive/vocab"
)

// places finds out where the geometries of a column are: WKT, GeoJSON, or pairs of latitude and longitude. A column of
// other values is recognised by its first ones and costs nothing from then on.
type places struct {
	off    bool  // not a column of geometries
	found  int64 // values that are geometries
	others int64 // values that are not
	away   bool  // one is not in degrees, or too large to be read

	box     geometry.Box // of WKT and GeoJSON
	located bool
	pairs   int64        // of found
	pair    geometry.Box // of pairs, the first number as x
}

// Up to oneIn of placeShare values may be something else. After maxOthers of them the column is given up early.
const (
	placeShare = 20
	maxOthers  = 32
)

// see looks at a value that is text.
func (p *places) see(cell []byte) {
	if p.off {
		return
	}
	switch c := cell[0]; {
	case c == '{':
		p.count(p.seeJSON(cell))
	case c >= '0' && c <= '9' || c == '-' || c == '(':
		p.count(p.seePair(cell))
	default:
		p.count(p.seeWKT(cell))
	}
}

func (p *places) count(found bool) {
	if found {
		p.found++
		return
	}
	if p.others++; p.others >= maxOthers && p.others*placeShare > p.found {
		p.off = true
	}
}

// extent returns the box around the geometries of a column. ok is false if it has none, or not in degrees.
func (p *places) extent(name string) (b geometry.Box, ok bool) {
	if p.off || p.away || p.found == 0 || p.others*placeShare > p.found {
		return b, false
	}
	if p.pairs == 0 {
		return p.box, p.located
	}
	if p.pairs != p.found {
		return b, false
	}
	b = p.pair
	if latitudeFirst(name, b) {
		b = geometry.Box{MinX: b.MinY, MinY: b.MinX, MaxX: b.MaxY, MaxY: b.MaxX}
	} else if !nameHas(name, "lonlat", "lnglat", "longlat", "lon", "lng") {
		return b, false
	}
	return b, inDegrees(b)
}

// latitudeFirst reports whether pairs of numbers in a column of this name are latitude and longitude, as most programs
// write them.
func latitudeFirst(name string, first geometry.Box) bool {
	if max(math.Abs(first.MinX), math.Abs(first.MaxX)) > 90 {
		return false
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r == '_' || r == ' ' || r == '-' || r == '/' || r == ',' || r == '.' || r == ';'
	})
	if len(words) > 0 && (words[0] == "lon" || words[0] == "lng" || words[0] == "long" || words[0] == "longitude") {
		return false
	}
	return nameHas(name, "geo_point_2d", "point", "geopoint", "latlon", "latlng", "latlong", "lat", "latitude", "geolocation", "location",
		"gps", "geo", "coordinates",
		"coordonnees", "coordonnées", "coordenadas", "koordinaten", "coordinate")
}

func inDegrees(b geometry.Box) bool {
	return b.MinX >= -180 && b.MaxX <= 180 && b.MinY >= -90 && b.MaxY <= 90
}

func (p *places) add(b geometry.Box) {
	if !inDegrees(b) {
		p.away = true
		return
	}
	if p.located {
		b = b.Or(p.box)
	}
	p.box, p.located = b, true
}

// seePair reads "48.2, 16.3" and "(48.2, 16.3)". Both numbers have decimals, unlike most pairs of other numbers.
func (p *places) seePair(cell []byte) bool {
	text := string(bytes.Trim(cell[:min(len(cell), 80)], "()"))
	first, second, ok := strings.Cut(text, ",")
	if !ok || !strings.Contains(first, ".") || !strings.Contains(second, ".") {
		return false
	}
	a, err1 := strconv.ParseFloat(strings.TrimSpace(first), 64)
	b, err2 := strconv.ParseFloat(strings.TrimSpace(second), 64)
	if err1 != nil || err2 != nil || !(math.Abs(a) <= 180) || !(math.Abs(b) <= 180) {
		return false
	}
	if p.pairs++; p.pairs == 1 {
		p.pair = geometry.Box{MinX: a, MinY: b, MaxX: a, MaxY: b}
	}
	p.pair = p.pair.With(a, b)
	return true
}

func (p *places) seeJSON(cell []byte) bool {
	if !bytes.Contains(cell, []byte(`"coordinates"`)) {
		return false
	}
	g, err := geometry.Parse(string(cell), vocab.GeoGeoJSONLiteral)
	if err != nil {
		p.away = p.away || len(cell) > geometry.MaxText
		return len(cell) > geometry.MaxText
	}
	if !g.Empty() {
		p.add(g.Bounds())
	}
	return true
}

// seeWKT reads the coordinates of a geometry in WKT without making it one: polygons of much data are long.
func (p *places) seeWKT(cell []byte) bool {
	switch cell[0] | 0x20 {
	case 'p', 'l', 'm', 'g', 's', '<' | 0x20:
	default:
		return false
	}
	if !isWKT(string(cell[:min(len(cell), 120)])) {
		return false
	}
	swap := false
	if system, rest, ok := systemOf(cell); ok {
		switch system {
		case "4326", geometry.CRS84:
		case geometry.EPSG4326:
			swap = true
		default:
			p.away = true
			return true
		}
		cell = rest
	}
	var b geometry.Box
	some := false
	for {
		at := 0
		for at < len(cell) && cell[at] != '(' && cell[at] != ',' {
			at++
		}
		if at == len(cell) {
			break
		}
		cell = bytes.TrimLeft(cell[at+1:], " \t\r\n")
		if len(cell) == 0 || cell[0] != '-' && cell[0] != '.' && cell[0] != '+' && (cell[0] < '0' || cell[0] > '9') {
			continue // a bracket within a bracket, or the name of a part
		}
		x, rest, ok1 := leadingNumber(cell)
		y, after, ok2 := leadingNumber(rest)
		if !ok1 || !ok2 {
			return false
		}
		cell = after
		if swap {
			x, y = y, x
		}
		if !some {
			b, some = geometry.Box{MinX: x, MinY: y, MaxX: x, MaxY: y}, true
		}
		b = b.With(x, y)
	}
	if some {
		p.add(b)
	}
	return true
}

// systemOf cuts the reference system off a geometry: "SRID=4326;" or an IRI in angle brackets.
func systemOf(cell []byte) (system string, rest []byte, ok bool) {
	if len(cell) > 5 && strings.EqualFold(string(cell[:5]), "SRID=") {
		before, after, ok := bytes.Cut(cell[5:], []byte(";"))
		return string(before), after, ok
	}
	if cell[0] != '<' {
		return "", cell, false
	}
	before, after, ok := bytes.Cut(cell[1:], []byte(">"))
	return string(before), after, ok
}

// leadingNumber reads the number at the beginning of a text.
func leadingNumber(b []byte) (v float64, rest []byte, ok bool) {
	n := 0
	for n < len(b) && (b[n] == ' ' || b[n] == '\t' || b[n] == '\r' || b[n] == '\n') {
		n++
	}
	b, n = b[n:], 0
	minus := len(b) > 0 && b[0] == '-'
	if minus {
		n = 1
	}
	digits, decimals, point := uint64(0), 0, false
	start := n
	for ; n < len(b); n++ {
		switch c := b[n]; {
		case c >= '0' && c <= '9':
			digits = digits*10 + uint64(c-'0')
			if point {
				decimals++
			}
			continue
		case c == '.' && !point:
			point = true
			continue
		}
		break
	}
	if n-start <= 16 && (n == len(b) || b[n]|0x20 != 'e') { // at most 15 digits and a point: the quotient is exact
		if n-start == 0 || point && n-start == 1 {
			return 0, b, false
		}
		if v = float64(digits) / powers[decimals]; minus {
			v = -v
		}
		return v, b[n:], true
	}
	for n < len(b) && n < 40 && (b[n] >= '0' && b[n] <= '9' || b[n] == '.' || b[n] == '-' || b[n] == '+' || b[n]|0x20 == 'e') {
		n++
	}
	v, err := strconv.ParseFloat(string(b[:min(n, 40)]), 64)
	return v, b[n:], err == nil
}
