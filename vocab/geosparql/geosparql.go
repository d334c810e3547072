// Package geosparql names the terms of OGC GeoSPARQL that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package geosparql

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.opengis.net/ont/geosparql#"

const (
	WKTLiteral     = NS + "wktLiteral"
	GeoJSONLiteral = NS + "geoJSONLiteral"
	GMLLiteral     = NS + "gmlLiteral"
	AsWKT          = NS + "asWKT"
	AsGeoJSON      = NS + "asGeoJSON"
)
