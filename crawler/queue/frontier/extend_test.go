package frontier

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestALeaseLastsAsLongAsItWasExtended(t *testing.T) {
	t.Parallel()
	f := open(t, memory(t), &clock{noon}, Options{LeaseTime: time.Hour})
	add(t, f, "http://a.example/1")
	l := lease(t, f)
	if before := l.Ends(); !f.Extend(l, 2*time.Hour) || !l.Ends().After(before.Add(30*time.Minute)) || l.Context().Err() != nil {
		t.Errorf("extended to %v from %v, %v", l.Ends(), before, l.Context().Err())
	}
	f.Extend(l, time.Nanosecond)
	<-l.Context().Done()
	if err := context.Cause(l.Context()); !errors.Is(err, ErrLeaseLost) || f.Extend(l, time.Hour) {
		t.Errorf("it ended with %v, and may be extended", err)
	}
}
