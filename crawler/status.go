package crawler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"odarchive/crawler/archive/series"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/supervise"
	"odarchive/crawler/web/politeness"
)

// Status is the state of the crawl at a moment.
type Status struct {
	Held     string                  `json:"held"`  // why no leases are granted; "" if they are
	Waits    string                  `json:"waits"` // what the crawl waits for, in one sentence; "" while hosts are being visited
	URLs     int                     `json:"urls"`
	Hosts    int                     `json:"hosts"`
	Visits   int                     `json:"visits"`
	Outcomes map[catalog.Outcome]int `json:"outcomes"`
	Active   int                     `json:"active"`  // hosts being visited
	Waiting  map[string]int          `json:"waiting"` // recently visited hosts that must be waited for, by reason
	NextDue  time.Time               `json:"nextDue,omitzero"`
	Queue    Waits                   `json:"queue"`    // what is due, and what of that waits for its host
	Unjoined int                     `json:"unjoined"` // versions whose columns are not indexed yet
	Internal Internal                `json:"internal"` // faults of this program with single URLs

	Jobs []supervise.Job `json:"jobs"` // the background jobs

	Workers *Workers `json:"workers,omitempty"` // nil if no other processes may fetch

	// The following are counted since this process began to crawl.
	Since   time.Time `json:"since,omitzero"`
	Fetches int       `json:"fetches"`
	Failed  int       `json:"failed"`
	Kept    int       `json:"kept"` // new versions
	Bytes   int64     `json:"bytes"`
	Rate    float64   `json:"rate"` // fetches a second, over the last minute

	Errors map[catalog.ErrorClass]int `json:"errors"` // by class
}

// Workers is the state of the processes that fetch for this one.
type Workers struct {
	Served bool `json:"served"` // they can reach this process
	dispatch.Status
}

// Unnamed returns the state with numbers instead of the names of workers, which tell machines and processes.
func (w Workers) Unnamed() *Workers {
	w.Workers = slices.Clone(w.Workers)
	for i := range w.Workers {
		w.Workers[i].Name = fmt.Sprintf("worker %d", i+1)
	}
	return &w
}

// Internal describes the faults of this program with single URLs.
type Internal struct {
	Count  int                       `json:"count"`  // URLs with such a fault
	Newest []catalog.InternalFailure `json:"newest"` // at most maxInternalShown of them
	Since  int64                     `json:"since"`  // faults since this process began, of any URL
}

// maxInternalShown limits the internal failures that a Status lists.
const maxInternalShown = 20

// HostStatus is the state of the crawl of one host.
type HostStatus struct {
	Host string `json:"host"`
	// busy, waiting, due, idle; what is due behind a closed door waits, and the host does not
	State    string    `json:"state"`
	Wait     string    `json:"wait,omitempty"`   // politeness, robots, robots-unread, retry-after, back-off
	Next     time.Time `json:"next,omitzero"`    // when it may be asked again, or its next URL is due
	Delay    float64   `json:"delay"`            // seconds between two requests at present
	Latency  float64   `json:"latency,omitzero"` // seconds until the first byte, smoothed; absent if not visited recently
	URLs     int       `json:"urls"`
	Due      int       `json:"due"` // at most frontier.MaxDueCounted
	Visits   int       `json:"visits"`
	Versions int       `json:"versions"`
	Bytes    int64     `json:"bytes"`
	Failures int       `json:"failures"` // failed requests since the gate loaded the host
	// doors (scheme, host and port) whose files must not be asked for; others may be
	Closed    []HostWait              `json:"closed,omitempty"`
	Outcomes  map[catalog.Outcome]int `json:"outcomes"`
	LastVisit time.Time               `json:"lastVisit,omitzero"`
}

// Status returns the state of the crawl.
func (p *Pipeline) Status() (Status, error) {
	f, err := p.Frontier.Stats()
	if err != nil {
		return Status{}, err
	}
	jobs := p.Jobs.List()
	if jobs == nil {
		jobs = []supervise.Job{}
	}
	s := Status{Held: f.Held, URLs: f.URLs, Hosts: f.Hosts, Visits: f.Visits, Outcomes: f.Outcomes, Active: f.Leased, NextDue: f.NextDue,
		Waiting: map[string]int{}, Unjoined: p.Archive.Unjoined(), Jobs: jobs}
	for _, h := range p.Gate.Hosts() {
		if h.State == "waiting" {
			s.Waiting[h.Wait]++
		}
	}
	if s.Internal.Newest, s.Internal.Count, err = p.Archive.InternalFailures(context.Background(), maxInternalShown); err != nil {
		return Status{}, err
	}
	if s.Internal.Newest == nil {
		s.Internal.Newest = []catalog.InternalFailure{} // [] in JSON
	}
	if p.Elsewhere != nil {
		workers := p.Elsewhere()
		s.Workers = &workers
	}
	s.Internal.Since = p.faults.Load()
	p.progress.into(&s)
	if s.Queue, err = p.recentWaits(); err != nil {
		return Status{}, err
	}
	s.Waits = s.waits()
	return s, nil
}

// Active returns the number of hosts being visited, and the number of recently visited hosts that must be waited for.
func (p *Pipeline) Active() (visited, waiting int) {
	return p.Frontier.Leased(), p.Gate.Waiting()
}

func (s Status) waits() string {
	switch {
	case s.Held != "":
		return s.Held
	case s.Active > 0:
		return ""
	case s.Queue.Askable > 0:
		return ""
	}
	return s.Queue.String()
}

// Series returns what was visited over time: series.Read.
func (p *Pipeline) Series(from, to time.Time, step time.Duration) ([]series.Slot, error) {
	return series.Read(p.Archive.DB(), from, to, step)
}

// Hosts returns the hosts whose names sort after after, in that order, at most limit of them (0: all).
func (p *Pipeline) Hosts(after string, limit int) ([]HostStatus, error) {
	infos, err := p.Frontier.Hosts(after, limit)
	if err != nil {
		return nil, err
	}
	all := make([]HostStatus, len(infos))
	for i, info := range infos {
		at, _ := p.Gate.Status(info.Group)
		all[i] = p.hostStatus(info, at)
	}
	return all, nil
}

// Host returns the state of one host, and false if none of its URLs is registered.
func (p *Pipeline) Host(name string) (HostStatus, bool, error) {
	info, known, err := p.Frontier.Host(name)
	if err != nil || !known {
		return HostStatus{}, false, err
	}
	at, _ := p.Gate.Status(name)
	return p.hostStatus(info, at), true, nil
}

// hostStatus combines what the frontier and the gate report. The gate uses the machine's clock, the frontier the
// archive's.
func (p *Pipeline) hostStatus(info frontier.HostInfo, gate politeness.Status) HostStatus {
	now := p.Clock()
	s := HostStatus{
		Host: info.Group, State: "idle", Next: info.NextDue, Delay: gate.Delay.Seconds(), Latency: gate.Latency.Seconds(), URLs: info.URLs,
		Due:    info.Due,
		Visits: info.Visits, Versions: info.Versions, Bytes: info.Bytes, Failures: gate.Failures, Outcomes: info.Outcomes,
		LastVisit: info.LastVisit,
	}
	if info.Due > 0 {
		s.State = "due"
	}
	later := func(until time.Time, why string) {
		s.State, s.Wait = "waiting", why
		if until.After(s.Next) {
			s.Next = until
		}
	}
	behind := 0
	for _, d := range info.Closed {
		s.Closed = append(s.Closed, p.hostWait(frontier.Wait{Host: info.Group, Door: d.Door, Due: d.Due, Until: d.NotBefore, Why: d.Wait}))
		behind += d.Due
	}
	switch {
	case info.Wait != "":
		later(info.NotBefore, info.Wait)
	case behind > 0 && behind == info.Due: // the host may be asked, though for nothing that is due
		first := slices.MinFunc(info.Closed, func(a, b frontier.ClosedDoor) int { return a.NotBefore.Compare(b.NotBefore) })
		s.Next = first.NotBefore
	case gate.State == "waiting" && len(gate.Closed) == 0:
		later(now.Add(time.Until(gate.Next)), gate.Wait)
	}
	if info.Leased || gate.State == "busy" {
		s.State = "busy"
	}
	return s
}

// progress counts the visits of this process. The zero value is ready to use.
type progress struct {
	mu      sync.Mutex // guards what follows
	since   time.Time
	sofar   Summary
	errors  map[catalog.ErrorClass]int
	seconds [60]struct {
		at int64
		n  int
	}
}

func (p *progress) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.since.IsZero() {
		p.since = time.Now()
	}
}

func (p *progress) add(r Report) {
	now := time.Now().Unix()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sofar.Add(r)
	if r.ErrorClass != "" {
		if p.errors == nil {
			p.errors = map[catalog.ErrorClass]int{}
		}
		p.errors[r.ErrorClass]++
	}
	second := &p.seconds[now%int64(len(p.seconds))]
	if second.at != now {
		second.at, second.n = now, 0
	}
	second.n++
}

func (p *progress) into(s *Status) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Since, s.Fetches, s.Bytes, s.Kept = p.since, p.sofar.Fetches, p.sofar.Bytes, p.sofar.Outcomes[catalog.Archived]
	s.Errors = map[catalog.ErrorClass]int{} // {} in JSON
	maps.Copy(s.Errors, p.errors)
	s.Failed = p.sofar.Outcomes[catalog.NoVersion] + p.sofar.Outcomes[catalog.RetryLater]
	n := 0
	for _, second := range p.seconds {
		if now.Unix()-second.at < int64(len(p.seconds)) {
			n += second.n
		}
	}
	if p.since.IsZero() {
		return
	}
	s.Rate = float64(n) / max(1, min(now.Sub(p.since).Seconds(), float64(len(p.seconds))))
}
