package joins

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"odarchive/crawler/csvprofile"
)

// columnOf profiles a column of the given values and makes it ready for the index.
func columnOf(t testing.TB, id string, values []string) Column {
	t.Helper()
	p, err := csvprofile.Read(context.Background(), strings.NewReader("v,w\n"+strings.Join(values, ",x\n")+",x\n"), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := p.Columns[0]
	return Column{ID: id, Table: id, Distinct: c.Distinct, Sketch: c.Sketch}
}

// TestPlantedJoinsAreFound makes a corpus of tables whose columns draw from shared pools of keys in known parts, and
// measures precision and recall of "at least half of the values are contained" over all pairs.
func TestPlantedJoinsAreFound(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	type planted struct {
		col  Column
		keys map[string]bool
	}
	var corpus []planted
	for pool := range 12 {
		size := []int{50, 300, 2000, 8000}[pool%4]
		keys := make([]string, size)
		for i := range keys {
			keys[i] = fmt.Sprintf("p%d-key-%06d", pool, i*7)
		}
		for n := range 8 {
			share := []float64{1, 0.9, 0.75, 0.3, 0.15, 1, 0.65, 0.05}[n]
			foreign := []float64{0, 0, 0.2, 0, 0.5, 0.7, 0.3, 0.9}[n] // of the column's values that are its own
			rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
			own := int(share * float64(size))
			set := map[string]bool{}
			for _, k := range keys[:own] {
				set[k] = true
			}
			for i := range int(float64(own) * foreign / (1 - foreign)) {
				set[fmt.Sprintf("p%d-own-%d-%d", pool, n, i)] = true
			}
			if len(set) < 5 {
				continue
			}
			var values []string
			for k := range set {
				values = append(values, k)
			}
			corpus = append(corpus, planted{columnOf(t, fmt.Sprintf("%d/%d", pool, n), values), set})
		}
	}
	index := New()
	for _, p := range corpus {
		index.Add(p.col)
	}
	right, wrong, missed := 0, 0, 0
	for _, q := range corpus {
		found := map[string]bool{}
		for _, m := range index.Query(q.col, 0.5, 0) {
			found[m.ID] = true
		}
		for _, p := range corpus {
			if p.col.ID == q.col.ID {
				continue
			}
			common := 0
			for k := range q.keys {
				if p.keys[k] {
					common++
				}
			}
			is := 2*common >= len(q.keys)
			switch {
			case is && found[p.col.ID]:
				right++
			case is:
				missed++
			case found[p.col.ID]:
				wrong++
			}
		}
	}
	precision, recall := float64(right)/float64(right+wrong), float64(right)/float64(right+missed)
	t.Logf("%d columns: %d joins found, %d wrong, %d missed: precision %.3f, recall %.3f", len(corpus), right, wrong, missed, precision, recall)
	if precision < 0.95 || recall < 0.95 {
		t.Errorf("precision %.3f, recall %.3f", precision, recall)
	}
}

func TestAnIndexForgetsAndReplaces(t *testing.T) {
	t.Parallel()
	x := New()
	a, b := columnOf(t, "a", []string{"x1", "x2", "x3", "x4"}), columnOf(t, "b", []string{"x1", "x2", "x3", "y"})
	x.Add(a)
	x.Add(b)
	x.Add(b)
	got := x.Query(a, 0.5, 10)
	if x.Len() != 2 || len(got) != 1 || got[0].ID != "b" || got[0].Containment != 0.75 || got[0].Jaccard != 0.6 {
		t.Errorf("%+v", got)
	}
	b.Table = "a"
	x.Add(b)
	if got := x.Query(a, 0.5, 10); len(got) != 0 {
		t.Errorf("a table joins with itself: %+v", got)
	}
	x.Remove("b")
	if x.Len() != 1 || len(x.posting) != len(a.Sketch) {
		t.Errorf("%d columns, %d hashes", x.Len(), len(x.posting))
	}
}

func TestOnlyTellingColumnsAreEligible(t *testing.T) {
	t.Parallel()
	p, err := csvprofile.Read(context.Background(), strings.NewReader("id,n,s,b,d\n100,1,Wien,true,1.5\n101,2,Graz,false,2.5\n102,1,Linz,true,3.5\n103,3,Wels,true,4.5\n"), csvprofile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, true, false, false} {
		if got := Eligible(p.Columns[i]); got != want {
			t.Errorf("%s: %v", p.Columns[i].Name, got)
		}
	}
}

func BenchmarkQuery(b *testing.B) {
	x := New()
	rng := rand.New(rand.NewPCG(1, 1))
	var q Column
	for i := range 2000 {
		var values []string
		for range 300 {
			values = append(values, fmt.Sprint("k", rng.IntN(20000)))
		}
		q = columnOf(b, fmt.Sprint(i), values)
		x.Add(q)
	}
	for b.Loop() {
		x.Query(q, 0.5, 20)
	}
}
