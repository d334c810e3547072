package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/tracing/collectortest"
)

// freeAddress returns an address of this machine on which nobody listens, for a server that is about to start.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// traced starts a server as a process whose spans go to a collector under its name, and returns its address.
func traced(t *testing.T, c *collectortest.Collector, name string, args ...string) string {
	t.Helper()
	address := freeAddress(t)
	tracedProcess(t, c, name, append([]string{"serve", "--data", t.TempDir(), "--listen", address}, args...)...)
	return await(t, address)
}

// tracedProcess starts a process whose spans go to a collector under its name.
func tracedProcess(t *testing.T, c *collectortest.Collector, name string, args ...string) {
	t.Helper()
	program, err := exec.LookPath("odarchive")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append(args, "--log-level", "error")...)
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+c.URL, "OTEL_RESOURCE_ATTRIBUTES=service.instance.id="+name, "OTEL_BSP_SCHEDULE_DELAY=50")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		_ = cmd.Wait()                       // likewise
	})
}

// await waits until a process is ready, and returns its address.
func await(t *testing.T, address string) string {
	t.Helper()
	base := "http://" + address + "/"
	for ctx := t.Context(); ; {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"readyz", nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := http.DefaultClient.Do(r); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return base
			}
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
	named := func(spans []collectortest.Span, name string) *collectortest.Span { return spanOf(spans, parent, name) }
	spans := c.Await(t, func(spans []collectortest.Span) bool { return has(spans, parent, want) })
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

// spanOf returns a span of a trace, by process and name; nil if there is none.
func spanOf(spans []collectortest.Span, trace, name string) *collectortest.Span {
	for i, s := range spans {
		if s.Service+": "+s.Name == name && s.Trace() == trace {
			return &spans[i]
		}
	}
	return nil
}

// has reports whether a trace has all spans that are named.
func has(spans []collectortest.Span, trace string, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return spanOf(spans, trace, name) == nil })
}

func TestAVisitOfAWorkerIsOneTraceWithTheArchive(t *testing.T) {
	if testing.Short() {
		t.Skip("starts two processes")
	}
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/csv")
		_, _ = io.WriteString(w, "city,trees\nWien,100\nGraz,50\n") // the client may be gone
	}))
	t.Cleanup(web.Close)
	c := collectortest.Start(t)
	hub, data := freeAddress(t), t.TempDir()
	odarchive(t, "add", web.URL+"/trees.csv?key=secret", "--data", data, "--log-level", "error")
	address := freeAddress(t)
	tracedProcess(t, c, "writer", "serve", "--data", data, "--listen", address, "--no-crawl", "--nats", "embedded", "--nats-listen", hub, "--allow-private-hosts", "--host-delay", "1ms")
	await(t, address)
	figures := freeAddress(t)
	tracedProcess(t, c, "worker", "work", "--join", "nats://"+hub, "--listen", figures, "--allow-private-hosts")
	await(t, figures)
	want := []string{"worker: lease", "worker: visit", "worker: robots", "worker: fetch", "worker: detect", "worker: inspect", "worker: place", "worker: send", "writer: result", "writer: commit"}
	var trace string
	spans := c.Await(t, func(spans []collectortest.Span) bool {
		for _, s := range spans {
			if s.Name == "commit" && has(spans, s.Trace(), want) {
				trace = s.Trace()
				return true
			}
		}
		return false
	})
	for below, above := range map[string]string{"writer: commit": "writer: result", "writer: result": "worker: send", "worker: send": "worker: visit", "worker: fetch": "worker: visit", "worker: visit": "worker: lease"} {
		if !bytes.Equal(spanOf(spans, trace, below).ParentSpanId, spanOf(spans, trace, above).SpanId) {
			t.Errorf("%s is not below %s", below, above)
		}
	}
	if v := spanOf(spans, trace, "worker: visit"); v.Attr("url.full") != web.URL+"/trees.csv" {
		t.Errorf("the visit is of %q", v.Attr("url.full"))
	}
	for _, s := range spans {
		if strings.Contains(s.String(), "secret") {
			t.Errorf("the query of the address is in %v", s)
		}
	}
	if s := spanOf(spans, trace, "writer: result"); s.Attr("odarchive.verdict") != "committed" {
		t.Errorf("the result is %q", s.Attr("odarchive.verdict"))
	}
	workerFigures(t, "http://"+figures+"/metrics")
}

// workerFigures checks that dashboards and alerts ask for no figure of workers that a worker and the archive do not have.
func workerFigures(t *testing.T, address string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	there, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(deploy + "/chart/odarchive/files/*/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	found := 0
	for _, file := range append(files, deploy+"/chart/odarchive/files/alerts.yaml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bodarchive_worker_[a-z_]+\b`).FindAllString(string(text), -1) {
			if found++; !slices.Contains(figuresOfArchive, name) && !bytes.Contains(there, []byte("\n"+name+" ")) {
				t.Errorf("%s asks for %s, which a worker does not have", file, name)
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d figures of workers", found)
	}
}

// figuresOfArchive are those of workers that the archive has; cmd/internal/app tests them.
var figuresOfArchive = []string{"odarchive_worker_results_total", "odarchive_worker_leases_expired_total", "odarchive_worker_results_in_flight"}
