package main

import (
	"errors"
	"testing"
)

func TestAnErrorIsOneLine(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"34 faults in what was read; 2 faults in what was read": errors.Join(&faultyError{34}, &faultyError{2}),
		"first; second":                 errors.Join(errors.New("first."), nil, errors.New("second")),
		"the query: line 2: unexpected": errors.New("the query:\n\n  line 2:\tunexpected\n"),
		"a bell \ufffd":                 errors.New("a bell \a"),
	} {
		if got := sentence(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
