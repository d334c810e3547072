package harvest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/triplestore/compression"
)

// Traffic counts requests to a source and its answers. Several goroutines may count; the fields may be read when they
// are done.
type Traffic struct {
	Name     string         `json:"name,omitempty"` // the source's name for itself
	Requests int            `json:"requests"`
	Bytes    int64          `json:"bytes"`   // compressed, as received
	Records  int            `json:"records"` // including deleted ones
	Deleted  int            `json:"deleted"`
	Outside  int            `json:"outside,omitempty"` // records outside the requested period
	Errors   map[string]int `json:"errors,omitempty"`  // failures by kind, including those followed by a successful retry
	Mean     float64        `json:"mean_per_second"`   // records
	Peak     float64        `json:"peak_per_second"`   // records in the fastest second

	mu     sync.Mutex // guards the counts
	began  time.Time
	second int64 // number of the current second since began
	inThis int
}

// Metered is a Harvester that counts its traffic.
type Metered interface{ Counted() *Traffic }

// Begin starts the clock.
func (t *Traffic) Begin(now time.Time) { t.began = now }

// Record counts a record received at the time now.
func (t *Traffic) Record(now time.Time, deleted bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Records++
	if deleted {
		t.Deleted++
	}
	if second := int64(now.Sub(t.began) / time.Second); second != t.second {
		t.second, t.inThis = second, 0
	}
	t.inThis++
	t.Peak = max(t.Peak, float64(t.inThis))
}

// Trouble counts a failure.
func (t *Traffic) Trouble(kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Errors == nil {
		t.Errors = map[string]int{}
	}
	t.Errors[kind]++
}

// End stops the clock and computes the mean rate.
func (t *Traffic) End(now time.Time) {
	if took := now.Sub(t.began).Seconds(); took > 0 {
		t.Mean = float64(t.Records) / max(took, 1) // a rate needs at least a second
	}
	t.Peak = max(t.Peak, t.Mean)
}

// Add adds the counts of another source. Rates add up as if both sources were read at the same time.
func (t *Traffic) Add(o *Traffic) {
	if o == nil {
		return
	}
	t.Requests, t.Bytes, t.Records, t.Deleted, t.Outside = t.Requests+o.Requests, t.Bytes+o.Bytes, t.Records+o.Records, t.Deleted+o.Deleted,
		t.Outside+o.Outside
	t.Mean, t.Peak = t.Mean+o.Mean, t.Peak+o.Peak
	for kind, n := range o.Errors {
		if t.Errors == nil {
			t.Errors = map[string]int{}
		}
		t.Errors[kind] += n
	}
}

// ErrorsByKind returns the failures as text, like "3 http, 1 xml", or "-" if there were none.
func (t *Traffic) ErrorsByKind() string {
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(t.Errors)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", t.Errors[kind], kind))
	}
	if len(kinds) == 0 {
		return "-"
	}
	return strings.Join(kinds, ", ")
}

// Over returns a Doer that sends requests through d, asks for compressed answers, decompresses them, and counts
// requests and bytes.
func (t *Traffic) Over(d Doer) Doer { return metered{d, t} }

type metered struct {
	doer    Doer
	traffic *Traffic
}

func (m metered) Do(req *http.Request) (*http.Response, error) {
	req.Header.Set("Accept-Encoding", "gzip, deflate")
	m.traffic.mu.Lock()
	m.traffic.Requests++
	m.traffic.mu.Unlock()
	resp, err := m.doer.Do(req)
	if err != nil {
		return nil, err
	}
	wire := &meteredBody{resp.Body, m.traffic}
	resp.Body = wire
	if resp.Uncompressed {
		return resp, nil
	}
	format := compression.Gzip
	switch strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding"))) {
	case "gzip", "x-gzip":
	case "deflate":
		format = compression.Deflate
	default:
		return resp, nil
	}
	body, err := compression.Open(wire, format, compression.Options{Lenient: true})
	resp.Body = decoded{body, wire}
	return resp, err
}

type meteredBody struct {
	io.ReadCloser
	traffic *Traffic
}

func (b *meteredBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.traffic.mu.Lock()
	b.traffic.Bytes += int64(n)
	b.traffic.mu.Unlock()
	return n, err
}

// decoded is a decompressed body. Closing it closes the body as it comes over the wire.
type decoded struct {
	io.Reader
	io.Closer
}
