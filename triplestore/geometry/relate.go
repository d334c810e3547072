package geometry

import (
	"fmt"
	"strings"

	"github.com/peterstace/simplefeatures/geom"
)

// relation says how a topological relation is computed.
type relation struct {
	apart    bool     // holds for geometries without a common point
	patterns []string // of the DE-9IM matrix; one must match
	// Instead of patterns: the relation, and the same with the first or the second geometry prepared.
	plain         func(a, b geom.Geometry) (bool, error)
	first, second func(p geom.PreparedGeometry, other geom.Geometry) (bool, error)
}

// relations are those of GeoSPARQL 1.1 §9.3 to §9.5 by local name, with the patterns of its tables.
var relations = map[string]relation{
	"sfEquals":     {plain: geom.Equals},
	"sfDisjoint":   {apart: true, plain: geom.Disjoint, first: geom.PreparedGeometry.Disjoint, second: geom.PreparedGeometry.Disjoint},
	"sfIntersects": {plain: intersects, first: geom.PreparedGeometry.Intersects, second: geom.PreparedGeometry.Intersects},
	"sfTouches":    {plain: geom.Touches, first: geom.PreparedGeometry.Touches, second: geom.PreparedGeometry.Touches},
	"sfCrosses":    {plain: geom.Crosses},
	"sfWithin":     {plain: geom.Within, first: geom.PreparedGeometry.Within, second: geom.PreparedGeometry.Contains},
	"sfContains":   {plain: geom.Contains, first: geom.PreparedGeometry.Contains, second: geom.PreparedGeometry.Within},
	"sfOverlaps":   {plain: geom.Overlaps, first: geom.PreparedGeometry.Overlaps, second: geom.PreparedGeometry.Overlaps},

	"ehEquals":    {patterns: []string{"TFFFTFFFT"}},
	"ehDisjoint":  {apart: true, patterns: []string{"FF*FF****"}},
	"ehMeet":      {patterns: []string{"FT*******", "F**T*****", "F***T****"}},
	"ehOverlap":   {patterns: []string{"T*T***T**"}},
	"ehCovers":    {patterns: []string{"T*TFT*FF*"}},
	"ehCoveredBy": {patterns: []string{"TFF*TFT**"}},
	"ehInside":    {patterns: []string{"TFF*FFT**"}},
	"ehContains":  {patterns: []string{"T*TFF*FF*"}},

	"rcc8eq":    {patterns: []string{"TFFFTFFFT"}},
	"rcc8dc":    {apart: true, patterns: []string{"FFTFFTTTT"}},
	"rcc8ec":    {patterns: []string{"FFTFTTTTT"}},
	"rcc8po":    {patterns: []string{"TTTTTTTTT"}},
	"rcc8tppi":  {patterns: []string{"TTTFTTFFT"}},
	"rcc8tpp":   {patterns: []string{"TFFTTFTTT"}},
	"rcc8ntpp":  {patterns: []string{"TFFTFFTTT"}},
	"rcc8ntppi": {patterns: []string{"TTTFFTFFT"}},
}

func intersects(a, b geom.Geometry) (bool, error) { return geom.Intersects(a, b), nil }

// IsRelation reports whether a local name of GeoSPARQL, such as sfWithin, is a topological relation.
func IsRelation(name string) bool { _, ok := relations[name]; return ok }

// NeedsMeeting reports whether a relation holds only for geometries whose boxes meet.
func NeedsMeeting(name string) bool {
	r, ok := relations[name]
	return ok && !r.apart
}

// Relates reports whether the relation with the local name holds for a and b.
func Relates(name string, a, b *Geometry) (bool, error) {
	r, ok := relations[name]
	if !ok {
		return false, fmt.Errorf("geometry: no relation %q", name)
	}
	b, err := a.with(b)
	if err != nil {
		return false, err
	}
	if !r.apart && !a.bounds.Meets(b.bounds) {
		return false, nil
	}
	if a.points+b.points > maxRelate {
		return false, ErrLarge
	}
	if r.patterns == nil {
		return guard(func() (bool, error) {
			switch {
			case r.second != nil && b.points > a.points && b.prepare():
				return r.second(b.prepared, a.g)
			case r.first != nil && a.prepare():
				return r.first(a.prepared, b.g)
			}
			return r.plain(a.g, b.g)
		})
	}
	matrix, err := matrixOf(a, b)
	if err != nil {
		return false, err
	}
	for _, p := range r.patterns {
		if matches(matrix, p) {
			return true, nil
		}
	}
	return false, nil
}

// RelatesBy reports whether the DE-9IM matrix of a and b matches a pattern of nine of T, F, *, 0, 1 and 2.
func RelatesBy(pattern string, a, b *Geometry) (bool, error) {
	if len(pattern) != 9 || strings.Trim(pattern, "TF*012") != "" {
		return false, fmt.Errorf("geometry: %q is not a pattern of a DE-9IM matrix", pattern)
	}
	b, err := a.with(b)
	if err != nil {
		return false, err
	}
	if a.points+b.points > maxRelate {
		return false, ErrLarge
	}
	matrix, err := matrixOf(a, b)
	return err == nil && matches(matrix, pattern), err
}

func matrixOf(a, b *Geometry) (string, error) {
	return guard(func() (string, error) { return geom.Relate(a.g, b.g) })
}

// matches compares a matrix with a pattern of the same length.
func matches(matrix, pattern string) bool {
	if len(matrix) != len(pattern) {
		return false
	}
	for i := range len(matrix) {
		switch p, m := pattern[i], matrix[i]; p {
		case '*':
		case 'T':
			if m == 'F' {
				return false
			}
		default:
			if m != p {
				return false
			}
		}
	}
	return true
}

// preparedFrom is the number of coordinates from which preparing a geometry is worth its time.
const preparedFrom = 5

// prepare builds the index of g's edges once, on the first call. It reports whether there is one.
func (g *Geometry) prepare() bool {
	if g.points < preparedFrom || g.g.IsGeometryCollection() {
		return false
	}
	g.once.Do(func() {
		p, err := guard(func() (geom.PreparedGeometry, error) { return geom.Prepare(g.g) })
		g.prepared, g.ready = p, err == nil
	})
	return g.ready
}
