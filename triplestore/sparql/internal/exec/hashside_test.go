package exec

import (
	"context"
	"errors"
	"testing"

	"odarchive/triplestore/sparql/internal/plan"
)

// failing is an input that panics.
type failing struct{}

func (failing) next() (*batch, error) { panic("broken") }
func (failing) close()                {}

func TestATableWhoseBuildingPanickedIsNotReadByTheOthers(t *testing.T) {
	t.Parallel()
	q := &query{ctx: context.Background(), budget: &budget{limit: 1 << 20}}
	n := &plan.HashJoin{R: &plan.Unit{}}
	s := &hashSide{q: q, node: n, in: failing{}, rows: newBlock(0, q.budget)}
	func() {
		defer func() {
			if v := recover(); v != "broken" {
				t.Errorf("got %v", v)
			}
		}()
		s.build()
	}()
	var c *crash
	if err := s.build(); !errors.As(err, &c) || c.value != "broken" {
		t.Errorf("got %v", err)
	}
}
