// Package geo reads the tables of geographic formats: shapefiles and their dBASE tables, KML, GPX, GML, TopoJSON and
// FlatGeobuf.
//
// Each feature is a row, its geometry a column of WKT. All readers follow the published descriptions of their formats,
// are bounded by the sizes of their files, and keep what they have read before damage.
package geo

import (
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/inspect/tables/source"
)

// Readers returns the readers of the family.
func Readers() source.Readers {
	return source.Readers{
		"application/vnd.dbf":                  dbfFile,
		"application/x-dbf":                    dbfFile,
		"application/dbase":                    dbfFile,
		"application/vnd.shp":                  shapefile,
		"application/vnd.google-earth.kml+xml": kmlFile,
		"application/gpx+xml":                  gpxFile,
		"application/topo+json":                topology,
		"application/vnd.flatgeobuf":           flatGeobuf,
	}
}

// geometryColumn returns a name for the column of geometries beside others.
func geometryColumn(names []string) string {
	name := "geometry"
	for n := 2; slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, name) }); n++ {
		name = "geometry_" + strconv.Itoa(n)
	}
	return name
}
