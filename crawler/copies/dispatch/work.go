package dispatch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"
)

// finishTime is how long visits may go on when the Worker ends.
const finishTime = 5 * time.Second

// errRejoin ends a turn because the writer's settings have changed, or it does not know the Worker.
var errRejoin = errors.New("the writer's settings have changed")

// Refusal is the error of a Worker that the writer refuses.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return r.Why }

// Run works until ctx ends, and then finishes or returns what it has. While NATS or the writer is away, it waits. The
// error is a *Refusal, or one of WorkerOptions.Build, or nil.
func (w *Worker) Run(ctx context.Context) error {
	c, err := connect(w.o.Address, w.o.Credentials, "odarchive worker "+w.name(), w.o.Log)
	if err != nil {
		return err
	}
	defer c.nc.Close()
	w.c = c
	for {
		by, err := w.join(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		w.mu.Lock()
		w.by = by
		w.mu.Unlock()
		err = w.turn(ctx)
		if ctx.Err() != nil {
			_ = c.nc.FlushTimeout(2 * time.Second) // what is returned
		}
		if !errors.Is(err, errRejoin) {
			return err
		}
		w.o.Log.Info("joining again: the settings of the writer have changed, or it was restarted")
	}
}

// join says Hello until the writer answers.
func (w *Worker) join(ctx context.Context) (Welcome, error) {
	w.setState("joining")
	said := false
	for tries, wait := 1, firstPause; ; tries, wait = tries+1, min(2*wait, 2*time.Second) {
		limited, cancel := context.WithTimeout(ctx, 2*time.Second)
		var by Welcome
		err := w.c.ask(limited, subjectHello, Hello{Version: Version, Worker: w.id, Name: w.name()}, &by)
		cancel()
		switch {
		case ctx.Err() != nil:
			return by, ctx.Err()
		case err == nil && by.Why != "":
			return by, &Refusal{by.Why}
		case err == nil && by.Version != Version:
			return by, &Refusal{
				fmt.Sprintf(
					"the archive speaks version %d of the messages between writer and workers, this worker version %d: use the same "+
						"release for both", by.Version, Version)}
		case err == nil && by.Lease > 0:
			w.o.Log.Info("joined", "nats", w.o.Address.String(), "archive", by.Archive, "lease", by.Lease, "name", w.name())
			return by, nil
		}
		if !said && (tries > 3 || w.c.tried()) {
			w.o.Log.Warn("waiting for the archive", "nats", w.o.Address.String(), "error", w.c.why(err))
			said = true
		}
		if err := pause(ctx, wait); err != nil {
			return by, err
		}
	}
}

// turn works under the settings of one Welcome.
func (w *Worker) turn(ctx context.Context) error {
	w.bucket = sharedBucket(ctx, w.o.Bucket, w.by.Bucket, w.o.Log)
	kit, err := w.o.Build(w, w.by)
	if err != nil {
		return err
	}
	defer func() {
		if err := kit.Close(); err != nil {
			w.o.Log.Warn("the end of a turn", "error", err)
		}
	}()
	w.mu.Lock()
	w.rejoin, w.closing, w.ran = false, time.Time{}, time.Time{}
	w.mu.Unlock()
	done, err := w.c.nc.Subscribe(w.c.name+subjectDone+w.id, w.settled)
	if err != nil {
		return nil // the connection was closed
	}
	defer done.Unsubscribe()
	closing, err := w.c.nc.Subscribe(w.c.name+subjectClosing, func(*nats.Msg) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.closing = time.Now()
		w.signal()
	})
	if err != nil {
		return nil
	}
	defer closing.Unsubscribe()

	visits, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	beating, stop := context.WithCancel(context.WithoutCancel(ctx))
	var beats, visiting sync.WaitGroup
	beats.Go(func() { w.beat(beating) })
	defer beats.Wait()
	defer stop()
	err = w.asking(ctx, func(g Grant, asked time.Time) {
		w.enter(1)
		visiting.Go(func() {
			defer w.enter(-1)
			w.lease(ctx, visits, kit, g, asked)
		})
	}, kit.Outage)
	w.setState("ending")
	over := time.AfterFunc(finishTime, func() { end(errors.New("the worker ends")) })
	visiting.Wait()
	over.Stop()
	w.mu.Lock()
	clear(w.held) // their results are with the writer
	w.mu.Unlock()
	return err
}

// enter counts hosts that are visited.
func (w *Worker) enter(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots += n
	w.signal()
}

// asking asks for leases while there is room for visits, until ctx ends or the Worker must join again.
func (w *Worker) asking(ctx context.Context, start func(Grant, time.Time), outage func() (string, time.Time)) error {
	failures, lastHeard := 0, time.Now()
	for ctx.Err() == nil {
		w.mu.Lock()
		rejoin, changed := w.rejoin, w.changed
		want := min(w.o.Hosts-w.slots, 2*w.o.Hosts-len(w.held), maxGrants)
		w.mu.Unlock()
		if rejoin {
			return errRejoin
		}
		if why, until := outage(); why != "" {
			if w.setState("waiting") != "waiting" {
				w.o.Log.Warn("waiting", "why", why)
			}
			_ = pause(ctx, max(10*time.Millisecond, min(time.Second, time.Until(until))))
			continue
		}
		if want <= 0 {
			select {
			case <-changed:
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			continue
		}
		if w.rests(time.Now()) {
			_ = pause(ctx, 100*time.Millisecond)
			continue
		}
		asked := time.Now()
		limited, cancel := context.WithTimeout(ctx, askTime(w.by.Lease))
		var g Grants
		err := w.c.ask(limited, subjectAsk, Ask{Version: Version, Worker: w.id, Rev: w.by.Rev, Want: want}, &g)
		cancel()
		if ctx.Err() != nil {
			for _, one := range g.Leases {
				w.giveBack(&holding{Ref: one.Ref}, 0, "")
			}
			return nil
		}
		if err != nil {
			if failures++; w.setState("waiting") != "waiting" || failures == 1 {
				w.o.Log.Warn("waiting for the archive", "error", w.c.why(err))
			}
			if time.Since(lastHeard) > 2*w.by.Lease && time.Since(lastHeard) > 10*time.Second { // its settings may be others by now
				return errRejoin
			}
			_ = pause(ctx, min(100*time.Millisecond<<min(failures, 6), 5*time.Second))
			continue
		}
		if w.setState("working") != "working" && failures > 0 {
			w.o.Log.Info("the archive is back")
		}
		failures, lastHeard = 0, time.Now()
		if g.Hello {
			return errRejoin
		}
		for _, one := range g.Leases {
			start(one, asked)
		}
		if len(g.Leases) == 0 {
			_ = pause(ctx, 20*time.Millisecond)
			if g.Why != "" {
				_ = pause(ctx, 200*time.Millisecond)
			}
		}
	}
	return nil
}

// ends reports whether no further visit should begin.
func (w *Worker) ends(ctx context.Context) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return ctx.Err() != nil || time.Since(w.closing) < time.Minute
}

// lease makes the visits of a lease.
func (w *Worker) lease(ctx, visits context.Context, kit Kit, g Grant, asked time.Time) {
	own, cancel := context.WithCancelCause(visits)
	defer cancel(nil)
	own = context.WithValue(context.WithValue(own, visitKey{}, cancel), gateKey{}, kit.Gate)
	own = context.WithValue(own, leaseKey{}, g.Ref)
	h := w.hold(&g, asked, cancel)
	if h == nil || len(g.Jobs) == 0 || len(g.Jobs) > maxJobs {
		return // it ends by itself
	}
	w.mu.Lock()
	w.counts.Leases++
	w.mu.Unlock()
	w.adopt(own, &g)
	for i, job := range g.Jobs {
		if w.ends(ctx) {
			w.giveBack(h, 0, "")
			return
		}
		err := w.visit(own, kit, h, job, i == len(g.Jobs)-1)
		var wait *politeness.Wait
		var trouble *fetch.OwnTrouble
		switch {
		case err == nil:
			continue
		case errors.As(err, &wait):
			w.giveBack(h, max(time.Until(wait.Until), time.Millisecond), wait.Why)
		case errors.Is(err, errOwn):
			w.returnHolding(h, Return{Own: job.Key, Wait: time.Millisecond, Why: "the archive visits it itself"})
		case errors.As(err, &trouble):
			w.o.Log.Warn("this machine is in trouble; nothing is recorded of the host", "host", g.Group, "trouble", trouble)
			w.giveBack(h, time.Second, "network")
		default:
			if own.Err() == nil {
				w.o.Log.Warn("a visit failed and will be made again", "url", job.URL, "error", err)
			}
			w.giveBack(h, 0, "")
		}
		return
	}
}

// visit makes one visit and sends its result.
func (w *Worker) visit(ctx context.Context, kit Kit, h *holding, job Job, last bool) (err error) {
	s, err := kit.Visit(ctx, job)
	if s != nil && s.Parcel != nil {
		defer s.Parcel.Close()
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	r := &Result{Version: Version, Worker: w.id, Job: Key{h.Ref, job.Key}, Last: last, Finding: s.Finding}
	w.mu.Lock()
	h.open[job.Key] = true
	r.Passages, r.Robots = h.passages, h.robots
	h.passages, h.robots = nil, nil
	w.counts.Visits++
	w.mu.Unlock()
	if last {
		w.finish(h)
	}
	r.Age = max(0, time.Since(s.Ended))
	if err := w.send(ctx, r, s); err != nil {
		w.mu.Lock()
		delete(h.open, job.Key)
		h.passages, h.robots = r.Passages, r.Robots
		w.counts.Unsent++
		w.mu.Unlock()
		return fmt.Errorf("a result was not sent: %w", err)
	}
	return nil
}
