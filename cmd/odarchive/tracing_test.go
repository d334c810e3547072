package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/tracing/collectortest"
)

// traced starts a server as a process whose spans go to a collector under its name, and returns its address.
func traced(t *testing.T, c *collectortest.Collector, name string, args ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close() // the server takes it
	program, err := exec.LookPath("odarchive")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"serve", "--data", t.TempDir(), "--listen", address, "--log-level", "error"}, args...)...)
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_RESOURCE_ATTRIBUTES=service.instance.id="+name, "OTEL_BSP_SCHEDULE_DELAY=50")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		_ = cmd.Wait()                       // likewise
	})
	base := "http://" + address + "/"
	for ctx := t.Context(); ; {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
			return base
		}
		select {
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func TestAQueryOverTwoProcessesIsOneTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two servers")
	}
	t.Parallel()
	c := collectortest.Start(t)
	there := traced(t, c, "there", "--no-crawl")
	here := traced(t, c, "here", "--no-crawl", "--allow-service", there+"sparql", "--allow-private-hosts")
	const parent = "4bf92f3577b34da6a3ce929d0e0e4736"
	query := "SELECT * { SERVICE <" + there + "sparql> { ?secret ?p ?o } } LIMIT 1"
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, here+"sparql?query="+url.QueryEscape(query), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("traceparent", "00-"+parent+"-00f067aa0ba902b7-01")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v: %s", resp.StatusCode, err, body)
	}
	want := []string{"here: GET /sparql", "here: parse", "here: plan", "here: execute", "here: serialise", "here: SERVICE",
		"there: POST /sparql", "there: parse", "there: plan", "there: execute", "there: serialise"}
	named := func(spans []collectortest.Span, name string) *collectortest.Span {
		for i, s := range spans {
			if s.Service+": "+s.Name == name && s.Trace() == parent {
				return &spans[i]
			}
		}
		return nil
	}
	spans := c.Await(t, func(spans []collectortest.Span) bool {
		for _, name := range want {
			if named(spans, name) == nil {
				return false
			}
		}
		return true
	})
	for below, above := range map[string]string{"there: POST /sparql": "here: SERVICE", "here: SERVICE": "here: execute", "here: execute": "here: GET /sparql", "there: plan": "there: execute"} {
		if !bytes.Equal(named(spans, below).ParentSpanId, named(spans, above).SpanId) {
			t.Errorf("%s is not below %s", below, above)
		}
	}
	for _, s := range spans {
		if strings.Contains(s.String(), "secret") {
			t.Errorf("the text of the query is in %v", s)
		}
		if strings.Contains(s.Name, "readyz") {
			t.Error("probes are traced")
		}
	}
}
