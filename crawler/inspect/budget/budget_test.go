package budget

import (
	"errors"
	"math"
	"testing"
)

func TestABudgetIsSpentOnce(t *testing.T) {
	b := New("a row", 100)
	if b.Spend(10, 9) != nil || b.Left() != 10 || b.Spend(10, 1) != nil || b.Left() != 0 {
		t.Error(b.Left(), "are left")
	}
	if err := b.Spend(1, 1); !errors.Is(err, ErrSpent) || err.Error() != "a row would take more than is allowed: 100" {
		t.Error(err)
	}
	if b.Reset(); b.Spend(100, 1) != nil {
		t.Error("a budget that was reset")
	}
}

// Counts in files have up to 64 bits, and their products more.
func TestNoCountOverflowsABudget(t *testing.T) {
	for _, n := range []uint64{1 << 28, 1 << 31, 1 << 32, 1 << 61, 1 << 63, math.MaxUint64} {
		for _, size := range []uint64{1, 2, 16, 1 << 32, math.MaxUint64} {
			b := New("it", Decoding)
			if n*size > Decoding && b.Spend(n, size) == nil {
				t.Errorf("%d of %d bytes each", n, size)
			}
			if err := b.Spend(n, size); err == nil || b.Left() != Decoding {
				t.Errorf("%d of %d bytes each: %v, %d are left", n, size, err, b.Left())
			}
		}
	}
	if New("a count of nothing", 0).Spend(math.MaxUint64, 0) != nil {
		t.Error("nothing costs something")
	}
}
