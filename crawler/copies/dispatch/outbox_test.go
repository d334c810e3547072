package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestResultsOfSeveralVisitsAreOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var messages []int // bytes
		visits := 10
		o := &outbox{busy: func() int { return visits }, publish: func(_ context.Context, m []byte) error {
			mu.Lock()
			defer mu.Unlock()
			messages = append(messages, len(m))
			return nil
		}}
		send := func(n, size int) (took time.Duration) {
			began := time.Now()
			var wait sync.WaitGroup
			for range n {
				wait.Go(func() {
					if err := o.send(t.Context(), make([]byte, size)); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			return time.Since(began)
		}
		if took := send(10, 100); took != 0 || len(messages) != 1 {
			t.Errorf("all visits that are under way: %d messages after %s, expected one at once", len(messages), took)
		}
		if took := send(4, 100); took != lingerTime || len(messages) != 2 {
			t.Errorf("some of the visits: %d messages after %s, expected a second one after %s", len(messages), took, lingerTime)
		}
		visits = 1000
		messages = nil
		if took := send(maxResultsInOne+1, 100); took != lingerTime || len(messages) != 2 {
			t.Errorf("one too many: %d messages after %s, expected 2", len(messages), took)
		}
		messages = nil
		if send(4, fullMessage/2); len(messages) < 2 {
			t.Errorf("large results: one message of %v bytes", messages)
		}
	})
}

func TestAMessageThatIsNotSentFailsForAllItsResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := errors.New("the connection is lost")
		o := &outbox{busy: func() int { return 100 }, publish: func(ctx context.Context, _ []byte) error {
			if ctx.Err() != nil {
				return fmt.Errorf("the end of one visit ended the message of others: %w", ctx.Err())
			}
			return lost
		}}
		leaving, leave := context.WithCancel(t.Context())
		leave()
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				if err := o.send(leaving, []byte("result")); !errors.Is(err, lost) {
					t.Errorf("error %v", err)
				}
			})
		}
		wait.Wait()
	})
}
