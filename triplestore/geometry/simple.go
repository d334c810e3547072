package geometry

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"odarchive/vocab"
)

// At returns the WKT of the point at a latitude and longitude in degrees. ok is false if they are none.
func At(lat, long float64) (wkt string, ok bool) {
	if !(math.Abs(lat) <= 90 && math.Abs(long) <= 180) {
		return "", false
	}
	return "POINT(" + position(lat, long) + ")", true
}

// FromGeoRSS returns the WKT of the value of a property of GeoRSS: latitudes and longitudes in turn, between spaces or
// commas. ok is false if it has none, or too few.
func FromGeoRSS(property, text string) (wkt string, ok bool) {
	if len(text) > MaxText {
		return "", false
	}
	words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '\n' || r == '\r' })
	var at []float64
	for i, w := range words {
		v, err := strconv.ParseFloat(w, 64)
		if most := [2]float64{90, 180}[i%2]; err != nil || !(math.Abs(v) <= most) {
			return "", false
		}
		at = append(at, v)
	}
	if len(at)%2 != 0 {
		return "", false
	}
	var list []string
	for i := 0; i < len(at); i += 2 {
		list = append(list, position(at[i], at[i+1]))
	}
	switch {
	case property == vocab.GeoRSSPoint && len(list) == 1:
		return "POINT(" + list[0] + ")", true
	case property == vocab.GeoRSSLine && len(list) >= 2:
		return "LINESTRING(" + strings.Join(list, ", ") + ")", true
	case property == vocab.GeoRSSPolygon && len(list) >= 3:
		return "POLYGON((" + strings.Join(list, ", ") + "))", true
	case property == vocab.GeoRSSBox && len(list) == 2 && at[0] <= at[2]:
		south, west, north, east := at[0], at[1], at[2], at[3]
		if west > east { // across the meridian of 180 degrees
			return fmt.Sprintf("MULTIPOLYGON((%s), (%s))", rectangle(south, west, north, 180), rectangle(south, -180, north, east)), true
		}
		return "POLYGON(" + rectangle(south, west, north, east) + ")", true
	}
	return "", false
}

func rectangle(south, west, north, east float64) string {
	return "(" + strings.Join([]string{position(south, west), position(south, east), position(north, east), position(north, west),
		position(south, west)}, ", ") + ")"
}

func position(lat, long float64) string {
	return strconv.FormatFloat(long, 'f', -1, 64) + " " + strconv.FormatFloat(lat, 'f', -1, 64)
}
