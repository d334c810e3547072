package software

import (
	"testing"
)

func TestTenSystemsAreKnown(t *testing.T) {
	t.Parallel()
	h, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if names := h.Names(); len(names) < 10 {
		t.Errorf("%d systems are known: %v", len(names), names)
	}
}
