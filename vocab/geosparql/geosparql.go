// Package geosparql defines the terms of OGC GeoSPARQL that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package geosparql

// NS is the namespace of the terms.
const NS = "http://www.opengis.net/ont/geosparql#"

// FunctionNS is the namespace of the functions, SimpleNS that of the classes of simple features.
const (
	FunctionNS = "http://www.opengis.net/def/function/geosparql/"
	SimpleNS   = "http://www.opengis.net/ont/sf#"
)

const (
	WKTLiteral     = NS + "wktLiteral"
	GeoJSONLiteral = NS + "geoJSONLiteral"
	GMLLiteral     = NS + "gmlLiteral"
	KMLLiteral     = NS + "kmlLiteral"

	// GeoJSONType is the datatype of GeoJSON in GeoDCAT-AP, and so of many catalogs.
	GeoJSONType = "https://www.iana.org/assignments/media-types/application/vnd.geo+json"

	HasGeometry        = NS + "hasGeometry"
	HasDefaultGeometry = NS + "hasDefaultGeometry"
	AsWKT              = NS + "asWKT"
	AsGeoJSON          = NS + "asGeoJSON"
	HasSerialization   = NS + "hasSerialization"
)
