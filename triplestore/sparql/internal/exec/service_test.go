package exec_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// dripping returns a solution from time to time.
type dripping struct{ left int }

func (d *dripping) Next() ([]term.Key, error) {
	if d.left--; d.left < 0 {
		return nil, nil
	}
	time.Sleep(100 * time.Millisecond)
	return []term.Key{term.String("x")}, nil
}

func (d *dripping) Close() {}

func TestSolutionsOfASlowEndpointDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	ds := graph(3, 1)
	p, err := plan.OptimiseQuery(parse(t, "SELECT ?x { SERVICE <http://elsewhere/> { ?x ?x ?x } }"), ds, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		r, err := exec.Run(t.Context(), p, ds, exec.Options{Service: func(context.Context, exec.ServiceRequest) (exec.ServiceRows, error) {
			return &dripping{left: 20}, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		rows := 0
		for {
			b, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			if rows == 0 && time.Since(began) > 200*time.Millisecond {
				t.Errorf("the first solutions came after %v", time.Since(began))
			}
			rows += b.Len
		}
		if rows != 20 {
			t.Errorf("got %d rows", rows)
		}
	})
}
