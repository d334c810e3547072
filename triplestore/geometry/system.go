package geometry

import (
	"fmt"
	"math"
	"strings"

	"github.com/peterstace/simplefeatures/geom"
)

// canonicalSystem returns one spelling of the IRIs of the systems that this package knows. Others are left as they are.
func canonicalSystem(iri string) string {
	s := strings.TrimPrefix(strings.TrimPrefix(iri, "https:"), "http:")
	switch strings.ToLower(s) {
	case "//www.opengis.net/def/crs/ogc/1.3/crs84", "//www.opengis.net/def/crs/ogc/0/crs84", "urn:ogc:def:crs:ogc:1.3:crs84",
		"urn:ogc:def:crs:ogc::crs84":
		return CRS84
	case "//www.opengis.net/def/crs/epsg/0/4326", "//www.opengis.net/def/crs/epsg/9.9.1/4326", "urn:ogc:def:crs:epsg::4326",
		"//www.opengis.net/gml/srs/epsg.xml#4326", "epsg:4326":
		return EPSG4326
	case "//www.opengis.net/def/crs/epsg/0/3857", "urn:ogc:def:crs:epsg::3857", "epsg:3857":
		return EPSG3857
	}
	return iri
}

func geographic(system string) bool    { return system == CRS84 || system == EPSG4326 }
func latitudeFirst(system string) bool { return system == EPSG4326 }

// swap exchanges x and y.
func swap(g geom.Geometry) geom.Geometry {
	return g.TransformXY(func(p geom.XY) geom.XY { return geom.XY{X: p.Y, Y: p.X} })
}

const mercatorRadius = 6378137.0 // metres, the major axis of WGS 84

// Transform returns g in another reference system. Only CRS84, EPSG:4326 and EPSG:3857 are known.
func (g *Geometry) Transform(system string) (*Geometry, error) {
	system = canonicalSystem(system)
	made := g.g
	switch {
	case system == g.system:
		return g, nil
	case geographic(system) && g.Geographic(): // only the order in the literal differs
	case system == EPSG3857 && g.Geographic():
		made = made.TransformXY(func(p geom.XY) geom.XY {
			lat := min(max(p.Y, -89.999999), 89.999999)
			return geom.XY{X: mercatorRadius * p.X * math.Pi / 180, Y: mercatorRadius * math.Asinh(math.Tan(lat*math.Pi/180))}
		})
	case geographic(system) && g.system == EPSG3857:
		made = made.TransformXY(func(p geom.XY) geom.XY {
			return geom.XY{X: p.X / mercatorRadius * 180 / math.Pi, Y: math.Atan(math.Sinh(p.Y/mercatorRadius)) * 180 / math.Pi}
		})
	default:
		return nil, fmt.Errorf("%w: from <%s> to <%s>", ErrSystems, g.system, system)
	}
	return newGeometry(made, system, g.json && geographic(system))
}

// with returns h in a system whose coordinates can be compared with those of g.
func (g *Geometry) with(h *Geometry) (*Geometry, error) {
	if g.system == h.system || g.Geographic() && h.Geographic() {
		return h, nil
	}
	return h.Transform(g.system)
}
