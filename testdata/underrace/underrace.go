// Package underrace keeps tests from the race detector that look at much data and start no goroutines of their own: they take
// minutes under it and show it nothing new.
package underrace

import "testing"

// Skip skips a test under the race detector. `make test` runs it without, since cmd/internal/suite knows the reason.
func Skip(t testing.TB) {
	t.Helper()
	if on {
		t.Skip("only without the race detector, under which it takes minutes")
	}
}
