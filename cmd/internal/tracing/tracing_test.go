package tracing

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"odarchive/cmd/internal/tracing/collectortest"
	"odarchive/triplestore/trace"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
)

// none clears the variables that the environment of the tests may have.
func none(t *testing.T) {
	t.Helper()
	for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		t.Setenv(name, "")
	}
}

func TestNothingIsExportedUnlessTheEnvironmentSaysSo(t *testing.T) {
	none(t)
	log := slog.New(slog.DiscardHandler)
	for _, off := range []map[string]string{
		{},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_SDK_DISABLED": "true"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run("", func(t *testing.T) {
			for name, value := range off {
				t.Setenv(name, value)
			}
			e, err := Open(t.Context(), "1.0.0", log)
			if e != nil || err != nil {
				t.Errorf("%v opens %v, %v", off, e, err)
			}
			if trace.Enabled(e.With(t.Context())) || e.Close() != nil {
				t.Error("it does something")
			}
		})
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := Open(t.Context(), "1.0.0", log); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("grpc: %v", err)
	}
}

func TestSpansReachTheCollectorAsTheyWere(t *testing.T) {
	none(t)
	c := collectortest.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=writer")
	e, err := Open(t.Context(), "1.2.3", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	remote, _ := trace.Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "vendor=1")
	fields := map[string]string{trace.ParentField: remote.String(), trace.StateField: remote.State}
	ctx := trace.Extract(e.With(t.Context()), func(f string) string { return fields[f] })
	ctx, endVisit := trace.Start(ctx, "visit", trace.Of(trace.Consumer), trace.Int("bytes", 5), trace.Bool("changed", true), trace.String("url", "http://a.example/\xff"))
	_, endFetch := trace.Start(ctx, "fetch")
	endFetch(errors.New(`Get "https://user:word@a.example/x?token=secret": refused`))
	_, endWait := trace.Start(ctx, "wait")
	endWait(context.Canceled)
	trace.Name(ctx, "visit of a.example")
	trace.Event(ctx, "retry")
	endVisit(nil)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	spans := c.Spans()
	if len(spans) != 3 {
		t.Fatalf("%d spans", len(spans))
	}
	fetch, wait, visit := spans[0], spans[1], spans[2]
	if visit.Trace() != "4bf92f3577b34da6a3ce929d0e0e4736" || !bytes.Equal(visit.ParentSpanId, remote.Span[:]) || visit.TraceState != "vendor=1" || visit.Kind != otlp.Span_SPAN_KIND_CONSUMER || visit.Service != "writer" {
		t.Errorf("the visit is %+v", visit)
	}
	if visit.Name != "visit of a.example" || len(visit.Events) != 1 || visit.Attr("url") != "http://a.example/\uFFFD" {
		t.Errorf("the visit is %+v", visit)
	}
	if !bytes.Equal(fetch.ParentSpanId, visit.SpanId) || fetch.Status.Code != otlp.Status_STATUS_CODE_ERROR || strings.Contains(fetch.Status.Message, "secret") || strings.Contains(fetch.Status.Message, "word") {
		t.Errorf("the fetch is %+v", fetch)
	}
	if wait.Status.GetCode() == otlp.Status_STATUS_CODE_ERROR {
		t.Errorf("what was called off has failed: %+v", wait)
	}
}

// A collector that takes connections and says nothing is the slowest there is.
func TestACollectorThatIsAwayHoldsNobodyUp(t *testing.T) {
	none(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "100")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "100")
	var log bytes.Buffer
	e, err := Open(t.Context(), "1.2.3", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx := e.With(t.Context())
	for range 10_000 { // a hundred times what the queue holds
		_, end := trace.Start(ctx, "visit")
		end(nil)
	}
	if err := e.Close(); err == nil && log.Len() == 0 {
		t.Error("nobody was told that spans were lost")
	}
}

func TestTheLogIsNotFloodedByACollectorThatIsAway(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := &reporter{log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 100 {
		r.Handle(errors.New("refused"))
	}
	if n := strings.Count(log.String(), "\n"); n != 1 {
		t.Errorf("%d lines in less than %v", n, time.Minute)
	}
}
