package csvprofile

import (
	"context"
	"errors"
	"testing"
)

// A variable of an array may have 2^40 values that are stored nowhere, in a file of a few kilobytes.
func TestBlankRowsEnd(t *testing.T) {
	t.Parallel()
	asked := 0
	next := func() ([]string, error) { asked++; return []string{"", ""}, nil }
	p, err := ReadRows(t.Context(), "", []string{"a", "b"}, next, Options{MaxRows: 10_000})
	if err != nil || !p.Truncated || p.Rows != 0 || p.Blank != 10_000 {
		t.Errorf("%+v, %v", p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	next = func() ([]string, error) {
		if asked--; asked == 0 {
			cancel()
		}
		return []string{"", ""}, nil
	}
	if _, err := ReadRows(ctx, "", []string{"a", "b"}, next, Options{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
