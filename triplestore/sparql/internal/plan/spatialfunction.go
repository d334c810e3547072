package plan

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"odarchive/triplestore/geometry"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
	"odarchive/vocab"
)

// jenaSpatial is the namespace of Jena's predicates about where things are.
const jenaSpatial = "http://jena.apache.org/spatial#"

// spatialCall is a predicate that compares geometries: a topological relation between two features, or what Jena has
// for things near a place. It has the solutions of each feature once, however many geometries it has.
type spatialCall struct {
	union algebra.Op // its solutions, some of them several times
	vars  []algebra.Var
	limit int64 // maximum rows, the nearest first; negative means no limit
	apart func(algebra.Expr) algebra.Expr
}

// isSpatialCall reports whether an IRI names such a predicate.
func isSpatialCall(iri string) bool {
	if name, ok := strings.CutPrefix(iri, vocab.GeoNS); ok {
		return geometry.IsRelation(name)
	}
	name, ok := strings.CutPrefix(iri, jenaSpatial)
	return ok && slices.Contains(jenaPlaces, name)
}

// spatialFactor plans a call. Rows that are known already seed its solutions.
func (b *builder) spatialFactor(iri string, subject, object []algebra.Node, sc scope) (factor, error) {
	if len(subject) != 1 {
		return factor{}, wrongArguments("the subject is one node")
	}
	var c spatialCall
	var err error
	if name, ok := strings.CutPrefix(iri, vocab.GeoNS); ok {
		if len(object) != 1 {
			return factor{}, wrongArguments("the object is one node")
		}
		c, err = b.relationCall(iri, name, subject[0], object[0])
	} else {
		c, err = b.nearCall(strings.TrimPrefix(iri, jenaSpatial), subject[0], object)
	}
	if err != nil {
		return factor{}, err
	}
	inner := b.newScope()
	for _, v := range c.vars {
		inner[v] = b.slot(sc, v)
	}
	whole := algebra.Op(algebra.Distinct{In: algebra.Project{In: c.union, Vars: c.vars}})
	if c.limit >= 0 {
		distance := algebra.Var(".d")
		whole = algebra.Group{In: c.union, By: c.vars,
			Aggs: []algebra.Aggregate{{Func: "MIN", Var: distance, Expr: c.apart(algebra.VarExpr{Var: ".w"})}}}
		whole = algebra.Slice{In: algebra.OrderBy{In: whole, Keys: []algebra.OrderKey{{Expr: algebra.VarExpr{Var: distance}}}},
			Limit: c.limit}
		whole = algebra.Project{In: whole, Vars: c.vars}
	}
	n, err := b.build(whole, inner)
	if err != nil {
		return factor{}, err
	}
	f := nodeFactor(n)
	if union, ok := c.union.(algebra.Union); ok && c.limit < 0 {
		seeded := b.seededUnion(union, inner)
		f.seeded = func(seed *Seed) (Node, error) {
			n, err := seeded(seed)
			if err != nil {
				return nil, err
			}
			cols := slices.Clone(seed.Cols)
			for _, s := range f.node.Info().Cols {
				if !slices.Contains(cols, s) {
					cols = append(cols, s)
				}
			}
			return newDistinct(newProject(n, cols)), nil
		}
	}
	return f, nil
}

// geometryLinks lead from a feature to its geometry.
var geometryLinks = []string{vocab.GeoHasDefaultGeometry, vocab.GeoHasGeometry, vocab.LOCNGeometry}

// placed returns the patterns by which a node has a geometry literal w: directly, or through a link. Names of variables
// begin with prefix.
func placed(n algebra.Node, w algebra.Var, prefix string, links []string) (direct, linked algebra.Op) {
	v := func(s string) algebra.Node { return algebra.Node{Var: algebra.Var("." + prefix + s)} }
	literal := algebra.Node{Var: w}
	direct = algebra.BGP{Patterns: []algebra.TriplePattern{{S: n, P: v("p"), O: literal}}}
	var rows [][]term.Key
	for _, l := range links {
		rows = append(rows, []term.Key{term.IRI(l)})
	}
	linked = algebra.Join{
		L: algebra.BGP{Patterns: []algebra.TriplePattern{{S: n, P: v("l"), O: v("g")}, {S: v("g"), P: v("p"), O: literal}}},
		R: algebra.Values{Vars: []algebra.Var{v("l").Var}, Rows: rows},
	}
	return direct, linked
}

// relationCall returns the solutions of a topological relation between two nodes: those that the dataset states, and
// those that the geometries of both have (GeoSPARQL 1.1 §12). Either may be a geometry instead of a feature, and the
// object also a literal.
func (b *builder) relationCall(iri, name string, subject, object algebra.Node) (c spatialCall, err error) {
	for _, n := range []algebra.Node{subject, object} {
		if n.Triple != nil {
			return c, wrongArguments("a triple term")
		}
		if n.Var != "" && !slices.Contains(c.vars, n.Var) {
			c.vars = append(c.vars, n.Var)
		}
	}
	c.limit = -1
	var list []algebra.Op
	if _, stated, err := b.lookup(term.IRI(iri)); err != nil {
		return c, err
	} else if stated {
		list = append(list, algebra.Join{ // not as a pattern with this predicate, which would be a call again
			L: algebra.BGP{Patterns: []algebra.TriplePattern{{S: subject, P: algebra.Node{Var: ".r"}, O: object}}},
			R: algebra.Values{Vars: []algebra.Var{".r"}, Rows: [][]term.Key{{term.IRI(iri)}}},
		})
	}
	direct, linked := placed(subject, ".v", "s", geometryLinks)
	plainLeft, plainLeftLinked, err := b.plainlyPlaced(subject, ".v", "s", geometryLinks)
	if err != nil {
		return c, err
	}
	left := append([]algebra.Op{direct, linked}, someOf(plainLeft, plainLeftLinked)...)
	v, w := algebra.Expr(algebra.VarExpr{Var: ".v"}), algebra.Expr(algebra.VarExpr{Var: ".w"})
	right := []algebra.Op{nil}
	if object.Term.Kind() == term.KindLiteral {
		w = algebra.ConstExpr{Term: object.Term}
	} else {
		direct, linked := placed(object, ".w", "o", geometryLinks)
		plain, plainLinked, err := b.plainlyPlaced(object, ".w", "o", geometryLinks)
		if err != nil {
			return c, err
		}
		right = append([]algebra.Op{direct, linked}, someOf(plain, plainLinked)...)
	}
	cond := algebra.Expr(algebra.Call{Func: vocab.GeoFunctionNS + name, Args: []algebra.Expr{v, w}})
	for _, l := range left {
		for _, r := range right {
			op := l
			if r != nil {
				op = algebra.Join{L: l, R: r}
				if subject.Var != "" && object.Var != "" && geometry.NeedsMeeting(name) {
					// start from all geometries rather than from all triples
					op = algebra.Filter{In: op, Cond: isGeometry(v)}
				}
			}
			list = append(list, algebra.Filter{In: op, Cond: cond})
		}
	}
	c.union = unionOf(list)
	return c, nil
}

// isGeometry returns a condition that holds for the literals of geometries that have a point.
func isGeometry(e algebra.Expr) algebra.Expr {
	return algebra.Call{Func: "!", Args: []algebra.Expr{algebra.Call{Func: vocab.GeoFunctionNS + "isEmpty", Args: []algebra.Expr{e}}}}
}

func unionOf(list []algebra.Op) algebra.Op {
	op := list[0]
	for _, o := range list[1:] {
		op = algebra.Union{L: op, R: o}
	}
	return op
}

// jenaPlaces are the local names of Jena's predicates.
var jenaPlaces = []string{"nearby", "nearbyGeom", "withinCircle", "withinCircleGeom", "withinBox", "withinBoxGeom", "intersectBox",
	"intersectBoxGeom"}

// nearCall returns the subjects of one of Jena's predicates. The arguments are constants: a place, as a literal or as
// latitude and longitude (two of them for a box), for a circle the radius and the unit, kilometres by default, and the
// maximum number of subjects. Besides features it finds what has a place by dct:spatial, such as datasets.
func (b *builder) nearCall(name string, subject algebra.Node, args []algebra.Node) (c spatialCall, err error) {
	if subject.Triple != nil {
		return c, wrongArguments("a triple term")
	}
	if subject.Var != "" {
		c.vars = append(c.vars, subject.Var)
	}
	for _, a := range args {
		if a.Var != "" || a.Triple != nil {
			return c, wrongArguments("constants are needed")
		}
	}
	kind, ofLiteral := strings.CutSuffix(name, "Geom")
	circle := kind == "nearby" || kind == "withinCircle"
	g, args, err := placeOf(ofLiteral, circle, args)
	if err != nil {
		return c, err
	}
	radius, unit := 0.0, geometry.Kilometre
	if circle {
		if len(args) == 0 {
			return c, wrongArguments("the radius is missing")
		}
		ok := false
		if radius, ok = numberOf(algebra.ConstExpr{Term: args[0].Term}); !ok || math.IsNaN(radius) {
			return c, wrongArguments("the radius is a number")
		}
		if args = args[1:]; len(args) > 0 {
			if unit, err = unitOf(args[0].Term); err != nil {
				return c, err
			}
			args = args[1:]
		}
	}
	c.limit = -1
	if len(args) > 0 {
		limit, ok := integerOf(args[0].Term)
		if !ok || len(args) > 1 {
			return c, wrongArguments("too many, or the limit is no integer")
		}
		c.limit = limit // negative: none, as in Jena
	}
	call := func(name string, args ...algebra.Expr) algebra.Expr {
		return algebra.Call{Func: vocab.GeoFunctionNS + name, Args: args}
	}
	here := constantOf(g)
	c.apart = func(w algebra.Expr) algebra.Expr { return call("metricDistance", w, here) }
	w := algebra.VarExpr{Var: ".w"}
	var cond algebra.Expr
	switch kind {
	case "nearby":
		distance := call("distance", w, here, algebra.ConstExpr{Term: term.IRI(unit)})
		cond = algebra.Call{Func: "<=",
			Args: []algebra.Expr{distance, algebra.ConstExpr{Term: term.Typed(xsdval.NewDouble(radius).String(), vocab.XSDDouble)}}}
	case "withinCircle":
		disc, err := g.Buffer(radius, unit)
		if err != nil {
			return c, wrongArguments("the circle: %v", err)
		}
		cond = call("sfWithin", w, constantOf(disc))
	case "withinBox":
		cond = call("sfWithin", w, here)
	default:
		cond = call("sfIntersects", w, here)
	}
	allLinks := append([]string{vocab.DCTSpatial}, geometryLinks...)
	direct, linked := placed(subject, ".w", "s", allLinks)
	plain, plainLinked, err := b.plainlyPlaced(subject, ".w", "s", allLinks)
	if err != nil {
		return c, err
	}
	// A geometry is not found besides its feature.
	var links [][]term.Key
	for _, l := range geometryLinks {
		links = append(links, []term.Key{term.IRI(l)})
	}
	feature := algebra.Join{
		L: algebra.BGP{Patterns: []algebra.TriplePattern{{S: algebra.Node{Var: ".f"}, P: algebra.Node{Var: ".l"}, O: subject}}},
		R: algebra.Values{Vars: []algebra.Var{".l"}, Rows: links},
	}
	list := []algebra.Op{}
	for _, own := range append([]algebra.Op{direct}, someOf(plain)...) {
		list = append(list, algebra.Filter{In: algebra.Filter{In: own, Cond: cond}, Cond: algebra.Exists{Not: true, In: feature}})
	}
	for _, other := range append([]algebra.Op{linked}, someOf(plainLinked)...) {
		list = append(list, algebra.Filter{In: other, Cond: cond})
	}
	c.union = unionOf(list)
	return c, nil
}

func constantOf(g *geometry.Geometry) algebra.Expr {
	text, datatype := g.Literal()
	return algebra.ConstExpr{Term: term.Typed(text, datatype)}
}

// placeOf reads the place at the beginning of the arguments: a geometry literal, else latitude and longitude, or those
// of the south-west and the north-east corner of a box. rest are the other arguments.
func placeOf(ofLiteral, circle bool, args []algebra.Node) (g *geometry.Geometry, rest []algebra.Node, err error) {
	if ofLiteral {
		if len(args) == 0 {
			return nil, nil, wrongArguments("the geometry is missing")
		}
		g, err := geometry.Parse(args[0].Term.Value(), args[0].Term.Datatype())
		if err != nil {
			return nil, nil, wrongArguments("%v", err)
		}
		if !circle {
			g, err = g.Envelope()
		}
		return g, args[1:], err
	}
	var at [4]float64
	n := 4
	if circle {
		n = 2
	}
	if len(args) < n {
		return nil, nil, wrongArguments("latitude and longitude are missing")
	}
	for i := range n {
		v, ok := numberOf(algebra.ConstExpr{Term: args[i].Term})
		if most := [2]float64{90, 180}[i%2]; !ok || !(math.Abs(v) <= most) {
			return nil, nil, wrongArguments("latitudes from -90 to 90 and longitudes from -180 to 180 are needed, not %s",
				args[i].Term.Value())
		}
		at[i] = v
	}
	if circle {
		return geometry.Point(at[1], at[0]), args[2:], nil
	}
	south, west, north, east := at[0], at[1], at[2], at[3]
	if south > north {
		return nil, nil, wrongArguments("the first corner of a box is the south-western one")
	}
	if west <= east {
		g, err = geometry.Rectangle(geometry.Box{MinX: west, MinY: south, MaxX: east, MaxY: north})
		return g, args[4:], err
	}
	text := fmt.Sprintf(
		"MULTIPOLYGON(((%[1]v %[2]v, 180 %[2]v, 180 %[4]v, %[1]v %[4]v, %[1]v %[2]v)), ((-180 %[2]v, %[3]v %[2]v, %[3]v %[4]v, -180 "+
			"%[4]v, -180 %[2]v)))", west, south, east, north)
	g, err = geometry.Parse(text, vocab.GeoWKTLiteral) // across the meridian of 180 degrees
	return g, args[4:], err
}

// unitOf returns the IRI of a unit, which may also be one of the words that Jena's older index took.
func unitOf(k term.Key) (string, error) {
	iri := k.Value()
	if k.Kind() == term.KindLiteral && k.Datatype() != vocab.XSDAnyURI {
		words := map[string]string{"km": "kilometre", "kilometres": "kilometre", "kilometers": "kilometre", "m": "metre", "metres": "metre",
			"meters": "metre",
			"mi":     "statuteMile", "miles": "statuteMile", "cm": "centimetre", "centimetres": "centimetre", "centimeters": "centimetre",
			"de": "degree", "degrees": "degree"}
		if name, ok := words[strings.ToLower(iri)]; ok {
			iri = strings.TrimSuffix(geometry.Metre, "metre") + name
		}
	}
	if _, err := geometry.Metres(iri); err != nil {
		return "", wrongArguments("%v", err)
	}
	return iri, nil
}
