package crawler

import (
	"context"
	"testing"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/kv"
)

// With --backup-wait, a commit is acknowledged when the backup has it. The lease of a visit has ended by then, if the
// visit was its last one.
func TestAVisitIsReportedWhenItsCommitIsAcknowledgedLater(t *testing.T) {
	t.Parallel()
	acknowledged := func(ctx context.Context, _ uint64) error {
		select {
		case <-ctx.Done(): // nobody waits for the backup any more
			return context.Cause(ctx)
		default:
			return nil
		}
	}
	db, err := kv.Open("", kv.Options{InMemory: true, Acknowledge: acknowledged})
	if err != nil {
		t.Fatal(err)
	}
	n, closeNode := newNodeOf(t, db, t.TempDir(), content.Options{NoSync: true, MinFree: -1})
	defer closeNode()
	_, urls := sites(t, n, 5)
	reports := 0
	_, err = n.Run(t.Context(), RunOptions{Once: true, Report: func(Report) { reports++ }})
	if err != nil || reports != len(urls) {
		t.Errorf("%d visits are reported, %v; want %d", reports, err, len(urls))
	}
}
