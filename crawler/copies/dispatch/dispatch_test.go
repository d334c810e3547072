package dispatch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/kv"
)

// office is an Office without an archive: a commit records the visit in the frontier.
type office struct {
	f       *frontier.Frontier
	db      *kv.DB
	delay   time.Duration
	rev     atomic.Pointer[string]
	slow    time.Duration // of a commit
	mu      sync.Mutex
	commits map[string]int // by URL
	parcels map[string]string
	order   []string // URLs
}

func (o *office) Pick(_ string, jobs []frontier.Job) []frontier.Job      { return jobs }
func (o *office) Host(string) (Host, bool)                               { return Host{Delay: o.delay}, true }
func (o *office) Announce(ctx context.Context) (context.Context, func()) { return ctx, func() {} }

func (o *office) Describe(_ context.Context, j frontier.Job) (Job, error) {
	return Job{URL: j.URL, Key: j.Key}, nil
}
func (o *office) Postpone(context.Context, *frontier.Lease, frontier.Job, string) {}
func (o *office) Settings() Welcome {
	rev := "1"
	if r := o.rev.Load(); r != nil {
		rev = *r
	}
	return Welcome{Rev: rev, Archive: "http://archive.example/"}
}

func (o *office) Commit(ctx context.Context, lease *frontier.Lease, job frontier.Job, r *Result, open Parcel) error {
	body, err := open(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	b, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	time.Sleep(o.slow)
	err = o.db.Update(ctx, func(txn *kv.Txn) error {
		return o.f.Done(txn, lease, job,
			frontier.Result{Visit: schedule.Visit{At: time.Now(), Outcome: catalog.Archived}, NextDue: time.Now().Add(time.Hour)})
	})
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.commits[job.URL]++
	o.order = append(o.order, job.URL)
	o.parcels[job.URL] = string(b)
	return nil
}

// bench is a desk over a database in memory.
type bench struct {
	*Desk
	office *office
	gate   *politeness.Gate
}

func newBench(t testing.TB, lease time.Duration, urls ...string) *bench {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	f, err := frontier.New(db, frontier.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var seeds []catalog.Seed
	for _, u := range urls {
		seeds = append(seeds, catalog.Seed{URL: u})
	}
	if _, err := f.Add(t.Context(), seeds...); err != nil {
		t.Fatal(err)
	}
	o := &office{f: f, db: db, commits: map[string]int{}, parcels: map[string]string{}}
	gate := politeness.New(politeness.Options{Delay: -1})
	d := NewDesk(DeskOptions{Frontier: f, Gate: gate, Office: o, Lease: lease, Now: time.Now})
	d.Hello(Hello{Version: Version, Worker: "w1", Name: "first"})
	d.Hello(Hello{Version: Version, Worker: "w2", Name: "second"})
	return &bench{d, o, gate}
}

func (b *bench) grant(t testing.TB, worker string) *Grant {
	t.Helper()
	g := b.Grant(t.Context(), Ask{Version: Version, Worker: worker, Rev: b.office.Settings().Rev, Want: 1})
	if len(g.Leases) == 0 {
		return nil
	}
	return &g.Leases[0]
}

func resultFor(worker string, g *Grant, last bool) *Result {
	return &Result{Version: Version, Worker: worker, Job: Key{g.Ref, g.Jobs[0].Key}, Last: last,
		Finding: Finding{Exchange: Exchange{Outcome: catalog.Unchanged, Status: 304}}}
}

func noParcel(context.Context) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(nil)), nil }

// take claims and commits a result.
func (b *bench) take(t testing.TB, r *Result) Verdict {
	t.Helper()
	c, v, ok := b.Claim(r)
	if !ok {
		return v
	}
	return b.Commit(t.Context(), c, noParcel)
}

func TestAWorkerOfAnotherVersionIsRefusedWithASentence(t *testing.T) {
	b := newBench(t, time.Minute)
	w := b.Hello(Hello{Version: Version + 1, Worker: "w9"})
	if !strings.Contains(w.Why, "same release") || w.Lease != 0 {
		t.Errorf("answered %+v", w)
	}
	if g := b.Grant(t.Context(), Ask{Version: Version, Worker: "stranger", Want: 1, Rev: "1"}); !g.Hello || len(g.Leases) > 0 {
		t.Errorf("a worker that did not say hello got %+v", g)
	}
}

func TestAHostIsLentToOneWorkerAndEnteredByNobodyElse(t *testing.T) {
	b := newBench(t, time.Minute, "http://a.example/1", "http://a.example/2")
	g := b.grant(t, "w1")
	if g == nil || g.Group != "a.example" {
		t.Fatalf("granted %+v", g)
	}
	if other := b.grant(t, "w2"); other != nil {
		t.Fatalf("the host was granted twice: %+v", other)
	}
	var wait *politeness.Wait
	if _, _, err := b.gate.Lend(t.Context(), "a.example", 0); !errors.As(err, &wait) {
		t.Errorf("the host was lent twice: %v", err)
	}
	if got := b.Borrow(t.Context(), Borrow{Version: Version, Worker: "w2", Host: "a.example"}); got.Grant != nil || got.Wait <= 0 {
		t.Errorf("the host was borrowed while it was leased: %+v", got)
	}
	b.Return(t.Context(), Return{Version: Version, Worker: "w2", Lease: g.Ref})
	if b.Out() != 1 {
		t.Error("another worker returned the lease")
	}
	b.Return(t.Context(), Return{Version: Version, Worker: "w1", Lease: g.Ref})
	if again := b.grant(t, "w2"); again == nil || again.Epoch == g.Epoch {
		t.Errorf("after its return the host was granted as %+v", again)
	}
}

func TestAResultIsCommittedOnceAndRefusedAfterItsLease(t *testing.T) {
	b := newBench(t, 300*time.Millisecond, "http://a.example/1", "http://b.example/1")
	g := b.grant(t, "w1")
	r := resultFor("w1", g, true)
	if v := b.take(t, r); v != Committed {
		t.Fatalf("verdict %s", v)
	}
	if v := b.take(t, r); v != Refused && v != Repeated {
		t.Errorf("the second delivery: %s", v)
	}
	if n := b.office.commits[g.Jobs[0].URL]; n != 1 {
		t.Errorf("committed %d times", n)
	}
	late := b.grant(t, "w1")
	time.Sleep(350 * time.Millisecond)
	b.sweep(t.Context(), false)
	if v := b.take(t, resultFor("w1", late, true)); v != Refused {
		t.Errorf("a late result: %s", v)
	}
	if n := b.office.commits[late.Jobs[0].URL]; n != 0 {
		t.Error("a late result was committed")
	}
	if s := b.Status(); s.Counts.Expired != 1 || s.Counts.Refused == 0 {
		t.Errorf("counted %+v", s.Counts)
	}
	if again := b.grant(t, "w2"); again == nil || again.Jobs[0].URL != late.Jobs[0].URL {
		t.Errorf("the URL of the lost lease is not due again: %+v", again)
	}
}

func TestAResultWhileItIsCommittedIsNotCommittedAgain(t *testing.T) {
	b := newBench(t, time.Minute, "http://a.example/1")
	g := b.grant(t, "w1")
	r := resultFor("w1", g, true)
	c, _, ok := b.Claim(r)
	if !ok {
		t.Fatal("not claimed")
	}
	if _, v, ok := b.Claim(r); ok || v != Later {
		t.Errorf("the second delivery: %s", v)
	}
	if v := b.Commit(t.Context(), c, noParcel); v != Committed {
		t.Errorf("verdict %s", v)
	}
}

func TestAResultOfAnotherWorkerOrURLIsNotCommitted(t *testing.T) {
	b := newBench(t, time.Minute, "http://a.example/1")
	g := b.grant(t, "w1")
	stranger := resultFor("w2", g, true)
	if v := b.take(t, stranger); v != Refused {
		t.Errorf("a result of another worker: %s", v)
	}
	other := resultFor("w1", g, true)
	other.Job.Key = "http://(example,a,)/2"
	if v := b.take(t, other); v != Malformed {
		t.Errorf("a result of another URL: %s", v)
	}
	if v := b.take(t, resultFor("w1", g, true)); v != Committed {
		t.Errorf("the right result: %s", v)
	}
}

func TestAWorkerThatLetALeaseEndGetsNoneForTheTimeOfOne(t *testing.T) {
	b := newBench(t, 400*time.Millisecond, "http://a.example/1", "http://b.example/1")
	if b.grant(t, "w1") == nil {
		t.Fatal("nothing granted")
	}
	time.Sleep(450 * time.Millisecond)
	b.sweep(t.Context(), false)
	if g := b.grant(t, "w1"); g != nil {
		t.Errorf("granted at once: %+v", g)
	}
	if g := b.grant(t, "w2"); g == nil {
		t.Error("another worker gets nothing either")
	}
	time.Sleep(450 * time.Millisecond)
	b.sweep(t.Context(), true) // not by a fault of the workers
	if g := b.grant(t, "w1"); g == nil {
		t.Error("nothing granted after the time of a lease")
	}
}

func TestRenewingKeepsALease(t *testing.T) {
	b := newBench(t, 300*time.Millisecond, "http://a.example/1")
	g := b.grant(t, "w1")
	for range 4 {
		time.Sleep(150 * time.Millisecond)
		b.sweep(t.Context(), false)
		if kept := b.Renew(Renew{Version: Version, Worker: "w1", Leases: []Ref{g.Ref, {"other.example", 1}}}); len(kept.Leases) != 1 {
			t.Fatalf("kept %+v", kept)
		}
	}
	if kept := b.Renew(Renew{Version: Version, Worker: "w2", Leases: []Ref{g.Ref}}); len(kept.Leases) != 0 {
		t.Error("another worker renewed the lease")
	}
	if v := b.take(t, resultFor("w1", g, true)); v != Committed {
		t.Errorf("the result: %s", v)
	}
}

// freePort returns an address that is free now.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestWorkersOverNATS runs a writer with an embedded server and workers, with large parcels in JetStream or in a
// bucket.
func TestWorkersOverNATS(t *testing.T) {
	t.Run("without a bucket", func(t *testing.T) { testWorkersOverNATS(t, nil, nil) })
	shared := openBucket(t)
	t.Run("with a bucket", func(t *testing.T) { testWorkersOverNATS(t, shared, shared) })
	if got := shared.puts.Load(); got != 12+1 {
		t.Errorf("%d objects were stored, expected 12 parcels and the beacon", got)
	}
	if left := keys(t, shared); len(left) > 0 {
		t.Errorf("the bucket still has %v", left)
	}
	other := openBucket(t)
	t.Run("with another bucket", func(t *testing.T) { testWorkersOverNATS(t, openBucket(t), other) })
	if got := other.puts.Load(); got != 0 {
		t.Errorf("%d objects were stored in a bucket that is not the writer's", got)
	}
}

// counted is a bucket that counts what is stored.
type countedBucket struct {
	bucket.Bucket
	puts atomic.Int32
}

func (c *countedBucket) Put(ctx context.Context, key string, size int64, body io.ReadSeeker, o bucket.PutOptions) error {
	c.puts.Add(1)
	return c.Bucket.Put(ctx, key, size, body, o)
}

func openBucket(t *testing.T) *countedBucket {
	b, err := bucket.Open(t.Context(), "file://"+t.TempDir(), bucket.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &countedBucket{Bucket: b}
}

// keys returns the keys of a bucket.
func keys(t *testing.T, b bucket.Bucket) (all []string) {
	for info, err := range b.List(t.Context(), "", "") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Key)
	}
	return all
}

func TestOldParcelsAreRemovedFromTheBucketAndNothingElse(t *testing.T) {
	b := openBucket(t)
	for _, key := range []string{"parcels/LEFTBYAWORKERTHATWASKILLED", "000000000001-pack", "parcels-of-another/x"} {
		if err := b.Put(t.Context(), key, 1, strings.NewReader("x"), bucket.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	light := &beacon{bucket: b, log: slog.New(slog.DiscardHandler)}
	light.light(t.Context())
	own := parcelPrefix + *light.name.Load()
	if n, err := light.sweep(t.Context(), time.Now().Add(parcelAge/2)); n != 0 || err != nil {
		t.Errorf("young parcels: %d were removed, %v", n, err)
	}
	if n, err := light.sweep(t.Context(), time.Now().Add(2*parcelAge)); n != 1 || err != nil {
		t.Errorf("old parcels: %d were removed, %v", n, err)
	}
	if got, want := keys(t, b), []string{"000000000001-pack", "parcels-of-another/x", own}; !slices.Equal(got, want) {
		t.Errorf("left are %v, expected %v", got, want)
	}
}

// orNil returns a bucket as an Option wants it.
func orNil(b *countedBucket) bucket.Bucket {
	if b == nil {
		return nil
	}
	return b
}

func testWorkersOverNATS(t *testing.T, ofWriter, ofWorkers *countedBucket) {
	var urls []string
	for h := range 12 {
		for i := range 5 {
			urls = append(urls, fmt.Sprintf("http://h%d.example/%d", h, i))
		}
	}
	b := newBench(t, 2*time.Second, urls...)
	address := freePort(t)
	w := NewWriter(WriterOptions{DeskOptions: b.o, Bucket: orNil(ofWriter),
		Embedded: &ServerOptions{Listen: address, Dir: t.TempDir(), Token: "secret"}})
	b.Desk = w.Desk
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- w.Run(ctx) }()

	var inside sync.Map // hosts with a visit
	large := strings.Repeat("x", 600<<10)
	visit := func(ctx context.Context, gate *politeness.Gate, job Job) (*Sent, error) {
		host := hostOf(strings.TrimSuffix(job.URL, job.URL[strings.LastIndex(job.URL, "/"):]))
		pass, err := gate.Enter(ctx, host)
		if err != nil {
			return nil, err
		}
		if _, twice := inside.LoadOrStore(host, true); twice {
			t.Errorf("two visits of %s at a time", host)
		}
		time.Sleep(2 * time.Millisecond)
		inside.Delete(host)
		pass(politeness.Result{})
		body := "body of " + job.URL
		if strings.HasSuffix(job.URL, "/3") {
			body += large
		}
		return &Sent{Ended: time.Now(), Parcel: &text{strings.NewReader(body)}, Finding: Finding{
			Exchange: Exchange{Status: 200}, Body: &Body{Size: int64(len(body))}, Kept: &Kept{Type: "text/plain"}}}, nil
	}
	start := func(name string) (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		a, err := ParseAddress("nats://secret@" + address)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		work := NewWorker(WorkerOptions{Address: a, Name: name, Hosts: 4, Bucket: orNil(ofWorkers), Log: slog.New(slog.DiscardHandler),
			Build: func(w *Worker, by Welcome) (Kit, error) {
				gate := politeness.New(politeness.Options{Delay: -1, Borrow: w.Borrow, Fetched: w.Fetched})
				return Kit{Gate: gate, Visit: func(ctx context.Context, j Job) (*Sent, error) { return visit(ctx, gate, j) },
					Outage: func() (string, time.Time) { return "", time.Time{} }, Close: func() error { return nil }}, nil
			}})
		go func() { done <- work.Run(ctx) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	end1, end2 := start("one"), start("two")
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		b.office.mu.Lock()
		n := len(b.office.commits)
		b.office.mu.Unlock()
		if n == len(urls) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d URLs were visited; %+v", n, len(urls), w.Desk.Status())
		}
	}
	for _, u := range urls {
		if n := b.office.commits[u]; n != 1 {
			t.Errorf("%s was committed %d times", u, n)
		}
		if got := b.office.parcels[u]; !strings.HasPrefix(got, "body of "+u) ||
			strings.HasSuffix(u, "/3") != strings.HasSuffix(got, large) {
			t.Errorf("%s: a parcel of %d bytes", u, len(got))
		}
	}
	end1()
	end2()
	stop()
	if err := <-ran; err != nil {
		t.Errorf("the writer: %v", err)
	}
	if o, ok, err := frontier.Marked(b.office.db); err != nil || !ok || !o.Returned {
		t.Errorf("after a clean end the mark is %+v, %v, %v", o, ok, err)
	}
}

type text struct{ *strings.Reader }

func (t *text) Close() error { return nil }

func TestAServerBeyondLoopbackNeedsCredentials(t *testing.T) {
	for listen, want := range map[string]bool{"127.0.0.1:4222": true, "localhost:4222": true, "[::1]:4222": true, "0.0.0.0:4222": false,
		":4222": false, "10.0.0.1:4222": false} {
		if err := (ServerOptions{Listen: listen}).CheckListen(); (err == nil) != want {
			t.Errorf("%s: %v", listen, err)
		}
		if err := (ServerOptions{Listen: listen, Token: "x"}).CheckListen(); err != nil {
			t.Errorf("%s with a token: %v", listen, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for in, want := range map[string]Address{
		"nats://h:4222":             {"nats://h:4222", "odarchive"},
		"nats://u:p@h:4222/weather": {"nats://u:p@h:4222", "weather"},
		"tls://a:1/x,tls://b:1/x":   {"tls://a:1,tls://b:1", "x"},
	} {
		if got, err := ParseAddress(in); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "h:4222", "http://h", "nats://h/a.b", "nats://h/x,nats://h/y", "nats://h/*"} {
		if got, err := ParseAddress(in); err == nil {
			t.Errorf("%q: accepted as %+v", in, got)
		}
	}
	if a, _ := ParseAddress("nats://u:hunter2@h:4222"); strings.Contains(a.String(), "hunter2") {
		t.Errorf("the password is shown: %s", a)
	}
}

func FuzzDecodeResults(f *testing.F) {
	r := &Result{Version: Version, Worker: "w", Job: Key{Ref{"a.example", 1}, "k"},
		Finding: Finding{Exchange: Exchange{Outcome: catalog.Unchanged}}, Inside: []byte("in"), Parcel: []byte("p")}
	one, err := r.Encode()
	if err != nil {
		f.Fatal(err)
	}
	b := EncodeResults([][]byte{one, one})
	f.Add(b)
	f.Add(b[:20])
	f.Add(b[:len(b)-5])
	f.Fuzz(func(t *testing.T, b []byte) {
		results, bad := DecodeResults(b)
		for _, err := range bad {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v is not ErrMalformed", err)
			}
		}
		for _, r := range results {
			again, err := r.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := decodeResult(again); err != nil {
				t.Fatalf("what was decoded cannot be decoded again: %v", err)
			}
		}
	})
}

func TestAMalformedResultIsLeftOutOfItsMessageAndTheOthersAreNot(t *testing.T) {
	var all [][]byte
	for i := range 4 {
		r := &Result{Version: Version, Worker: "w", Job: Key{Ref{"a.example", 1}, fmt.Sprint("k", i)},
			Finding: Finding{Exchange: Exchange{Outcome: catalog.Unchanged}}}
		if i == 1 {
			r.Finding.Exchange.Status = -1
		}
		b, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	keys := func(b []byte) (keys []string, bad int) {
		results, malformed := DecodeResults(b)
		for _, r := range results {
			keys = append(keys, r.Job.Key)
		}
		return keys, len(malformed)
	}
	whole := EncodeResults(all)
	if got, bad := keys(whole); !slices.Equal(got, []string{"k0", "k2", "k3"}) || bad != 1 {
		t.Errorf("of the whole message: %v, %d malformed", got, bad)
	}
	if got, bad := keys(whole[:len(whole)-1]); !slices.Equal(got, []string{"k0", "k2"}) || bad != 2 {
		t.Errorf("of the message without its last byte: %v, %d malformed", got, bad)
	}
	if got, bad := keys(EncodeResults(slices.Repeat(all[:1], maxResultsInOne+1))); len(got) != maxResultsInOne || bad != 1 {
		t.Errorf("of a message with too many results: %d, %d malformed", len(got), bad)
	}
}

func TestMalformedResultsAreRecognised(t *testing.T) {
	good := func() *Result {
		return &Result{Version: Version, Worker: "w", Job: Key{Ref{"a.example", 1}, "k"}, Parcel: []byte("p"), Finding: Finding{
			Exchange: Exchange{Status: 200}, Body: &Body{Size: 1}, Kept: &Kept{Type: "text/csv"}}}
	}
	for name, change := range map[string]func(*Result){
		"another version": func(r *Result) { r.Version++ }, "no job": func(r *Result) { r.Job.Key = "" },
		"no outcome":          func(r *Result) { r.Finding.Kept = nil },
		"an archived version": func(r *Result) { r.Finding.Exchange.Outcome = catalog.Archived },
		"no parcel":           func(r *Result) { r.Parcel = nil }, "no body": func(r *Result) { r.Finding.Body = nil },
		"an empty body":   func(r *Result) { r.Finding.Body.Size = 0 },
		"a negative time": func(r *Result) { r.Age = -1 },
		"a long text":     func(r *Result) { r.Finding.Exchange.Why = strings.Repeat("x", maxText+1) },
		"a part that is another key of the bucket": func(r *Result) { r.Object = "../000000000001" },
		"a part that is the writer's":              func(r *Result) { r.Beside = beaconPrefix + strings.Repeat("A", 26) },
		"half a digest":                            func(r *Result) { r.Finding.Kept.Head = []byte{1} },
		"many requests":                            func(r *Result) { r.Passages = make([]politeness.Result, maxPassages+1) },
		"an impossible status":                     func(r *Result) { r.Finding.Exchange.Status = 1000 },
		"a final URL that is none":                 func(r *Result) { r.Finding.Exchange.FinalURL = `x"\` },
		"a final URL of a file":                    func(r *Result) { r.Finding.Exchange.FinalURL = "file:///etc/passwd" },
		"a final URL without a host":               func(r *Result) { r.Finding.Exchange.FinalURL = "http:///x" },
		"a final URL with a space":                 func(r *Result) { r.Finding.Exchange.FinalURL = "http://x/ y>z" },
		"a final URL with a line":                  func(r *Result) { r.Finding.Exchange.FinalURL = "http://x/\n" },
		"a request of no URL":                      func(r *Result) { r.Finding.Exchange.Hops = []Hop{{Status: 200}} },
		"a request of another scheme":              func(r *Result) { r.Finding.Exchange.Hops = []Hop{{URL: "ldap://x/", Status: 200}} },
		"an invented error class":                  func(r *Result) { r.Finding.Exchange.ErrorClass = "evil" },
		"a field of two lines": func(r *Result) {
			r.Finding.Exchange.ResponseHeader = http.Header{"X": {"a\r\nEvil: 1"}}
		},
		"a field with a bad name": func(r *Result) { r.Finding.Exchange.RequestHeader = http.Header{"X: a\r\nY": {"a"}} },
	} {
		r := good()
		change(r)
		b, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := decodeResult(b); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	b, _ := good().Encode()
	r, err := decodeResult(b)
	if err != nil || string(r.Parcel) != "p" {
		t.Errorf("a sound result: %v", err)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// TestResultsThatAreComparedAreCommittedInTheirOrder is about pages that may be error pages: whether the third one is
// depends on whether the first two are recorded. They all arrive at once if the writer was slow.
func TestResultsThatAreComparedAreCommittedInTheirOrder(t *testing.T) {
	var urls []string
	for i := range 6 {
		urls = append(urls, fmt.Sprintf("http://a.example/%d", i))
	}
	b := newBench(t, time.Minute, urls...)
	b.Hello(Hello{Version: Version, Worker: "w"})
	g := b.grant(t, "w")
	var want []string
	var claims []Claimed
	for i, job := range g.Jobs {
		c, v, ok := b.Claim(&Result{Version: Version, Worker: "w", Job: Key{g.Ref, job.Key}, Last: i == len(g.Jobs)-1,
			Finding: Finding{Compare: true}})
		if !ok {
			t.Fatal(v)
		}
		want, claims = append(want, job.URL), append(claims, c)
	}
	var group sync.WaitGroup
	for _, c := range slices.Backward(claims) {
		started := make(chan struct{})
		group.Go(func() {
			close(started)
			if v := b.Commit(t.Context(), c, noParcel); v != Committed {
				t.Errorf("%s: %s", c.job.URL, v)
			}
		})
		<-started
		runtime.Gosched()
	}
	group.Wait()
	if !slices.Equal(b.office.order, want) {
		t.Errorf("committed were %v, expected %v", b.office.order, want)
	}
}

func TestOnlyWhatNamesAHostIsLent(t *testing.T) {
	for name, want := range map[string]bool{
		"a.example": true, "a.example:8080": true, "a.example:443": true, "a.example:80": true, "127.0.0.1:41000": true,
		"[::1]:41000": true, "xn--bcher-kva.example": true,
		"": false, "[::1": false, "%zz": false, "127.0.0.1:1/../x": false, "a.example/": false, "user@a.example": false, "A.example": false,
		"a b":                       false,
		strings.Repeat("a", 20_000): false,
	} {
		if got := isHost(name); got != want {
			t.Errorf("%.40q: %v", name, got)
		}
	}
}

func TestWorkersThatOnlySayHelloKeepNobodyOut(t *testing.T) {
	b := newBench(t, time.Minute, "http://a.example/1", "http://b.example/1")
	b.Hello(Hello{Version: Version, Worker: "first"})
	if g := b.grant(t, "first"); g == nil {
		t.Fatal("nothing was granted")
	}
	for i := range maxWorkers + 10 {
		b.Hello(Hello{Version: Version, Worker: fmt.Sprint("flood ", i)})
	}
	b.Hello(Hello{Version: Version, Worker: "last"})
	if b.workers["first"] == nil || b.workers["last"] == nil || len(b.workers) > maxWorkers {
		t.Errorf("of %d workers: the one with a lease %v, the last one %v", len(b.workers), b.workers["first"] != nil,
			b.workers["last"] != nil)
	}
}

// TestAWorkerSaysWhyTheArchiveCannotBeReached is about its first sentence, when it starts before the archive.
func TestAWorkerSaysWhyTheArchiveCannotBeReached(t *testing.T) {
	a, err := ParseAddress("nats://" + freePort(t))
	if err != nil {
		t.Fatal(err)
	}
	c, err := connect(a, Credentials{}, "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer c.nc.Close()
	for range 5 {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		err = c.ask(ctx, subjectHello, Hello{}, &Welcome{})
		cancel()
		if why := c.why(err); errors.Is(why, nats.ErrReconnectBufExceeded) || why == nil {
			t.Fatalf("the reason is said to be %v", why)
		}
	}
}

func TestAWorkerThatWasStoppedAsksForNothingForTheTimeOfALease(t *testing.T) {
	w := NewWorker(WorkerOptions{Log: slog.New(slog.DiscardHandler)})
	w.by.Lease = 4 * time.Second
	at := time.Now()
	for _, c := range []struct {
		after time.Duration
		rests bool
	}{{0, false}, {time.Second, false}, {3 * time.Second, true}, {3500 * time.Millisecond, true}, {4500 * time.Millisecond, true},
		{5500 * time.Millisecond, true}, {6500 * time.Millisecond, true}, {7100 * time.Millisecond, false}} {
		if got := w.rests(at.Add(c.after)); got != c.rests {
			t.Errorf("after %s: rests %v", c.after, got)
		}
	}
}

func TestARequestIsPermittedOnlyUnderALease(t *testing.T) {
	w := NewWorker(WorkerOptions{Log: slog.New(slog.DiscardHandler)})
	w.by.Lease = 8 * time.Second
	if w.Permit("a.example") == nil {
		t.Error("a request without a lease is permitted")
	}
	lost := error(nil)
	asked := time.Now()
	h := w.hold(&Grant{Ref: Ref{"a.example", 1}}, asked, func(cause error) { lost = cause })
	if not := w.Permit("a.example"); not != nil {
		t.Errorf("a request under a lease is not permitted: %v", not)
	}
	w.mu.Lock()
	if h.over(asked.Add(6900*time.Millisecond)) || !h.over(asked.Add(7*time.Second)) {
		t.Error("a lease of 8 s does not end a second earlier")
	}
	h.set(asked.Add(-10*time.Second), w.by.Lease)
	w.mu.Unlock()
	if w.Permit("a.example") == nil {
		t.Error("a request under a lease that has ended is permitted, before anybody noticed its end")
	}
	w.mu.Lock()
	h.set(time.Now(), w.by.Lease)
	h.wall = time.Now().Add(-time.Second).Round(0) // the machine was suspended, and its monotonic clock with it
	w.mu.Unlock()
	if w.Permit("a.example") == nil {
		t.Error("a request is permitted although the lease has ended by the wall clock")
	}
	w.mu.Lock()
	w.lose(h)
	w.mu.Unlock()
	if !errors.Is(lost, ErrLeaseOver) || w.Permit("a.example") == nil {
		t.Errorf("after its loss: visit ended with %v", lost)
	}
	if late := w.hold(&Grant{Ref: Ref{"b.example", 2}}, time.Now().Add(-time.Minute), func(error) {}); late != nil {
		t.Error("an answer that came after the end of its lease is used")
	}
}
