package dispatch

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/bucket"
)

// WorkerOptions configure a Worker. Address, Hosts, Build and Log are required.
type WorkerOptions struct {
	Address     Address
	Credentials Credentials
	Name        string        // for people
	Hosts       int           // how many are visited at a time
	Bucket      bucket.Bucket // for large parcels, if the writer has the same; nil for none
	// Build makes what visits by the settings of the writer. It is called again when these have changed, after the
	// earlier Kit was closed.
	Build func(w *Worker, by Welcome) (Kit, error)
	Log   *slog.Logger
}

// Kit is what makes visits.
type Kit struct {
	Gate *politeness.Gate // with Worker.Borrow and Worker.Fetched
	// Visit makes the first half of a visit. The error is a *politeness.Wait if the host must not be asked for a while,
	// a
	// *fetch.OwnTrouble if this machine is in trouble, and otherwise one of the lease or of ctx.
	Visit func(ctx context.Context, job Job) (*Sent, error)
	// Outage returns why nothing should be fetched for now, and until when; "" if something should.
	Outage func() (why string, until time.Time)
	Close  func() error
}

// Sent is a finding with its parts.
type Sent struct {
	Finding Finding
	Ended   time.Time // the fetch, by this machine's clock
	Inside  []byte
	Parcel  interface { // nil if there is none; the bytes may be on disk
		io.ReadSeeker
		Size() int64
		Close() error
	}
}

// Worker makes visits for an archive that is elsewhere. Borrow, Fetched, Permit and Host are for the parts of a Kit.
type Worker struct {
	o  WorkerOptions
	id string

	c  *connection // set by Run
	by Welcome     // likewise

	bucket bucket.Bucket // set by a turn; nil unless the writer has the same
	outbox outbox

	mu      sync.Mutex // guards what follows, and the fields of holdings
	active  map[string]*holding
	held    map[Ref]*holding
	slots   int // hosts that are being visited
	changed chan struct{}
	closing time.Time // the writer said that it ends
	ran     time.Time // when the Worker was last seen to run
	rest    time.Time // it asks for nothing until then, because it did not run for a while
	rejoin  bool      // the writer's settings have changed, or it does not know this worker
	counts  WorkerCounts
	state   string
}

// WorkerCounts are counted since a Worker began.
type WorkerCounts struct {
	Leases, Visits, Returned, Lost, Unsent int
}

// NewWorker returns a Worker. Run makes it work.
func NewWorker(o WorkerOptions) *Worker {
	w := &Worker{o: o, id: rand.Text(), active: map[string]*holding{}, held: map[Ref]*holding{}, changed: make(chan struct{}),
		state: "joining"}
	w.outbox.publish, w.outbox.busy = w.publish, w.visiting
	return w
}

// Fetched is for politeness.Options.Fetched: the next message tells the writer of a robots.txt.
func (w *Worker) Fetched(c politeness.RobotsCopy) {
	host := hostOf(c.Authority)
	w.mu.Lock()
	defer w.mu.Unlock()
	if h := w.active[host]; h != nil && len(h.robots) < maxPassages {
		h.robots = append(h.robots, c)
	}
}

type (
	visitKey struct{} // what cancels the visits of a lease
	leaseKey struct{} // its Ref
)

// signal wakes the loop that asks for leases. The caller holds mu.
func (w *Worker) signal() {
	close(w.changed)
	w.changed = make(chan struct{})
}

func askTime(lease time.Duration) time.Duration {
	return longestWait + min(max(lease/4, time.Second), 5*time.Second)
}

// pause waits for d. If ctx ends first, it returns the cause.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// hostOf returns the host of an authority.
func hostOf(authority string) string {
	for i := range len(authority) - 2 {
		if authority[i:i+3] == "://" {
			return authority[i+3:]
		}
	}
	return authority
}

// beat renews leases, and cancels the visits of those that end, until ctx ends.
func (w *Worker) beat(ctx context.Context) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	every := max(w.by.Lease/4, 50*time.Millisecond)
	next := time.Now().Add(every)
	var renewing sync.WaitGroup
	defer renewing.Wait()
	busy := make(chan struct{}, 2)
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		now := time.Now()
		w.rests(now)
		var refs []Ref
		w.mu.Lock()
		for ref, h := range w.held {
			if h.over(now) {
				w.lose(h)
			} else if len(refs) < maxRefs {
				refs = append(refs, ref)
			}
		}
		w.mu.Unlock()
		if now.Before(next) || len(refs) == 0 {
			continue
		}
		select {
		case busy <- struct{}{}:
			next = now.Add(every)
			renewing.Go(func() { defer func() { <-busy }(); w.renew(ctx, refs) })
		default:
		}
	}
}

// rests notes that the Worker runs, and reports whether it should ask for nothing: if it did not run for a while,
// because it or its machine was stopped, that may happen again, and each host that it then has rests for the time of a
// lease.
func (w *Worker) rests(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ran.IsZero() && now.Sub(w.ran) > max(w.by.Lease/4, time.Second) {
		w.rest = now.Add(w.by.Lease)
	}
	w.ran = now
	return now.Before(w.rest)
}

// lose ends a holding whose time is over. The caller holds mu.
func (w *Worker) lose(h *holding) {
	h.finished = true
	h.cancel(ErrLeaseOver)
	delete(w.held, h.Ref)
	if w.active[h.Group] == h {
		delete(w.active, h.Group)
	}
	w.counts.Lost++
	w.signal()
}

// renew renews leases, and ends those that the writer does not know any more.
func (w *Worker) renew(ctx context.Context, refs []Ref) {
	asked := time.Now()
	limited, cancel := context.WithTimeout(ctx, max(w.by.Lease/4, 50*time.Millisecond))
	defer cancel()
	var answer Renewed
	if err := w.c.ask(limited, subjectRenew, Renew{Version: Version, Worker: w.id, Leases: refs}, &answer); err != nil {
		return
	}
	kept := make(map[Ref]bool, len(answer.Leases))
	for _, ref := range answer.Leases {
		kept[ref] = true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ref := range refs {
		h := w.held[ref]
		switch {
		case h == nil:
		case !kept[ref]:
			w.lose(h)
		case !h.over(time.Now()): // what has ended stays ended
			h.set(asked, w.by.Lease)
		}
	}
}

// settled notes that results were dealt with.
func (w *Worker) settled(m *nats.Msg) {
	var d Done
	if decode(m.Data, &d) != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range d.Results {
		h := w.held[k.Ref]
		if h == nil {
			continue
		}
		delete(h.open, k.Key)
		if h.finished && len(h.open) == 0 {
			delete(w.held, k.Ref)
		}
	}
	w.signal()
}

// Status is the state of a Worker.
type WorkerStatus struct {
	State   string       `json:"state"` // joining, working, waiting, ending
	Archive string       `json:"archive"`
	Active  int          `json:"active"` // hosts that are visited
	Leases  int          `json:"leases"` // held, those whose results are on their way among them
	Counts  WorkerCounts `json:"counts"`
}

// Status returns the state of the Worker.
func (w *Worker) Status() WorkerStatus {
	w.mu.Lock()
	defer w.mu.Unlock()
	return WorkerStatus{State: w.state, Archive: w.by.Archive, Active: w.slots, Leases: len(w.held), Counts: w.counts}
}

// visiting returns how many hosts are being visited.
func (w *Worker) visiting() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.slots
}

func (w *Worker) setState(s string) (before string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, w.state = w.state, s
	return before
}

// send sends a result, and returns when the queue has it.
func (w *Worker) send(ctx context.Context, r *Result, s *Sent) (err error) {
	name := rand.Text()
	parts := large{func(ctx context.Context) (jetstream.ObjectStore, error) { return w.c.js.ObjectStore(ctx, w.c.bucket()) }, w.bucket}
	if s.Parcel != nil {
		if s.Parcel.Size() <= maxInline {
			b, err := io.ReadAll(io.LimitReader(s.Parcel, maxInline))
			if err != nil {
				return fmt.Errorf("a parcel: %w", err)
			}
			r.Parcel = b
		} else {
			r.Object, r.Size = name, s.Parcel.Size()
			if r.ObjectInBucket, err = parts.put(ctx, name, r.Size, s.Parcel); err != nil {
				return fmt.Errorf("a parcel: %w", err)
			}
		}
	}
	if r.Inside = s.Inside; len(r.Inside) > maxInline {
		r.Beside = name + besideSuffix
		if r.BesideInBucket, err = parts.put(ctx, r.Beside, int64(len(r.Inside)), bytes.NewReader(r.Inside)); err != nil {
			return fmt.Errorf("what is inside a file: %w", err)
		}
		r.Inside = nil
	}
	b, err := r.Encode()
	if err != nil {
		return err
	}
	return w.outbox.send(ctx, b)
}

// maxInline is the size, in bytes, up to which a part of a result travels in its message.
const maxInline = 384 << 10

func (w *Worker) name() string { return cmp.Or(w.o.Name, w.id) }
