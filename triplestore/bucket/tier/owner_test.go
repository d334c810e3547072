package tier

import (
	"context"
	"errors"
	"testing"
	"time"

	"odarchive/triplestore/bucket"
	"odarchive/triplestore/bucket/buckettest"
)

// A server that has just become the writer takes the bucket over, and waits for one that does not answer.
func TestABucketThatDoesNotAnswerIsOneToTryAgain(t *testing.T) {
	t.Parallel()
	stalls := buckettest.NewFaulty(&buckettest.Memory{}, 1)
	stalls.Break(buckettest.Faults{Stall: 1, For: time.Hour})
	options := Options{Bucket: stalls, Dir: t.TempDir(), Finished: func(string) bool { return true }, Archive: "archive",
		Limit: 10 * time.Millisecond}
	if _, err := Open(t.Context(), options); !errors.Is(err, bucket.ErrUnavailable) {
		t.Errorf("%v, want %v", err, bucket.ErrUnavailable)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := Open(ended, options); errors.Is(err, bucket.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("a start that was given up: %v", err)
	}
}
