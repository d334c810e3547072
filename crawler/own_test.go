package crawler

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/schedule"
	"odarchive/triplestore/kv"
)

// sites starts n loopback hosts on one port, with a file each.
func sites(t *testing.T, n *node, hosts int) (s *site, urls []string) {
	s = newSite(t)
	s.set("/a.csv", "id,name\n1,Ada\n")
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for i := range hosts {
		urls = append(urls, fmt.Sprintf("http://127.0.1.%d:%s/a.csv", i+1, port))
	}
	// All loopback addresses reach the listener of 127.0.0.1 this way.
	to := s.Listener.Addr().String()
	n.redirect.Store(&to)
	n.add(t, urls...)
	return s, urls
}

func dialError(errno syscall.Errno) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)}
}

func TestACrawlWithoutDescriptorsWaitsAndRecordsNothingOfItsHosts(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, urls := sites(t, n, 20)
	var dials atomic.Int64
	dial := func(string) error {
		if dials.Add(1) <= 6 {
			return dialError(syscall.EMFILE)
		}
		return nil
	}
	n.dial.Store(&dial)
	var reports []Report
	_, err := n.Run(t.Context(), RunOptions{Once: true, Report: func(r Report) { reports = append(reports, r) }})
	if err != nil || len(reports) != len(urls) {
		t.Fatalf("%d reports, %v; want %d", len(reports), err, len(urls))
	}
	for _, r := range reports {
		if r.Outcome != catalog.Archived {
			t.Errorf("%+v", r)
		}
	}
	for _, h := range n.Gate.Hosts() {
		if h.Failures > 0 {
			t.Errorf("failures are held against %+v", h)
		}
	}
}

func TestNothingIsKeptOfARobotsFileThatOurTroubleKeptFromUs(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, urls := sites(t, n, 1)
	failing := func(string) error { return dialError(syscall.ENOBUFS) }
	n.dial.Store(&failing)
	lease, err := n.Pipeline.Frontier.TryLease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	job, _ := lease.Next()
	if r, err := n.Visit(t.Context(), lease, job); err == nil {
		t.Fatalf("a visit in trouble: %+v", r)
	}
	kept := 0
	err = n.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpacePoliteness, nil, nil, func(_, _ []byte) (bool, error) { kept++; return true, nil })
	})
	u, uerr := n.Pipeline.Frontier.Get(urls[0])
	if err != nil || uerr != nil || kept != 0 || u.Fetches != 0 || u.Errors != 0 {
		t.Errorf("%d records of politeness, %+v, %v, %v", kept, u, err, uerr)
	}
	if !strings.Contains(n.Pipeline.Outage(), "too little memory") {
		t.Errorf("held: %q", n.Pipeline.Outage())
	}
	n.dial.Store(nil)
	if err := n.Pipeline.Frontier.Release(t.Context(), lease, time.Time{}, ""); err != nil {
		t.Fatal(err)
	}
	if r := n.crawl(t, RunOptions{})["/a.csv"]; r.Outcome != catalog.Archived {
		t.Errorf("after the trouble: %+v", r)
	}
}

func TestANetworkThatGoesDownIsRecordedOfNoHost(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	s, urls := sites(t, n, 12)
	n.crawl(t, RunOptions{})
	n.clock.advance(30 * 24 * time.Hour)
	s.set("/a.csv", "id,name\n1,Ada\n2,Bob\n")
	var mu sync.Mutex
	asked := map[string]int{}
	down := func(address string) error {
		mu.Lock()
		defer mu.Unlock()
		asked[address]++
		return dialError(syscall.EHOSTUNREACH)
	}
	n.dial.Store(&down)
	n.Fetcher.Close() // closes the connections from before
	n.Workers = 2
	var reports []Report
	ctx, stop := contextUntil(t, func() bool { return n.Pipeline.Outage() != "" })
	_, err := n.Run(ctx, RunOptions{Report: func(r Report) { reports = append(reports, r) }})
	stop()
	if len(reports) != 0 {
		t.Errorf("%v: recorded of hosts: %+v", err, reports)
	}
	for _, u := range urls {
		if got, err := n.Pipeline.Frontier.Get(u); err != nil || got.Fetches != 1 || got.Errors != 0 {
			t.Errorf("%s: %d fetches, %d errors, %v", u, got.Fetches, got.Errors, err)
		}
	}
	if s, err := n.Status(); err != nil || !strings.Contains(s.Held, "the network may be down: ") {
		t.Errorf("held: %q, %v", s.Held, err)
	}
}

func TestASingleHostThatDiesIsRecorded(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	sites(t, n, 1)
	n.crawl(t, RunOptions{})
	n.clock.advance(30 * 24 * time.Hour)
	down := func(string) error { return dialError(syscall.EHOSTUNREACH) }
	n.dial.Store(&down)
	n.Fetcher.Close()
	if r := n.crawl(t, RunOptions{})["/a.csv"]; r.Outcome != catalog.NoVersion || r.ErrorClass != catalog.ErrNetwork {
		t.Errorf("%+v", r)
	}
}

func TestAFaultInOneVisitEndsNoCrawl(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, urls := sites(t, n, 6)
	n.dialInVisit(t, func(address string) error {
		if strings.HasPrefix(address, "127.0.1.3:") {
			panic("a fault of ours")
		}
		return nil
	})
	archived := 0
	_, err := n.Run(t.Context(), RunOptions{Once: true, Report: func(r Report) {
		if r.Outcome == catalog.Archived {
			archived++
		}
	}})
	if err != nil || archived != len(urls)-1 {
		t.Errorf("%d of %d archived, %v", archived, len(urls), err)
	}
	u, err := n.Pipeline.Frontier.Get(urls[2])
	if err != nil || u.Errors != 1 || u.Due.Sub(n.clock.now()) < time.Minute {
		t.Errorf("the URL with the fault: %+v, %v", u, err)
	}
	n.dialInVisit(t, func(string) error { return nil })
	if _, err := n.Requeue(t.Context(), urls[2]); err != nil {
		t.Fatal(err)
	}
	if r := n.crawl(t, RunOptions{}); len(r) != 1 || r["/a.csv"].Outcome != catalog.Archived {
		t.Errorf("asked for again: %+v", r)
	}
	if r, err := n.Pipeline.Frontier.Check(t.Context(), false); err != nil || r.Found != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAURLWithAFaultDoesNotHoldUpTheOthersOfItsHost(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	for _, name := range []string{"/1.csv", "/2.csv", "/3.csv"} {
		s.set(name, "id,name\n1,"+name+"\n")
		n.add(t, s.URL+name)
	}
	n.Pipeline.Schedule = faultAt{schedule.PaperRule{}, "/1.csv"}
	if got := n.crawl(t, RunOptions{}); len(got) != 2 || got["/2.csv"].Outcome != catalog.Archived ||
		got["/3.csv"].Outcome != catalog.Archived {
		t.Errorf("%+v", got)
	}
}

// faultAt is a schedule that panics for one file.
type faultAt struct {
	schedule.Rule
	path string
}

func (f faultAt) Next(key string, declared time.Duration, history []schedule.Visit, now time.Time) (time.Time, string) {
	if strings.HasSuffix(key, f.path) {
		panic("a fault of ours")
	}
	return f.Rule.Next(key, declared, history, now)
}

func TestURLsAreSetAsideAndFaultsOfManyHostsInARowAreTheArchives(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	sites(t, n, maxAside)
	fault := errors.New("a fault of ours")
	r := &run{Pipeline: n.Pipeline}
	for i := range maxAside {
		lease, err := n.Pipeline.Frontier.TryLease(t.Context())
		if err != nil || lease == nil {
			t.Fatal(lease, err)
		}
		job, _ := lease.Next()
		if err := r.postpone(t.Context(), lease, job, fault); (err != nil) != (i == maxAside-1) {
			t.Errorf("host %d in a row: %v", i+1, err)
		}
		u, err := n.Pipeline.Frontier.Get(job.URL)
		if err != nil || u.Fetches != 0 || u.Errors != 1 || !strings.Contains(u.Why, "a fault of ours") ||
			u.Due.Sub(n.clock.now()) < time.Minute {
			t.Errorf("%+v, %v", u, err)
		}
	}
}

func TestACrawlEndsWhenWritesAreStopped(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	sites(t, n, 3)
	n.db.StopWrites(errors.New("the disk is gone"))
	for _, once := range []bool{true, false} {
		if _, err := n.Run(t.Context(), RunOptions{Once: once}); !errors.Is(err, kv.ErrWritesStopped) {
			t.Errorf("once %v: %v", once, err)
		}
	}
	if _, err := n.Pipeline.Frontier.TryLease(t.Context()); errors.Is(err, frontier.ErrPaused) {
		t.Error(err)
	}
}

func TestACrawlGoesOnOverDamagedRecordsOfItsQueueAndOfPoliteness(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	_, urls := sites(t, n, 8)
	n.crawl(t, RunOptions{})
	var keys [][]byte
	spaces := map[string]kv.Space{}
	err := n.db.View(func(txn *kv.Txn) error {
		for _, space := range []kv.Space{kv.SpaceDue, kv.SpaceHosts, kv.SpacePoliteness} {
			err := txn.Scan(space, nil, nil, func(k, _ []byte) (bool, error) {
				if k[0] != '!' && (space != kv.SpaceHosts || k[0] == 't') {
					keys = append(keys, append([]byte(nil), k...))
					spaces[string(k)] = space
				}
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = n.db.Update(t.Context(), func(txn *kv.Txn) error {
			for _, k := range keys {
				if err := txn.Set(spaces[string(k)], k, make([]byte, 55)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil || len(keys) < 3*len(urls) {
		t.Fatal(len(keys), err)
	}
	n.clock.advance(30 * 24 * time.Hour)
	n.restart(t)
	var reports []Report
	if _, err := n.Run(t.Context(), RunOptions{Once: true, Report: func(r Report) { reports = append(reports, r) }}); err != nil ||
		len(reports) != len(urls) {
		t.Fatalf("%d of %d visited, %v", len(reports), len(urls), err)
	}
	for _, r := range reports {
		if r.Outcome != catalog.Unchanged || r.Versions != 1 {
			t.Errorf("%+v", r)
		}
	}
	if r, err := n.Pipeline.Frontier.Check(t.Context(), false); err != nil || r.Found != 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAURLThatWasDroppedBeforeAnybodyListedItCanBeTakenBack(t *testing.T) {
	t.Parallel()
	s, n := newSite(t), newNode(t)
	s.set("/a.csv", "id\n1\n")
	url := s.URL + "/a.csv"
	if done, err := n.Drop(t.Context(), "not yet", url); err != nil || done.URLs != 1 {
		t.Fatal(done, err)
	}
	if got := n.crawl(t, RunOptions{}); len(got) != 0 {
		t.Errorf("dropped, and visited: %+v", got)
	}
	if done, err := n.Requeue(t.Context(), url); err != nil || done.URLs != 1 {
		t.Fatal(done, err)
	}
	if got := n.crawl(t, RunOptions{}); got["/a.csv"].Outcome != catalog.Archived {
		t.Errorf("taken back: %+v", got)
	}
}
