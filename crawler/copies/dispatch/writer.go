package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"odarchive/crawler/queue/frontier"
	"odarchive/triplestore/bucket"
)

// WriterOptions configure a Writer.
type WriterOptions struct {
	DeskOptions
	Address     Address        // of the server; not used with Embedded
	Credentials Credentials    // likewise
	Embedded    *ServerOptions // nil for a server elsewhere
	Bucket      bucket.Bucket  // for large parcels of workers that have the same; nil for none
}

// Writer serves workers: it connects a Desk with NATS.
type Writer struct {
	o    WriterOptions
	Desk *Desk

	connected atomic.Bool
	beacon    beacon
}

// NewWriter returns a Writer. Run makes it work.
func NewWriter(o WriterOptions) *Writer {
	return &Writer{o: o, Desk: NewDesk(o.DeskOptions), beacon: beacon{bucket: o.Bucket, log: o.Log}}
}

// Connected reports whether workers can be served now.
func (w *Writer) Connected() bool { return w.connected.Load() }

// drainTime is how long Run waits, when ctx has ended, for workers to return their leases.
const drainTime = 10 * time.Second

// Run serves workers until ctx ends. Then it grants nothing more, asks the workers to return what they have, and waits
// for that a while. It does not end because of NATS: while the server is away, it waits for it. The error is one of the
// database.
func (w *Writer) Run(ctx context.Context) error {
	if err := w.o.Frontier.Mark(ctx, frontier.Outstanding{Lease: w.o.Lease}); err != nil {
		return err
	}
	desk, stop := context.WithCancel(context.WithoutCancel(ctx))
	var sweeping sync.WaitGroup
	sweeping.Go(func() { w.Desk.Run(desk) })
	defer func() { stop(); sweeping.Wait() }()
	if w.o.Bucket != nil {
		w.beacon.light(ctx) // before the first worker asks for it
		sweeping.Go(func() { w.beacon.keep(desk) })
	}
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		began := time.Now()
		err := w.serve(ctx)
		w.connected.Store(false)
		if ctx.Err() != nil {
			break
		}
		if time.Since(began) > maxPause {
			pause = firstPause
		}
		w.o.Log.Warn("workers are not served, which is tried again soon", "error", err, "in", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			break
		}
	}
	if w.Desk.Out() > 0 {
		return nil // the next process waits for the end of their leases
	}
	return w.o.Frontier.Mark(context.WithoutCancel(ctx), frontier.Outstanding{Lease: w.o.Lease, Returned: true})
}

const (
	firstPause = 200 * time.Millisecond
	maxPause   = 10 * time.Second
)

// serve serves workers until ctx ends or the server fails.
func (w *Writer) serve(ctx context.Context) error {
	address, credentials := w.o.Address, w.o.Credentials
	var ns *Server
	if w.o.Embedded != nil {
		var err error
		if ns, err = StartServer(*w.o.Embedded, w.o.Log); err != nil {
			return err
		}
		defer ns.Close()
		address = Address{Servers: ns.URL(), Name: defaultName}
	}
	c, err := w.connect(address, credentials, ns)
	if err != nil {
		return err
	}
	defer c.nc.Close()
	consumer, objects, err := w.prepare(ctx, c, ns == nil)
	parts := large{func(context.Context) (jetstream.ObjectStore, error) { return objects, nil }, w.o.Bucket}
	if err != nil {
		return err
	}
	stop, err := w.answer(ctx, c)
	if err != nil {
		return err
	}
	defer stop()
	w.connected.Store(true)
	w.o.Log.Info("workers are served", "nats", address.String(), "archive", c.name, "lease", w.o.Lease)
	taking, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	failed := make(chan error, 1)
	var taken sync.WaitGroup
	taken.Go(func() { failed <- w.take(taking, c, consumer, parts, ns) })
	defer taken.Wait()
	defer end()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	w.drain(c)
	return ctx.Err()
}

// connect connects to the server; ns is the embedded one, nil for another.
func (w *Writer) connect(a Address, cr Credentials, ns *Server) (*connection, error) {
	if ns == nil {
		return connect(a, cr, "odarchive writer", w.o.Log)
	}
	return connect(a, Credentials{}, "odarchive writer", w.o.Log, ns.inProcess()...)
}

// drain asks workers to return their leases, and waits for that.
func (w *Writer) drain(c *connection) {
	w.Desk.Close()
	_ = c.nc.Publish(c.name+subjectClosing, nil) // who does not hear it asks for more and is told
	until := time.Now().Add(drainTime)
	for w.Desk.Out() > 0 && time.Now().Before(until) && c.nc.IsConnected() {
		time.Sleep(20 * time.Millisecond)
	}
}

// prepare waits for the server and makes what the Writer needs there.
func (w *Writer) prepare(ctx context.Context, c *connection, shared bool) (consumer jetstream.Consumer, objects jetstream.ObjectStore,
	err error) {
	for logged := false; !c.nc.IsConnected(); logged = true {
		if !logged {
			w.o.Log.Warn("NATS cannot be reached; the crawl goes on without workers", "nats", c.nc.Opts.Servers)
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	limited, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if shared { // another archive may use the name
		asked, done := context.WithTimeout(limited, time.Second)
		var other Welcome
		err := c.ask(asked, subjectHello, Hello{Version: Version}, &other)
		done()
		if err == nil {
			return nil, nil, fmt.Errorf(
				"another archive serves workers as %s on this NATS server (%s); give this one another name, as in nats://HOST:4222/NAME",
				c.name, other.Archive)
		}
	}
	return c.setUp(limited, max(2*w.o.Lease, time.Minute), !shared)
}

// askers is how many requests of one kind are answered at a time.
const askers = 64

// answer answers the requests of workers. stop ends that.
func (w *Writer) answer(ctx context.Context, c *connection) (stop func(), err error) {
	ctx = context.WithoutCancel(ctx)
	var stops []func()
	stop = func() {
		for _, s := range stops {
			s()
		}
	}
	add := func(s func(), e error) {
		if e == nil {
			stops = append(stops, s)
		}
		err = errors.Join(err, e)
	}
	add(answer(c, subjectHello, 4, w.hello))
	add(answer(c, subjectAsk, askers, func(q Ask) Grants { return w.Desk.Grant(ctx, q) }))
	add(answer(c, subjectRenew, askers, w.Desk.Renew))
	add(answer(c, subjectBorrow, askers, func(q Borrow) Borrowed { return w.Desk.Borrow(ctx, q) }))
	add(answer(c, subjectReturn, askers, func(q Return) struct{} { w.Desk.Return(ctx, q); return struct{}{} }))
	if err == nil {
		err = c.nc.Flush()
	}
	if err != nil {
		stop()
	}
	return stop, err
}

func (w *Writer) hello(q Hello) Welcome {
	if q.Worker == "" && q.Version == Version { // another writer looks whether there is one
		return Welcome{Version: Version, Archive: w.o.Office.Settings().Archive}
	}
	welcome := w.Desk.Hello(q)
	if name := w.beacon.name.Load(); name != nil && welcome.Why == "" {
		welcome.Bucket = *name
	}
	return welcome
}

// Results are committed by so many goroutines, since the database makes one write of what is committed concurrently.
const committers = 64

// take commits results until ctx ends or the server fails. It waits for commits under way.
func (w *Writer) take(ctx context.Context, c *connection, consumer jetstream.Consumer, parts large, ns *Server) error {
	messages, err := consumer.Messages(jetstream.PullMaxMessages(committers), jetstream.PullExpiry(5*time.Second))
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	defer context.AfterFunc(ctx, messages.Stop)()
	var group sync.WaitGroup
	defer group.Wait()
	free := make(chan struct{}, committers)
	quiet := 0
	for {
		m, err := messages.Next(jetstream.NextMaxWait(2 * time.Second))
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && ns != nil && !ns.Works():
			return errors.New("NATS keeps no messages any more: its disk may be full")
		case errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, jetstream.ErrNoHeartbeat):
			if quiet++; quiet%5 == 0 { // is it still there?
				asked, done := context.WithTimeout(ctx, 5*time.Second)
				_, err := consumer.Info(asked)
				done()
				if errors.Is(err, jetstream.ErrConsumerNotFound) || errors.Is(err, jetstream.ErrStreamNotFound) ||
					errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
					return fmt.Errorf("results: %w", err)
				}
			}
			continue
		case err != nil:
			return fmt.Errorf("results: %w", err)
		}
		quiet = 0
		results, bad := DecodeResults(m.Data())
		for _, err := range bad {
			w.Desk.Malformed(err)
		}
		d := &delivery{w: w, c: c, parts: parts, m: m}
		d.left.Store(int64(len(results)) + 1)
		for _, r := range results {
			claimed, verdict, ok := w.Desk.Claim(r)
			if !ok {
				d.over(r, verdict)
				continue
			}
			free <- struct{}{}
			own, over := w.o.Office.Announce(ctx)
			group.Go(func() {
				defer func() { over(); <-free }()
				d.over(r, w.commit(own, parts, claimed, r))
			})
		}
		d.over(nil, "")
	}
}

// commit commits a result that was claimed.
func (w *Writer) commit(ctx context.Context, parts large, claimed Claimed, r *Result) Verdict {
	var missing error
	if r.Beside != "" {
		r.Inside, missing = fetchBeside(ctx, parts, r)
	}
	return w.Desk.Commit(ctx, claimed, func(ctx context.Context) (io.ReadCloser, error) {
		if missing != nil {
			return nil, fmt.Errorf("what is inside a file: %w", missing)
		}
		return openParcel(ctx, parts, r)
	})
}

// delivery is a message whose results are being dealt with.
type delivery struct {
	w     *Writer
	c     *connection
	parts large
	m     jetstream.Msg
	left  atomic.Int64 // results, and the loop that goes through them

	mu    sync.Mutex // guards what follows
	done  []Key
	who   string // the worker
	later bool   // an earlier delivery of the message is still being dealt with, and is going to acknowledge it
}

// over ends the work on a result; nil for the loop that goes through them. When all is over, it acknowledges the
// message and notifies the worker.
func (d *delivery) over(r *Result, v Verdict) {
	if r != nil {
		d.mu.Lock()
		if d.later = d.later || v == Later; v != Later {
			d.done, d.who = append(d.done, r.Job), r.Worker
		}
		d.mu.Unlock()
		if v != Later && r.Object != "" {
			d.parts.delete(r.Object, r.ObjectInBucket)
		}
		if v != Later && r.Beside != "" {
			d.parts.delete(r.Beside, r.BesideInBucket)
		}
	}
	if d.left.Add(-1) > 0 {
		return
	}
	if !d.later {
		_ = d.m.Ack() // else it is delivered again, and then refused
	}
	if b, err := json.Marshal(Done{Results: d.done}); err == nil && len(d.done) > 0 {
		_ = d.c.nc.Publish(d.c.name+subjectDone+d.who, b) // else the worker learns it when it renews
	}
}
