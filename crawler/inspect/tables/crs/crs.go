// Package crs names the reference systems of coordinates as files state them, and converts boxes to longitude and
// latitude where that is simple.
//
// A System is known by its code (EPSG), by an IRI or URN, or by the text of a .prj file (WKT of OGC 01-009). It can be
// converted if its datum agrees with WGS 84 within a few metres, as ETRS89 and NAD83 do, and if it is geographic or one
// of the projections in this package. Systems with other datums have a name, and no conversion: a box is right or
// missing.
package crs

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"odarchive/triplestore/geometry"
)

// System is a reference system. Its x is the easting or longitude, and its y is the northing or latitude, whatever
// order the system's own definition has: that is the order of shapefiles, GeoPackage and most programs. The zero System
// is unknown.
type System struct {
	IRI  string // as in http://www.opengis.net/def/crs/EPSG/0/4326; "" if it has no code
	Name string // as the file calls it; "" if it does not

	inverse func(x, y float64) (lon, lat float64, ok bool) // in degrees of WGS 84; nil if not known
}

// WGS84 is longitude and latitude, the system of GeoJSON, KML and GPX.
func WGS84() System { return System{IRI: geometry.CRS84, Name: "WGS 84", inverse: degrees} }

// IsDegrees reports whether the coordinates of the system are known to be longitudes and latitudes.
func (s System) IsDegrees() bool {
	if s.inverse == nil {
		return false
	}
	x, y, ok := s.inverse(12, 34)
	return ok && x == 12 && y == 34
}

// Known reports whether anything is known of the system.
func (s System) Known() bool { return s.IRI != "" || s.Name != "" }

const epsgIRI = "http://www.opengis.net/def/crs/EPSG/0/"

// FromEPSG returns the system with a code of the EPSG register; that of 0 and less is unknown.
func FromEPSG(code int) System {
	switch code {
	case 900913, 3785, 102100, 102113, 3587: // older numbers of web Mercator
		code = 3857
	}
	if code <= 0 || code > maxCode {
		return System{}
	}
	return System{IRI: epsgIRI + strconv.Itoa(code), Name: "EPSG:" + strconv.Itoa(code), inverse: inverseOf(code)}
}

// maxCode is above all codes of the EPSG register; ESRI's are larger.
const maxCode = 32767

// Named returns the system with an identifier: "EPSG:4326", "urn:ogc:def:crs:OGC:1.3:CRS84", or an IRI of opengis.net.
// The systems of other identifiers have a name only.
func Named(id string) System {
	id = strings.TrimSpace(id)
	low := strings.ToLower(id)
	if strings.HasSuffix(low, "crs84") || strings.HasSuffix(low, "crs84h") {
		return WGS84()
	}
	if _, after, ok := strings.Cut(low, "epsg"); ok {
		if at := strings.LastIndexFunc(after, func(r rune) bool { return r < '0' || r > '9' }); at >= 0 {
			if code, err := strconv.Atoi(after[at+1:]); err == nil {
				if s := FromEPSG(code); s.Known() {
					return s
				}
			}
		}
	}
	return System{Name: shortened(id)}
}

// shortened bounds a name of a stranger's file.
func shortened(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD")
	if len(s) > 120 {
		s = strings.ToValidUTF8(s[:120], "")
	}
	return s
}

// edgeSteps is the number of points on each edge of a box that are converted. An edge of 4000 km that is bent by the
// projection runs less than 10 metres beyond the box around them.
const edgeSteps = 256

// Degrees returns the box around a box of the system in longitude and latitude. ok is false if the system cannot be
// converted, or if the box reaches beyond the area in which its projection is accurate, or across the meridian of 180
// degrees.
func (s System) Degrees(b geometry.Box) (out geometry.Box, ok bool) {
	if s.inverse == nil || b.Empty() || math.IsInf(b.MaxX-b.MinX, 0) || math.IsInf(b.MaxY-b.MinY, 0) {
		return out, false
	}
	first, last := true, 0.0
	add := func(x, y float64) bool {
		lon, lat, ok := s.inverse(x, y)
		if !ok || !(math.Abs(lon) <= 180) || !(math.Abs(lat) <= 90) || !first && math.Abs(lon-last) > 180 {
			return false
		}
		if last = lon; first {
			out, first = geometry.Box{MinX: lon, MinY: lat, MaxX: lon, MaxY: lat}, false
		}
		out = out.With(lon, lat)
		return true
	}
	along := func(x0, y0, x1, y1 float64) bool {
		for i := range edgeSteps + 1 {
			t := float64(i) / edgeSteps
			if !add(x0+(x1-x0)*t, y0+(y1-y0)*t) {
				return false
			}
		}
		return true
	}
	ok = along(b.MinX, b.MinY, b.MaxX, b.MinY) && along(b.MaxX, b.MinY, b.MaxX, b.MaxY) &&
		along(b.MaxX, b.MaxY, b.MinX, b.MaxY) && along(b.MinX, b.MaxY, b.MinX, b.MinY)
	return out, ok
}

// Bounds formats a box as its smallest x and y and its largest x and y, separated by blanks.
func Bounds(b [4]float64) string {
	n := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	return fmt.Sprintf("%s %s %s %s", n(b[0]), n(b[1]), n(b[2]), n(b[3]))
}
