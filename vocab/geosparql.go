package vocab

// GeoNS is the namespace of the terms.
const GeoNS = "http://www.opengis.net/ont/geosparql#"

// GeoFunctionNS is the namespace of the functions, GeoSimpleNS that of the classes of simple features.
const (
	GeoFunctionNS = "http://www.opengis.net/def/function/geosparql/"
	GeoSimpleNS   = "http://www.opengis.net/ont/sf#"
)

const (
	GeoWKTLiteral     = GeoNS + "wktLiteral"
	GeoGeoJSONLiteral = GeoNS + "geoJSONLiteral"
	GeoGMLLiteral     = GeoNS + "gmlLiteral"
	GeoKMLLiteral     = GeoNS + "kmlLiteral"

	// GeoGeoJSONType is the datatype of GeoJSON in GeoDCAT-AP, and so of many catalogs.
	GeoGeoJSONType = "https://www.iana.org/assignments/media-types/application/vnd.geo+json"

	GeoHasGeometry        = GeoNS + "hasGeometry"
	GeoHasDefaultGeometry = GeoNS + "hasDefaultGeometry"
	GeoAsWKT              = GeoNS + "asWKT"
	GeoAsGeoJSON          = GeoNS + "asGeoJSON"
	GeoHasSerialization   = GeoNS + "hasSerialization"
)
