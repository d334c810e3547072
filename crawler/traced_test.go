package crawler

import (
	"context"
	"errors"
	"testing"
	"time"

	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/trace"
)

// A crawl that nobody traces pays for no span.
func TestAVisitThatIsNotTracedAllocatesNothingForIt(t *testing.T) {
	ctx, ex := context.Background(), &fetch.Exchange{Outcome: "archive", Status: 200}
	n := testing.AllocsPerRun(1000, func() {
		leased, endLease := traceLease(ctx, "a.example", 3)
		visit, end := traceVisit(trace.Detach(ctx, leased), "http://a.example/x?y=1")
		traceOutcome(visit, ex)
		end(traceFailure(nil))
		endLease(nil)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAHostThatMustBeWaitedForIsNoFailure(t *testing.T) {
	t.Parallel()
	if err := traceFailure(errors.Join(&politeness.Wait{Host: "a.example", Until: time.Now()})); err != nil {
		t.Errorf("%v", err)
	}
	if traceFailure(errors.New("refused")) == nil {
		t.Error("a failure is none")
	}
}
