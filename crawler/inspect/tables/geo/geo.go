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

// Reader returns the reader for a media type (lower case, without parameters), nil if it is not one of this package.
func Reader(mediaType string) source.Reader {
	switch mediaType {
	case "application/vnd.dbf", "application/x-dbf", "application/dbase":
		return dbfFile
	case "application/vnd.shp":
		return shapefile
	case "application/vnd.google-earth.kml+xml":
		return kmlFile
	case "application/gpx+xml":
		return gpxFile
	case "application/topo+json":
		return topology
	case "application/vnd.flatgeobuf":
		return flatGeobuf
	}
	return nil
}

// geometryColumn returns a name for the column of geometries beside others.
func geometryColumn(names []string) string {
	name := "geometry"
	for n := 2; slices.ContainsFunc(names, func(s string) bool { return strings.EqualFold(s, name) }); n++ {
		name = "geometry_" + strconv.Itoa(n)
	}
	return name
}
