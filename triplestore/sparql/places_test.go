package sparql_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/naive"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// randomGeometry returns a geometry near one of a few places or at the edges of the world, in one of several reference
// systems. Some of the literals are not geometries.
func randomGeometry(r *rand.Rand) term.Key {
	x, y := float64(r.IntN(4))*5+r.NormFloat64(), 45+float64(r.IntN(3))+r.NormFloat64()
	switch r.IntN(10) {
	case 0:
		x, y = []float64{-180, 179.99, -179.99, 0}[r.IntN(4)], []float64{-90, 89.99, 0, 60}[r.IntN(4)]
	case 1:
		x, y = float64(r.IntN(4))*5, 45 // exactly equal ones
	}
	d := math.Pow(10, r.Float64()*4-3)
	system, at := "", func(x, y float64) string { return fmt.Sprintf("%v %v", x, y) }
	switch r.IntN(8) {
	case 0:
		system = "<http://www.opengis.net/def/crs/EPSG/0/4326> "
		at = func(x, y float64) string { return fmt.Sprintf("%v %v", y, x) }
	case 1:
		system = "<http://www.opengis.net/def/crs/EPSG/0/3857> "
		at = func(x, y float64) string {
			return fmt.Sprintf("%v %v", x*111319.49, 6378137*math.Asinh(math.Tan(max(-85, min(85, y))*math.Pi/180)))
		}
	case 2:
		system = "<http://www.opengis.net/def/crs/EPSG/0/31287> "
	}
	text := "POINT(" + at(x, y) + ")"
	switch r.IntN(10) {
	case 0:
		text = "LINESTRING(" + at(x, y) + ", " + at(x+d, y-d) + ")"
	case 1, 2:
		text = "POLYGON((" + at(x, y) + ", " + at(x+d, y) + ", " + at(x+d, y+d) + ", " + at(x, y+d) + ", " + at(x, y) + "))"
	case 3:
		if system == "" {
			return term.Typed(fmt.Sprintf(`{"type":"Point","coordinates":[%v,%v]}`, x, y), vocab.GeoGeoJSONLiteral)
		}
	case 4:
		text = []string{"POINT EMPTY", "POINT(", "", "GEOMETRYCOLLECTION(" + text + ")"}[r.IntN(4)]
	}
	return term.Typed(system+text, vocab.GeoWKTLiteral)
}

// constantOf writes a literal as in a query.
func constantOf(k term.Key) string {
	return fmt.Sprintf("%q^^<%s>", k.Value(), k.Datatype())
}

// randomPlaceQuery returns a query about where things are.
func randomPlaceQuery(r *rand.Rand) string {
	relation := []string{"sfWithin", "sfIntersects", "sfContains", "sfEquals", "sfTouches", "sfDisjoint", "ehMeet", "rcc8ntpp",
		"ehCoveredBy", "sfOverlaps"}[r.IntN(10)]
	near := func(a, b string) string {
		if r.IntN(2) == 0 {
			a, b = b, a
		}
		limit := fmt.Sprintf("%.6g", math.Pow(10, r.Float64()*8-1))
		switch r.IntN(6) {
		case 0:
			return fmt.Sprintf("geof:distance(%s, %s, uom:metre) <= %s", a, b, limit)
		case 1:
			return fmt.Sprintf("%s > geof:metricDistance(%s, %s)", limit, a, b)
		case 2:
			return fmt.Sprintf("geof:distance(%s, %s, uom:degree) < %g", a, b, r.Float64()*4)
		case 3:
			return fmt.Sprintf("geof:distance(%s, %s, uom:kilometre) = 0", a, b)
		}
		return fmt.Sprintf("geof:%s(%s, %s)", relation, a, b)
	}
	area := constantOf(randomGeometry(r))
	switch r.IntN(8) {
	case 0:
		return fmt.Sprintf("SELECT ?a ?b { ?a ex:at ?v . ?b ex:in ?w FILTER(%s) }", near("?v", "?w"))
	case 1:
		return fmt.Sprintf("SELECT ?a ?b { ?a ex:at ?v ; ex:next ?b . ?b ex:in ?w FILTER(%s) FILTER(%s) }", near("?v", "?w"),
			near("?v", area))
	case 2:
		return fmt.Sprintf("SELECT ?a ?w { BIND(%s AS ?area) ?a ex:at ?w FILTER(%s) }", area, near("?area", "?w"))
	case 3:
		return fmt.Sprintf("SELECT ?a ?w { VALUES ?area { %s %s } ?a ex:at ?w FILTER(%s) }", area, constantOf(randomGeometry(r)),
			near("?area", "?w"))
	case 4:
		return fmt.Sprintf("SELECT ?a ?g { GRAPH ?g { ?a ?p ?w FILTER(%s) } }", near("?w", area))
	case 5:
		return fmt.Sprintf(
			"SELECT ?a ?b { ?a ex:next ?b OPTIONAL { ?b ex:at ?w FILTER(%s) } FILTER NOT EXISTS { ?a ex:in ?v FILTER(%s) } }",
			near("?w", area), near("?v", area))
	case 6:
		return fmt.Sprintf("SELECT ?a ?b { ?a ex:at ?v . ?a ex:in ?w . ?b ex:in ?w FILTER(%s || %s) FILTER(%s) }", near("?v", area),
			near("?w", area), near("?v", "?w"))
	}
	return fmt.Sprintf("SELECT ?a ?w { ?a ex:at ?w FILTER(%s) FILTER(%s) }", near("?w", area), near("?w", constantOf(randomGeometry(r))))
}

// A store with an index of geometries must answer as one whose geometries are compared one by one, at any time: after
// commits, loads, deletions, merges, sweeps, and when it is opened again.
func TestTheIndexOfGeometriesAnswersAsComparingAllDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 4))
		db, err := kv.Open("", kv.Options{InMemory: true})
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		options := triplestore.Options{MergeAt: 1 + r.IntN(60), KeepChanges: int64(1 + r.IntN(4000))}
		store, err := triplestore.Open(db, options)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { store.Close() }()
		ex := func(s string) term.Key { return term.IRI("http://example.org/" + s) }
		model := map[term.Quad]bool{}
		random := func() term.Quad {
			q := term.Quad{S: ex(fmt.Sprint(r.IntN(30))), P: ex([]string{"at", "in"}[r.IntN(2)]), O: randomGeometry(r),
				G: []term.Key{"", "", "", ex("g")}[r.IntN(4)]}
			if r.IntN(4) == 0 {
				q.P, q.O = ex("next"), ex(fmt.Sprint(r.IntN(30)))
			}
			return q
		}
		e := sparql.New(sparql.Options{})
		ctx := context.Background()
		for range 5 {
			var added []term.Quad
			for range r.IntN(120) {
				added = append(added, random())
			}
			switch r.IntN(7) {
			case 0:
				if _, err := store.Load(ctx, &quadList{added}); err != nil {
					rt.Fatal(err)
				}
			case 1:
				if err := store.Merge(ctx); err != nil {
					rt.Fatal(err)
				}
				added = nil
			case 2:
				store.Close()
				if store, err = triplestore.Open(db, options); err != nil {
					rt.Fatal(err)
				}
				added = nil
			case 3:
				if _, err := store.Sweep(ctx); err != nil {
					rt.Fatal(err)
				}
				added = nil
			default:
				if err := store.Update(ctx, func(tx *triplestore.Txn) error {
					for q := range model {
						if r.IntN(8) == 0 {
							delete(model, q)
							if err := tx.Delete(q); err != nil {
								return err
							}
						}
					}
					for _, q := range added {
						if err := tx.Insert(q); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					rt.Fatal(err)
				}
			}
			for _, q := range added {
				model[q] = true
			}
			var quads []term.Quad
			for q := range model {
				quads = append(quads, q)
			}
			snap := store.Snapshot()
			for range 8 {
				query := geoPrefixes + "PREFIX ex: <http://example.org/> " + randomPlaceQuery(r)
				got, err := answersOf(e, snap, query)
				if err != nil {
					rt.Fatal(err)
				}
				want, err := answersOf(e, naive.New(quads...).Snapshot(), query)
				if err != nil || !slices.Equal(got, want) {
					rt.Fatalf("%s\ngot  %q\nwant %q %v", query, got, want, err)
				}
			}
			snap.Release()
		}
		if _, err := store.Check(ctx); err != nil {
			rt.Fatal(err)
		}
	})
}

// explain returns the plan of a query and the number of its rows.
func explain(t *testing.T, e *sparql.Engine, ds term.Dataset, query string) (plan string, rows int) {
	t.Helper()
	r, err := e.Query(context.Background(), ds, query, sparql.QueryOptions{Explain: true})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer r.Close()
	for {
		if _, err := r.Next(); err != nil {
			break
		}
		rows++
	}
	return r.Explain(), rows
}

func TestPlansStartFromTheIndexOfGeometries(t *testing.T) {
	t.Parallel()
	store := tripleStore(t, triplestore.Options{})
	ex := func(s string) term.Key { return term.IRI("http://example.org/" + s) }
	var quads []term.Quad
	for i := range 4000 {
		s := ex(fmt.Sprint("f", i))
		w := term.Typed(fmt.Sprintf("POINT(%v %v)", float64(i%200)/10, 40+float64(i/200)/10), vocab.GeoWKTLiteral)
		quads = append(quads, term.Quad{S: s, P: term.IRI(vocab.GeoHasGeometry), O: ex(fmt.Sprint("g", i))},
			term.Quad{S: ex(fmt.Sprint("g", i)), P: term.IRI(vocab.GeoAsWKT), O: w})
		if i < 3 {
			quads = append(quads, term.Quad{S: s, P: ex("type"), O: ex("castle")})
		}
	}
	quads = append(quads, term.Quad{S: ex("town"), P: ex("border"),
		O: term.Typed("POLYGON((0.95 40.45, 1.25 40.45, 1.25 40.75, 0.95 40.75, 0.95 40.45))", vocab.GeoWKTLiteral)})
	insert(t, store, quads...)
	if err := store.IndexLiterals(context.Background()); err != nil {
		t.Fatal(err)
	}
	snap := store.Snapshot()
	defer snap.Release()
	e := sparql.New(sparql.Options{})
	for query, want := range map[string]struct {
		rows  int
		parts []string
	}{
		`SELECT ?f { ?f geo:hasGeometry/geo:asWKT ?w FILTER(geof:sfWithin(?w, "POLYGON((0.95 40.45, 1.25 40.45, 1.25 40.75, 0.95 40.75, ` +
			`0.95 40.45))"^^geo:wktLiteral)) }`: {9, []string{"Places ?w meeting POLYGON"}},
		`SELECT ?f { ?f geo:hasGeometry/geo:asWKT ?w FILTER(geof:distance("POINT(1 41)"^^geo:wktLiteral, ?w, uom:kilometre) < 10) }`: {3,
			[]string{"Places ?w within 10000 m of POINT(1 41)"}},
		`SELECT ?f { ex:town ex:border ?area . ?f geo:hasGeometry ?g . ?g geo:asWKT ?w FILTER(geof:sfContains(?area, ?w)) }`: {9,
			[]string{"PlacesJoin ?w meeting ?area"}},
		`SELECT ?f { ?c ex:type ex:castle ; geo:hasGeometry/geo:asWKT ?v . ?f geo:hasGeometry/geo:asWKT ?w ` +
			`FILTER(geof:metricDistance(?v, ?w) < 9000) }`: {8, []string{"PlacesJoin ?w within 9000 m of ?v"}},
		`SELECT ?f { BIND("POINT(1 41)"^^geo:wktLiteral AS ?here) ?f geo:hasGeometry/geo:asWKT ?w FILTER(geof:sfEquals(?w, ?here)) }`: {1,
			[]string{"PlacesJoin ?w meeting ?here"}},
		`SELECT ?w { ex:g7 geo:asWKT ?w FILTER(geof:sfWithin(?w, "POLYGON((-9 0, 99 0, 99 80, -9 80, -9 0))"^^geo:wktLiteral)) }`: {1,
			[]string{"Scan"}},
	} {
		plan, rows := explain(t, e, snap, geoPrefixes+"PREFIX ex: <http://example.org/> "+query)
		if rows != want.rows {
			t.Errorf("%s\n%d rows, want %d", query, rows, want.rows)
		}
		for _, p := range want.parts {
			if !strings.Contains(plan, p) {
				t.Errorf("%s\nno %q in\n%s", query, p, plan)
			}
		}
	}
}

func TestAnUpdateFindsTheGeometriesThatItsEarlierOperationsInserted(t *testing.T) {
	t.Parallel()
	store := tripleStore(t, triplestore.Options{})
	insert(t, store, term.Quad{S: term.IRI("http://example.org/a"), P: term.IRI("http://example.org/at"),
		O: term.Typed("POINT(1 1)", vocab.GeoWKTLiteral)})
	e := sparql.New(sparql.Options{})
	if _, err := e.Update(context.Background(), sparql.StoreOf(store.View, store.Update), geoPrefixes+`PREFIX ex: <http://example.org/>
		INSERT DATA { ex:b ex:at "POINT(2 2)"^^geo:wktLiteral . ex:c ex:at "POINT(9 9)"^^geo:wktLiteral } ;
		INSERT { ?s ex:found true } WHERE { ?s ex:at ?w FILTER(geof:sfWithin(?w, "POLYGON((0 0, 3 0, 3 3, 0 3, 0 0))"^^geo:wktLiteral)) }`, sparql.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	snap := store.Snapshot()
	defer snap.Release()
	if got := answers(t, e, snap, `SELECT ?s { ?s ex:found true }`); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("found %v", got)
	}
}

// featureData are places with geometries, in the ways in which datasets have them.
func featureData() []term.Quad {
	ex := func(s string) term.Key { return term.IRI("http://example.org/" + s) }
	geo := func(s string) term.Key { return term.IRI(vocab.GeoNS + s) }
	wkt := func(s string) term.Key { return term.Typed(s, vocab.GeoWKTLiteral) }
	spatial, box := term.IRI("http://purl.org/dc/terms/spatial"), term.IRI("http://www.w3.org/ns/dcat#bbox")
	return []term.Quad{
		{S: ex("tyrol"), P: geo("hasGeometry"), O: term.Blank("t")},
		{S: term.Blank("t"), P: geo("asWKT"), O: wkt("POLYGON((10.1 46.7, 12.9 46.7, 12.9 47.7, 10.1 47.7, 10.1 46.7))")},
		{S: ex("innsbruck"), P: geo("hasDefaultGeometry"), O: ex("innsbruck-point")},
		{S: ex("innsbruck"), P: geo("hasGeometry"), O: ex("innsbruck-point")},
		{S: ex("innsbruck-point"), P: geo("asWKT"), O: wkt("POINT(11.39 47.27)")},
		{S: ex("innsbruck-point"), P: geo("asGeoJSON"),
			O: term.Typed(`{"type":"Point","coordinates":[11.39,47.27]}`, vocab.GeoGeoJSONLiteral)},
		{S: ex("vienna"), P: ex("at"), O: wkt("<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(48.21 16.37)")},
		{S: ex("dataset"), P: spatial, O: term.Blank("d")},
		{S: term.Blank("d"), P: box, O: wkt("POLYGON((11 47, 12 47, 12 47.5, 11 47.5, 11 47))")},
		{S: ex("hamlet"), P: geo("sfWithin"), O: ex("tyrol")},
		{S: ex("fiji"), P: ex("at"), O: wkt("POINT(179.9 -17)")},
		{S: ex("samoa"), P: ex("at"), O: wkt("POINT(-172 -13.8)"), G: ex("g")},
		{S: ex("samoa"), P: ex("name"), O: term.String("POINT(0 0)")},
		{S: ex("lima"), P: ex("at"),
			O: term.Typed(`<gml:Point srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>-12 -77</gml:pos></gml:Point>`, vocab.GeoGMLLiteral)},
		{S: ex("cusco"), P: ex("at"), O: term.Typed(`<Point><coordinates>-72,-13.5</coordinates></Point>`, vocab.GeoKMLLiteral)},
		{S: ex("quito"), P: term.IRI(vocab.GeoLat), O: term.Typed("-0.2", xsd+"decimal")},
		{S: ex("quito"), P: term.IRI(vocab.GeoLong), O: term.String("-78.5")},
		{S: ex("loja"), P: term.IRI(vocab.GeoLocation), O: term.Blank("l")},
		{S: term.Blank("l"), P: term.IRI(vocab.GeoLat), O: term.Typed("-4", xsd+"integer")},
		{S: term.Blank("l"), P: term.IRI(vocab.GeoLong), O: term.Typed("-79.2E0", xsd+"double")},
		{S: ex("nowhere"), P: term.IRI(vocab.GeoLat), O: term.String("north")},
		{S: ex("nowhere"), P: term.IRI(vocab.GeoLong), O: term.String("-78.5")},
		{S: ex("ecuador"), P: term.IRI(vocab.GeoRSSBox), O: term.String("-5 -81 1.4 -75")},
		{S: ex("coast"), P: term.IRI(vocab.GeoRSSLine), O: term.String("-1 -80.5 -2 -80.9")},
		{S: ex("date-line"), P: term.IRI(vocab.GeoRSSBox), O: term.String("60 170 70 -170")},
	}
}

func TestFeaturesAreComparedByTheirGeometries(t *testing.T) {
	t.Parallel()
	store := tripleStore(t, triplestore.Options{})
	insert(t, store, featureData()...)
	snap := store.Snapshot()
	defer snap.Release()
	e := sparql.New(sparql.Options{})
	prefixes := geoPrefixes +
		"PREFIX ex: <http://example.org/> PREFIX spatial: <http://jena.apache.org/spatial#> PREFIX dct: <http://purl.org/dc/terms/> "
	for query, want := range map[string]string{
		`SELECT ?f { ?f geo:sfWithin ex:tyrol ` +
			`FILTER(isIRI(?f)) }`: "hamlet innsbruck innsbruck-point tyrol",
		`SELECT ?f { ?f geo:sfWithin "POLYGON((16 48, 17 48, 17 49, 16 49, 16 48))"^^geo:wktLiteral }`: "vienna",
		`SELECT ?f { ?f geo:hasGeometry ?g ; ` +
			`geo:sfWithin ex:tyrol }`: "innsbruck tyrol",
		`SELECT ?r { ex:innsbruck geo:sfWithin ?r ` +
			`FILTER(isIRI(?r)) }`: "innsbruck innsbruck-point tyrol",
		`SELECT ?a { ?a geo:sfContains ?b . ?b ` +
			`geo:hasDefaultGeometry ?g FILTER(isIRI(?a)) }`: "innsbruck innsbruck-point tyrol",
		`SELECT ?a { ?a geo:ehInside ?b ` +
			`FILTER(isIRI(?a) && isIRI(?b)) }`: "coast innsbruck innsbruck-point loja quito",
		`SELECT ?x { BIND(1 AS ?x) ex:innsbruck geo:sfWithin ex:tyrol }`: "1",
		`SELECT ?x { BIND(1 AS ?x) ex:vienna geo:sfWithin ex:tyrol }`:    "",
		`SELECT ?f { ?f geo:sfDisjoint ` +
			`ex:innsbruck FILTER(isIRI(?f)) }`: "coast cusco date-line ecuador fiji lima loja quito vienna",
		`SELECT ?f { ?f spatial:withinBox ` +
			`(-15 -80 -10 -70) }`: "cusco lima",
		`SELECT ?f { ?f spatial:nearby (-0.2 -78.5 ` +
			`500) FILTER(isIRI(?f)) }`: "coast ecuador loja quito",
		`SELECT ?f { ?f geo:sfWithin ex:ecuador ` +
			`FILTER(isIRI(?f)) }`: "coast ecuador loja quito",
		`SELECT ?a { ?a geo:sfContains ex:quito ` +
			`FILTER(isIRI(?a)) }`: "ecuador quito",
		`SELECT ?f { ?f spatial:intersectBox ` +
			`(60 175 65 178) }`: "date-line",
		`SELECT ?f { ?f geo:sfWithin "POLYGON((-73 -14, -71 -14, -71 -13, -73 -13, -73 -14))"^^geo:wktLiteral }`: "cusco",
		`SELECT ?g { GRAPH ?g { ?f geo:sfEquals ?f } }`:                                                          "g",
		`SELECT ?f { ?f spatial:nearby (47.27 11.39 ` +
			`20) FILTER(isIRI(?f)) }`: "dataset innsbruck tyrol",
		`SELECT ?f { ?f spatial:nearby (48.2 16.3 10000 uom:metre) }`:                 "vienna",
		`SELECT ?f { ?f spatial:nearby (48.2 16.3 10 "miles") }`:                      "vienna",
		`SELECT ?f { ?f spatial:nearby (48.2 16.3 5000 uom:kilometre 1) }`:            "vienna",
		`SELECT ?f { ?f spatial:nearbyGeom ("POINT(16.3 48.2)"^^geo:wktLiteral 10) }`: "vienna",
		`SELECT ?f { ?f spatial:withinCircle (48.2 16.3 10) }`:                        "vienna",
		`SELECT ?f { ?f spatial:withinBox (46 10 48 ` +
			`13) FILTER(isIRI(?f)) }`: "dataset innsbruck tyrol",
		`SELECT ?f { ?f spatial:withinBox ` +
			`(47.1 11 48 13) }`: "innsbruck",
		`SELECT ?f { ?f spatial:intersectBox (47.1 11 48 ` +
			`13) FILTER(isIRI(?f)) }`: "dataset innsbruck tyrol",
		`SELECT ?f { ?f spatial:withinBox (-20 170 -10 -170) }`:                               "fiji",
		`SELECT ?f { GRAPH ?g { ?f spatial:nearby (-13 -172 200) } }`:                         "samoa",
		`SELECT ?f { ?f spatial:withinBoxGeom ("LINESTRING(16 48, 17 49)"^^geo:wktLiteral) }`: "vienna",
		`SELECT ?f { ?f spatial:nearby (47.27 11.39 1) ; ` +
			`geo:hasDefaultGeometry ?g }`: "innsbruck",
		`SELECT ?x { BIND("yes" AS ?x) ex:vienna spatial:nearby (48.2 16.3 10) }`:                                                "yes",
		`SELECT ?f { ?f spatial:nearby (48.2 16.3 "10"^^xsd:double) . FILTER NOT EXISTS { ?f spatial:nearby (48.2 16.3 0.1) } }`: "vienna",
	} {
		for name, ds := range map[string]term.Dataset{"indexed": snap, "compared one by one": naive.New(featureData()...).Snapshot()} {
			if got := strings.Join(answers(t, e, ds, prefixes+query), " "); got != want {
				t.Errorf("%s, %s\ngot  %s\nwant %s", query, name, got, want)
			}
		}
	}
	for _, query := range []string{
		`SELECT * { ?f spatial:nearby (47 11) }`, `SELECT * { ?f spatial:nearby (47 ?x 1) }`, `SELECT * { ?f spatial:nearby (97 11 1) }`,
		`SELECT * { ?f spatial:nearby (47 11 1 "parsecs") }`,
		`SELECT * { ?f spatial:nearby (47 11 1 uom:metre 1 2) }`, `SELECT * { ?f spatial:nearbyGeom ("x" 1) }`,
		`SELECT * { ?f spatial:withinBox (48 10 47 11) }`, `SELECT * { ?f spatial:withinBox 48 }`,
		`SELECT * { (?f ?g) spatial:nearby (47 11 1) }`, `SELECT * { ?f geo:sfWithin (?a ?b) }`,
		`SELECT * { ?f spatial:withinCircle (47 11 1e9) }`,
	} {
		if _, err := e.Query(context.Background(), snap, prefixes+query, sparql.QueryOptions{}); !errors.Is(err, sparql.ErrArguments) {
			t.Errorf("%s: %v", query, err)
		}
	}
}

func TestAKnownFeatureSeedsARelation(t *testing.T) {
	t.Parallel()
	store := tripleStore(t, triplestore.Options{})
	ex := func(s string) term.Key { return term.IRI("http://example.org/" + s) }
	var quads []term.Quad
	for i := range 5000 {
		s := ex(fmt.Sprint("f", i))
		quads = append(quads, term.Quad{S: s, P: term.IRI(vocab.GeoHasGeometry), O: ex(fmt.Sprint("g", i))},
			term.Quad{S: ex(fmt.Sprint("g", i)), P: term.IRI(vocab.GeoAsWKT),
				O: term.Typed(fmt.Sprintf("POINT(%v %v)", float64(i%200)/10, 40+float64(i/200)/10), vocab.GeoWKTLiteral)})
	}
	quads = append(quads, term.Quad{S: ex("f7"), P: ex("type"), O: ex("castle")})
	insert(t, store, quads...)
	if err := store.IndexLiterals(context.Background()); err != nil {
		t.Fatal(err)
	}
	snap := store.Snapshot()
	defer snap.Release()
	plan, rows := explain(t, sparql.New(sparql.Options{}), snap,
		geoPrefixes+`PREFIX ex: <http://example.org/> SELECT ?f { ?c ex:type ex:castle . ?f geo:sfEquals ?c . ?f geo:hasGeometry ?g }`)
	if rows != 1 || !strings.Contains(plan, "Seed") || !strings.Contains(plan, "PlacesJoin") {
		t.Errorf("%d rows by\n%s", rows, plan)
	}
}
