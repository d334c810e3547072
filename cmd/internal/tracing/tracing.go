// Package tracing exports the spans of package trace to a collector of OpenTelemetry, if the environment names one.
//
// The variables are those of OpenTelemetry: OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) switches
// exporting on; OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_BSP_… and OTEL_EXPORTER_OTLP_HEADERS,
// …_TIMEOUT, …_COMPRESSION, …_CERTIFICATE do what its documents say. OTEL_SDK_DISABLED=true and OTEL_TRACES_EXPORTER=none
// switch it off. The protocol is http/protobuf.
//
// Spans wait in a queue of bounded length (OTEL_BSP_MAX_QUEUE_SIZE, 2,048 spans). A collector that is slow or away costs
// the spans that do not fit, and nothing else: no caller waits for it, except Close, for a bounded time.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"odarchive/triplestore/trace"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otrace "go.opentelemetry.io/otel/trace"
)

// flushTime is how long Close waits for the collector.
const flushTime = 5 * time.Second

// Exporter is a trace.Tracer that exports. Close it.
type Exporter struct {
	provider *sdk.TracerProvider
	tracer   otrace.Tracer
}

var _ trace.Tracer = (*Exporter)(nil)

// Open returns an Exporter for a program of a version, or nil if the environment asks for none. The error is about the
// environment: that a collector cannot be reached is none.
func Open(ctx context.Context, version string, log *slog.Logger) (*Exporter, error) {
	if !wanted() {
		return nil, nil
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"} {
		if p := os.Getenv(name); p != "" && p != "http/protobuf" {
			return nil, fmt.Errorf("%s=%s: only http/protobuf is spoken here (port 4318 of most collectors)", name, p)
		}
	}
	report := &reporter{log: log}
	otel.SetErrorHandler(report) // of the process; the SDK has no other way to say that a batch was lost
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "odarchive"), attribute.String("service.version", version)),
		resource.WithHost(), resource.WithProcessPID(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, errors.Join(fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err), exporter.Shutdown(ctx))
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(about))
	return &Exporter{provider: provider, tracer: provider.Tracer("odarchive")}, nil
}

// wanted reports whether the environment names a collector.
func wanted() bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return false
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
}

// Close sends the spans that wait, for a few seconds at most. It does nothing if e is nil.
func (e *Exporter) Close() error {
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTime)
	defer cancel()
	return e.provider.Shutdown(ctx)
}

// With returns a context whose spans e exports; ctx if e is nil.
func (e *Exporter) With(ctx context.Context) context.Context {
	if e == nil {
		return ctx
	}
	return trace.With(ctx, e)
}

// Begin implements trace.Tracer.
func (e *Exporter) Begin(parent trace.Parent, name string, kind trace.Kind, attrs []trace.Attr) trace.Span {
	ctx := context.Background()
	if !parent.IsZero() {
		ctx = otrace.ContextWithSpanContext(ctx, contextOf(parent))
	}
	_, span := e.tracer.Start(ctx, name, otrace.WithSpanKind(kinds[kind]), otrace.WithAttributes(attributes(attrs)...))
	return exported{span}
}

// kinds are OpenTelemetry's by those of package trace.
var kinds = [...]otrace.SpanKind{
	trace.Internal: otrace.SpanKindInternal, trace.Server: otrace.SpanKindServer, trace.Client: otrace.SpanKindClient,
	trace.Producer: otrace.SpanKindProducer, trace.Consumer: otrace.SpanKindConsumer,
}

func contextOf(p trace.Parent) otrace.SpanContext {
	c := otrace.SpanContextConfig{TraceID: p.Trace, SpanID: p.Span, Remote: p.Remote}
	if p.Sampled {
		c.TraceFlags = otrace.FlagsSampled
	}
	c.TraceState, _ = otrace.ParseTraceState(p.State) // a malformed state is left out (Trace Context §3.3)
	return otrace.NewSpanContext(c)
}

func attributes(attrs []trace.Attr) []attribute.KeyValue {
	out := make([]attribute.KeyValue, 0, len(attrs))
	for _, a := range attrs {
		switch a.Type {
		case trace.NumType:
			out = append(out, attribute.Int64(a.Key, a.Num))
		case trace.BoolType:
			out = append(out, attribute.Bool(a.Key, a.Num != 0))
		default:
			out = append(out, attribute.String(a.Key, clip(a.Text)))
		}
	}
	return out
}

// maxText is the maximum length of an attribute, in bytes.
const maxText = 2048

func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxText)], "\uFFFD") }

// addresses are URLs in the text of an error, whose queries may hold secrets.
var addresses = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>]+`)

// exported is a span that the SDK records.
type exported struct{ span otrace.Span }

func (s exported) Parent() trace.Parent {
	c := s.span.SpanContext()
	return trace.Parent{Trace: c.TraceID(), Span: c.SpanID(), Sampled: c.IsSampled(), State: c.TraceState().String()}
}

func (s exported) Name(name string)       { s.span.SetName(name) }
func (s exported) Set(attrs []trace.Attr) { s.span.SetAttributes(attributes(attrs)...) }
func (s exported) Event(name string)      { s.span.AddEvent(name) }

// End implements trace.Span. Work that was called off has not failed.
func (s exported) End(err error) {
	switch {
	case errors.Is(err, context.Canceled):
		s.span.SetAttributes(attribute.Bool("odarchive.cancelled", true))
	case err != nil:
		s.span.SetStatus(codes.Error, clip(addresses.ReplaceAllStringFunc(err.Error(), trace.URL)))
	}
	s.span.End()
}

// reporter logs what goes wrong with exporting, at most once in quiet.
type reporter struct {
	log  *slog.Logger
	last atomic.Int64 // when it logged last, in nanoseconds since 1970
}

// quiet is the time between two lines of the log about the collector.
const quiet = time.Minute

// Handle implements otel.ErrorHandler.
func (r *reporter) Handle(err error) {
	now, last := time.Now().UnixNano(), r.last.Load()
	if now-last < int64(quiet) || !r.last.CompareAndSwap(last, now) {
		return
	}
	r.log.Warn("spans were not exported; the program goes on without", "error", err)
}
