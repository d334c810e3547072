package vocab

// GeoWGS84NS is the namespace of the W3C's Basic Geo vocabulary, GeoRSSNS that of GeoRSS. Both give features
// positions without a geometry literal.
const (
	GeoWGS84NS = "http://www.w3.org/2003/01/geo/wgs84_pos#"
	GeoRSSNS   = "http://www.georss.org/georss/"
)

const (
	GeoLat      = GeoWGS84NS + "lat"
	GeoLong     = GeoWGS84NS + "long"
	GeoLocation = GeoWGS84NS + "location"

	GeoRSSPoint   = GeoRSSNS + "point"
	GeoRSSLine    = GeoRSSNS + "line"
	GeoRSSPolygon = GeoRSSNS + "polygon"
	GeoRSSBox     = GeoRSSNS + "box"
)
