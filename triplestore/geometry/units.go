package geometry

import (
	"math"
	"strings"
)

// unit is a unit of length or angle, or the square of a unit of length.
type unit struct {
	metres  float64 // in one unit of length, or square metres in one unit of area
	radians float64 // in one unit of angle
	square  bool
}

const (
	ogcUnits  = "http://www.opengis.net/def/uom/OGC/1.0/"
	qudtUnits = "http://qudt.org/vocab/unit/"
)

// units by the local names that OGC's list, QUDT and other implementations use.
var units = map[string]unit{
	"metre": {metres: 1}, "meter": {metres: 1}, "m": {metres: 1},
	"kilometre": {metres: 1000}, "kilometer": {metres: 1000}, "km": {metres: 1000}, "kilom": {metres: 1000},
	"centimetre": {metres: 0.01}, "centimeter": {metres: 0.01}, "centim": {metres: 0.01},
	"mile": {metres: 1609.344}, "statutemile": {metres: 1609.344}, "mi": {metres: 1609.344},
	"nauticalmile": {metres: 1852}, "mi_n": {metres: 1852}, "foot": {metres: 0.3048}, "ft": {metres: 0.3048}, "yard": {metres: 0.9144},
	"yd":     {metres: 0.9144},
	"degree": {radians: math.Pi / 180}, "deg": {radians: math.Pi / 180}, "radian": {radians: 1}, "rad": {radians: 1},
	"square_metre": {metres: 1, square: true}, "square_meter": {metres: 1, square: true}, "squaremetre": {metres: 1, square: true},
	"m2":               {metres: 1, square: true},
	"square_kilometre": {metres: 1e6, square: true}, "squarekilometre": {metres: 1e6, square: true}, "kilom2": {metres: 1e6, square: true},
	"hectare": {metres: 1e4, square: true}, "ha": {metres: 1e4, square: true}, "hectom2": {metres: 1e4, square: true},
}

// Metre is the unit of the functions that take none, Kilometre that of Jena's.
const (
	Metre     = ogcUnits + "metre"
	Kilometre = ogcUnits + "kilometre"
)

func unitOf(iri string) (unit, error) {
	name, ok := strings.CutPrefix(iri, ogcUnits)
	if !ok {
		name, ok = strings.CutPrefix(strings.Replace(iri, "https:", "http:", 1), qudtUnits)
	}
	u, known := units[strings.ToLower(name)]
	if !ok || !known {
		return unit{}, ErrUnit
	}
	return u, nil
}

// lengthUnit returns the factor between metres and the unit in a reference system: an angle means the arc that it
// spans on the Earth, for geographic systems only.
func (g *Geometry) lengthUnit(iri string) (metres float64, err error) {
	u, err := unitOf(iri)
	switch {
	case err != nil || u.square:
		return 0, ErrUnit
	case u.metres > 0:
		return u.metres, nil
	case g.Geographic():
		return u.radians * earthRadius, nil
	}
	return 0, ErrUnit
}

// Metres returns the metres in a unit of length; of an angle, those of the arc on the Earth.
func Metres(iri string) (float64, error) {
	u, err := unitOf(iri)
	switch {
	case err != nil || u.square:
		return 0, ErrUnit
	case u.metres > 0:
		return u.metres, nil
	}
	return u.radians * earthRadius, nil
}

// areaUnit returns the square metres in a unit of area. The square of a unit of length may be named by that unit.
func areaUnit(iri string) (float64, error) {
	u, err := unitOf(iri)
	switch {
	case err != nil || u.radians > 0:
		return 0, ErrUnit
	case u.square:
		return u.metres, nil
	}
	return u.metres * u.metres, nil
}
