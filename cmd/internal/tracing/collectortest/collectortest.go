// Package collectortest has a collector of OpenTelemetry for tests, which keeps the spans that it is sent over HTTP.
package collectortest

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector keeps spans. Its methods may be called concurrently.
type Collector struct {
	URL string // for OTEL_EXPORTER_OTLP_ENDPOINT

	mu      sync.Mutex // guards what follows
	spans   []Span
	changed chan struct{}
}

// Span is a span that was exported.
type Span struct {
	*otlp.Span
	Service string // its process, as service.instance.id or service.name
}

// Trace returns the id of the span's trace, in hexadecimal digits.
func (s Span) Trace() string { return hex.EncodeToString(s.TraceId) }

// Attr returns an attribute as text, "" if there is none of this name.
func (s Span) Attr(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.GetStringValue()
		}
	}
	return ""
}

// Start starts a collector, which stops when the test ends.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{changed: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(c.receive))
	t.Cleanup(server.Close)
	c.URL = server.URL
	return c
}

// maxMessage bounds what one message may hold, in bytes.
const maxMessage = 16 << 20

func (c *Collector) receive(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = z
	}
	raw, err := io.ReadAll(io.LimitReader(body, maxMessage))
	var message collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &message)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "not spans", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, process := range message.ResourceSpans {
		service := ""
		for _, a := range process.Resource.GetAttributes() {
			if a.Key == "service.name" && service == "" || a.Key == "service.instance.id" {
				service = a.Value.GetStringValue()
			}
		}
		for _, scope := range process.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, Span{s, service})
			}
		}
	}
	close(c.changed)
	c.changed = make(chan struct{})
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Spans returns the spans that have come.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Await waits until enough is true of the spans that have come, and returns them. It fails the test after a minute.
func (c *Collector) Await(t testing.TB, enough func([]Span) bool) []Span {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		c.mu.Lock()
		spans, changed := slices.Clone(c.spans), c.changed
		c.mu.Unlock()
		if enough(spans) {
			return spans
		}
		select {
		case <-changed:
		case <-timeout:
			names := make([]string, len(spans))
			for i, s := range spans {
				names[i] = s.Service + ": " + s.Name
			}
			t.Fatalf("the spans that were awaited did not come; there are %q", names)
		}
	}
}
