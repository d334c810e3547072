package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Bounds of one message with results.
const (
	maxResultsInOne = 64
	fullMessage     = 512 << 10 // bytes from which a message takes no more results; one result may have more
)

// lingerTime is how long a result waits for others. Its visit waits with it, which is much less than hosts rest between
// requests.
const lingerTime = 50 * time.Millisecond

// outbox sends results of several visits in one message: the archive handles a message in about the same time, however
// many results it has.
type outbox struct {
	publish func(ctx context.Context, message []byte) error
	busy    func() int // how many visits are under way, which may send a result soon

	mu   sync.Mutex // guards open and its fields but done and err
	open *envelope  // takes results; nil if there is none
}

// envelope is a message that is being filled.
type envelope struct {
	results [][]byte
	size    int
	full    chan struct{} // closed when it takes no more results
	done    chan struct{} // closed when it was sent, or could not be
	err     error         // valid once done is closed
}

// send sends an encoded result and returns when the queue has it. Results that are sent one after the other arrive in
// that order.
func (o *outbox) send(ctx context.Context, result []byte) error {
	e, leads := o.add(result)
	if !leads {
		<-e.done
		return e.err
	}
	linger := time.NewTimer(lingerTime)
	defer linger.Stop()
	select {
	case <-e.full:
	case <-linger.C:
	}
	o.mu.Lock()
	o.seal(e)
	o.mu.Unlock()
	// The results of other visits are in it, too, so that the end of this one does not matter.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishTime)
	defer cancel()
	e.err = o.publish(ctx, EncodeResults(e.results))
	close(e.done)
	return e.err
}

// add puts a result into the open envelope. Whoever leads sends it.
func (o *outbox) add(result []byte) (e *envelope, leads bool) {
	busy := o.busy()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open != nil && o.open.size+len(result) > fullMessage {
		o.seal(o.open)
	}
	if leads = o.open == nil; leads {
		o.open = &envelope{full: make(chan struct{}), done: make(chan struct{})}
	}
	e = o.open
	e.results, e.size = append(e.results, result), e.size+len(result)
	if len(e.results) >= min(busy, maxResultsInOne) || e.size >= fullMessage {
		o.seal(e)
	}
	return e, leads
}

// seal ends the filling of an envelope. The caller holds mu.
func (o *outbox) seal(e *envelope) {
	if o.open == e {
		o.open = nil
		close(e.full)
	}
}

const (
	publishTime = 5 * time.Second
	retryFull   = 50 * time.Millisecond
)

// publish sends a message with results, and returns when the queue has it. While the queue is full, it waits.
func (w *Worker) publish(ctx context.Context, message []byte) error {
	if len(message) > maxMessage {
		return fmt.Errorf("a message of %d bytes, at most %d", len(message), maxMessage)
	}
	for {
		_, err := w.c.js.Publish(ctx, w.c.name+subjectResult+w.id, message, jetstream.WithRetryAttempts(0))
		var refused *jetstream.APIError
		if !errors.As(err, &refused) || pause(ctx, retryFull) != nil {
			return err
		}
	}
}
