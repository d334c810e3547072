package sparql_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"odarchive/testdata/cputime"
	"odarchive/triplestore"
	"odarchive/triplestore/sparql"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// pointStream is n features with a point each: half of them in a hundred towns, the others anywhere.
type pointStream struct {
	r    *rand.Rand
	n, i int
}

func (p *pointStream) Read() (term.Quad, error) {
	if p.i >= p.n {
		return term.Quad{}, io.EOF
	}
	x, y := p.r.Float64()*360-180, p.r.Float64()*170-85
	if p.i%2 == 0 {
		town := rand.New(rand.NewPCG(uint64(p.r.IntN(100)), 9))
		x, y = town.Float64()*340-170+p.r.NormFloat64()*0.1, town.Float64()*140-70+p.r.NormFloat64()*0.1
	}
	p.i++
	return term.Quad{S: term.IRI(fmt.Sprintf("http://example.org/feature/%d", p.i)), P: term.IRI(vocab.GeoAsWKT),
		O: term.Typed(fmt.Sprintf("POINT(%.6f %.6f)", x, y), vocab.GeoWKTLiteral)}, nil
}

// BenchmarkPlaces measures queries for what is in a box or near a point, with the index of geometries and without:
//
//	ODARCHIVE_BENCH_POINTS=1000000 go test ./triplestore/sparql -run xxx -bench Places -benchtime 50x
func BenchmarkPlaces(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv("ODARCHIVE_BENCH_POINTS"))
	if n == 0 {
		n = 20_000
	}
	store := tripleStore(b, triplestore.Options{})
	if _, err := store.Load(context.Background(), &pointStream{r: rand.New(rand.NewPCG(1, 1)), n: n}); err != nil {
		b.Fatal(err)
	}
	b.Run("index", func(b *testing.B) {
		used := cputime.Of(func() {
			if err := store.IndexLiterals(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
		b.ReportMetric(float64(used.Microseconds())/float64(n), "cpu-µs/geometry")
	})
	snap := store.Snapshot()
	defer snap.Release()
	e := sparql.New(sparql.Options{})
	town := rand.New(rand.NewPCG(7, 9))
	x, y := town.Float64()*340-170, town.Float64()*140-70
	for _, c := range []struct{ name, filter string }{
		{
			"box of a town", fmt.Sprintf(
				`geof:sfWithin(?w, "POLYGON((%[1]v %[2]v, %[3]v %[2]v, %[3]v %[4]v, %[1]v %[4]v, %[1]v %[2]v))"^^geo:wktLiteral)`, x-0.03,
				y-0.03, x+0.03, y+0.03)},
		{
			"box of a country",
			fmt.Sprintf(
				`geof:sfIntersects("POLYGON((%[1]v %[2]v, %[3]v %[2]v, %[3]v %[4]v, %[1]v %[4]v, %[1]v %[2]v))"^^geo:wktLiteral, ?w)`, x+2,
				y+2, x+7, y+5)},
		{"within 2 km", fmt.Sprintf(`geof:distance(?w, "POINT(%v %v)"^^geo:wktLiteral, uom:metre) < 2000`, x, y)},
		{"nothing there", `geof:sfWithin(?w, "POLYGON((0 88, 1 88, 1 89, 0 89, 0 88))"^^geo:wktLiteral)`},
	} {
		for _, indexed := range []bool{true, false} {
			name, filter := c.name, c.filter
			if !indexed {
				name, filter = name+" without the index", "IF(true, "+filter+", false)" // the planner does not look into IF
			}
			b.Run(name, func(b *testing.B) {
				rows := 0
				var used time.Duration
				for range b.N {
					used += cputime.Of(func() {
						out, err := e.Query(context.Background(), snap, geoPrefixes+"SELECT ?s ?w { ?s geo:asWKT ?w FILTER("+filter+") }",
							sparql.QueryOptions{})
						if err != nil {
							b.Fatal(err)
						}
						defer out.Close()
						for rows = 0; ; rows++ {
							if _, err := out.Next(); err != nil {
								break
							}
						}
					})
				}
				b.ReportMetric(float64(used.Microseconds())/1000/float64(b.N), "cpu-ms/op")
				b.ReportMetric(float64(rows), "rows")
			})
		}
	}
}
