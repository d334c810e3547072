package spatial_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"odarchive/triplestore/geometry"
	"odarchive/triplestore/internal/segments"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/spatial"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

func open(t testing.TB, dir string) *kv.DB {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// randomWKT returns a literal: mostly small and around a few places, but also large, at the edges of the world, empty,
// wrong, and in other reference systems.
func randomWKT(r *rand.Rand) string {
	x, y := float64(r.IntN(5))*10+r.NormFloat64(), float64(r.IntN(5))*10+r.NormFloat64()
	switch r.IntN(12) {
	case 0:
		x, y = r.Float64()*400-200, r.Float64()*200-100
	case 1:
		x, y = []float64{-180, 180, 179.9999}[r.IntN(3)], []float64{-90, 90, 0}[r.IntN(3)]
	}
	d := math.Pow(10, r.Float64()*6-4)
	system := ""
	switch r.IntN(12) {
	case 0:
		system = "<" + geometry.EPSG4326 + "> "
		x, y = y, x
	case 1:
		system = "<" + geometry.EPSG3857 + "> "
		x, y, d = x*111319, y*111319, d*1000
	case 2:
		system = "<http://www.opengis.net/def/crs/EPSG/0/31287> "
		x, y, d = x*1e4, y*1e4, d*100
	}
	switch r.IntN(9) {
	case 0:
		return system + fmt.Sprintf("POLYGON((%v %v, %v %v, %v %v, %v %v))", x, y, x+d, y, x+d, y+d, x, y)
	case 1:
		return system + fmt.Sprintf("LINESTRING(%v %v, %v %v)", x, y, x+d, y-d)
	case 2:
		return system + "POINT EMPTY"
	case 3:
		return system + "POINT(1"
	case 4:
		return system + fmt.Sprintf("POINT(%v %v)", x*1e300, y)
	}
	return system + fmt.Sprintf("POINT(%v %v)", x, y)
}

func literal(text string) term.Key { return term.Typed(text, vocab.GeoWKTLiteral) }

func randomRegion(r *rand.Rand) spatial.Region {
	g, err := geometry.Parse(randomWKT(r), vocab.GeoWKTLiteral)
	if err != nil {
		return spatial.Region{}
	}
	if r.IntN(2) == 0 {
		return spatial.Within(g, math.Pow(10, r.Float64()*9-2))
	}
	return spatial.Meeting(g)
}

// The index finds what comparing every entry finds, whenever it is stored, emptied and opened again.
func TestTheIndexFindsWhatComparingEveryEntryFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		db, err := kv.Open("", kv.Options{InMemory: true})
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		keep := r.IntN(4) > 0
		x := spatial.NewIndex(db, keep)
		model, stored := map[term.ID]spatial.Entry{}, map[term.ID]spatial.Entry{}
		texts := map[term.ID]string{}
		ctx := context.Background()
		for range 8 {
			var list []spatial.Entry
			for range r.IntN(1500) {
				id := term.ID(1<<40 + r.Uint64N(4000))
				if texts[id] == "" {
					texts[id] = randomWKT(r)
				}
				if e, ok := spatial.EntryOf(id, literal(texts[id])); ok {
					list = append(list, e)
					model[id] = e
				}
			}
			x.Add(list)
			switch r.IntN(5) {
			case 0, 1:
				if err := x.Flush(ctx, []byte("mark")); err != nil {
					rt.Fatal(err)
				}
				stored = map[term.ID]spatial.Entry{}
				for id, e := range model {
					stored[id] = e
				}
				if x.Growing() != 0 {
					rt.Fatalf("%d are in memory only", x.Growing())
				}
			case 2:
				if !keep {
					break
				}
				x = spatial.NewIndex(db, true)
				if mark, ok, err := x.Load(); err != nil || ok && string(mark) != "mark" {
					rt.Fatalf("%q %v", mark, err)
				}
				model = map[term.ID]spatial.Entry{}
				for id, e := range stored {
					model[id] = e
				}
			case 3:
				if r.IntN(4) == 0 {
					x.Reset()
					model = map[term.ID]spatial.Entry{}
				}
			}
			if err := x.Verify(ctx); err != nil {
				rt.Fatal(err)
			}
			v := x.View()
			for range 20 {
				region := randomRegion(r)
				var want []term.ID
				for id, e := range model {
					if region.Has(e) {
						want = append(want, id)
					}
				}
				slices.Sort(want)
				got, err := v.Search(region, []term.ID{7})
				if err != nil || !slices.Equal(got[1:], want) {
					rt.Fatalf("found %d, want %d: %v", len(got)-1, len(want), err)
				}
				if n := x.Count(region); math.IsNaN(n) || n < 0 {
					rt.Fatalf("estimated %v", n)
				}
			}
			v.Close()
		}
	})
}

// A view stays what it was while the index changes.
func TestAViewDoesNotChange(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		x := spatial.NewIndex(open(t, t.TempDir()), keep)
		add := func(from, to int) {
			for i := from; i < to; i++ {
				e, _ := spatial.EntryOf(term.ID(i), literal(fmt.Sprintf("POINT(%v 1)", float64(i)/100)))
				x.Add([]spatial.Entry{e})
			}
		}
		add(1, 1200)
		if err := x.Flush(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		add(1200, 1900)
		v := x.View()
		defer v.Close()
		add(1900, 6000)
		if err := x.Flush(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		x.Reset()
		all, _ := spatial.RegionOf(literal("POLYGON((-170 -80, 170 -80, 170 80, -170 80, -170 -80))"))
		if got, err := v.Search(all, nil); err != nil || len(got) != 1899 {
			t.Errorf("found %d of 1899: %v", len(got), err)
		}
	}
}

func TestDamageIsFoundAndNewerIndexesAreRefused(t *testing.T) {
	t.Parallel()
	db := open(t, t.TempDir())
	x := spatial.NewIndex(db, true)
	for i := range 3000 {
		e, _ := spatial.EntryOf(term.ID(i+1), literal(fmt.Sprintf("POINT(%d %d)", i%360-180, i%180-90)))
		x.Add([]spatial.Entry{e})
	}
	if err := x.Flush(t.Context(), []byte("m")); err != nil {
		t.Fatal(err)
	}
	set := func(key, val []byte) {
		t.Helper()
		if err := db.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(kv.SpaceSpatial, key, val) }); err != nil {
			t.Fatal(err)
		}
	}
	get := func(key []byte) []byte {
		t.Helper()
		s := db.Snapshot()
		defer s.Close()
		b, ok, err := s.Get(kv.SpaceSpatial, key)
		if err != nil || !ok {
			t.Fatalf("%q: %v", key, err)
		}
		return slices.Clone(b)
	}
	for _, key := range [][]byte{segments.Key('b', 1, 3), segments.Key('h', 1, 0), []byte("segments")} {
		sound := get(key)
		for range 20 {
			wrong := slices.Clone(sound)
			wrong[rand.IntN(len(wrong))] ^= 1 << rand.IntN(8)
			set(key, wrong)
			y := spatial.NewIndex(db, true)
			_, _, err := y.Load()
			if err == nil {
				err = y.Verify(t.Context())
			}
			if !errors.Is(err, segments.ErrDamaged) {
				t.Errorf("%q: %v", key, err)
			}
		}
		set(key, sound)
	}
	set([]byte("segments"), segments.AppendSeal([]byte{9, 0}, 0))
	if _, _, err := spatial.NewIndex(db, true).Load(); !errors.Is(err, segments.ErrNewer) {
		t.Errorf("a newer index: %v", err)
	}
}
