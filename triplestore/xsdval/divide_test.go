package xsdval_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"odarchive/triplestore/xsdval"
)

// TestQuotientsHaveEighteenDigits compares quotients with those of math/big, cut off after 18 fraction digits.
func TestQuotientsHaveEighteenDigits(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		x, y := int64(r.Uint64())>>r.IntN(64), int64(r.Uint64())>>r.IntN(64)
		xs, ys := r.IntN(7), r.IntN(7)
		if r.IntN(4) == 0 {
			y = int64(1) << r.IntN(40) // terminates
		}
		if y == 0 {
			continue
		}
		got, ok := xsdval.Div(xsdval.NewDecimal(x, xs), xsdval.NewDecimal(y, ys))
		q := new(big.Int).Mul(big.NewInt(x), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(18+ys-xs)), nil))
		q.Quo(q, big.NewInt(y))
		digits := fmt.Sprintf("%019s", new(big.Int).Abs(q))
		want := strings.TrimLeft(digits[:len(digits)-18], "0")
		if want == "" {
			want = "0"
		}
		if frac := strings.TrimRight(digits[len(digits)-18:], "0"); frac != "" {
			want += "." + frac
		}
		if q.Sign() < 0 {
			want = "-" + want
		}
		if !ok || got.String() != want {
			t.Fatalf("%d*10^-%d / %d*10^-%d: got %s, %v, want %s", x, xs, y, ys, got, ok, want)
		}
	}
}
