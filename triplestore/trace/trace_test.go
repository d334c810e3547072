package trace_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"odarchive/triplestore/trace"
	"odarchive/triplestore/trace/tracetest"
)

func TestAContextWithoutATracerCostsNoAllocation(t *testing.T) {
	ctx := context.WithValue(context.Background(), struct{ a int }{}, 1)
	header := http.Header{}
	name := strings.Repeat("u", 3)
	n := testing.AllocsPerRun(1000, func() {
		below, end := trace.Start(ctx, "visit", trace.String("url", name), trace.Int("bytes", int64(len(name))), trace.Of(trace.Client))
		trace.Set(below, trace.Bool("changed", true))
		trace.Event(below, "retry")
		trace.Inject(below, header.Set)
		end(nil)
	})
	if n != 0 {
		t.Errorf("%v allocations a span, want none", n)
	}
}

func BenchmarkStartWithoutATracer(b *testing.B) {
	ctx := context.WithValue(context.Background(), struct{ a int }{}, 1)
	b.ReportAllocs()
	for b.Loop() {
		_, end := trace.Start(ctx, "visit", trace.String("url", "http://example.org/"))
		end(nil)
	}
}

func TestSpansBelowOneAnotherAreOneTrace(t *testing.T) {
	t.Parallel()
	var r tracetest.Recorder
	ctx := trace.With(t.Context(), &r)
	ctx, endVisit := trace.Start(ctx, "visit", trace.Of(trace.Consumer), trace.String("host", "a.example"))
	below, endFetch := trace.Start(ctx, "fetch")
	trace.Set(below, trace.Int("status", 200))
	trace.Event(below, "redirect")
	endFetch(errors.New("refused"))
	endFetch(nil)
	endVisit(nil)
	ended := r.Ended()
	if len(ended) != 2 || ended[0].Name != "fetch" || ended[1].Name != "visit" {
		t.Fatalf("ended: %+v", ended)
	}
	fetch, visit := ended[0], ended[1]
	if fetch.Parent != visit.Self || fetch.Self.Trace != visit.Self.Trace || !visit.Parent.IsZero() {
		t.Errorf("fetch is below %v, visit is %v", fetch.Parent, visit.Self)
	}
	if fetch.Err == nil || len(fetch.Attrs) != 1 || fetch.Attrs[0].Num != 200 || len(fetch.Events) != 1 || visit.Kind != trace.Consumer || len(visit.Attrs) != 1 {
		t.Errorf("fetch %+v, visit %+v", fetch, visit)
	}
}

func TestASpanIsCarriedToAnotherProcess(t *testing.T) {
	t.Parallel()
	var here, there tracetest.Recorder
	ctx, end := trace.Start(trace.With(t.Context(), &here), "lease", trace.Of(trace.Client))
	header := http.Header{}
	trace.Inject(ctx, header.Set)
	end(nil)
	_, end = trace.Start(trace.Extract(trace.With(t.Context(), &there), header.Get), "answer", trace.Of(trace.Server))
	end(nil)
	sent, got := here.Ended()[0].Self, there.Ended()[0]
	if got.Parent.Trace != sent.Trace || got.Parent.Span != sent.Span || !got.Parent.Remote || !got.Parent.Sampled || got.Self.Trace != sent.Trace {
		t.Errorf("sent %v, the other side has %+v", sent, got)
	}
}

func TestDetachedWorkIsOfTheSameTrace(t *testing.T) {
	t.Parallel()
	var r tracetest.Recorder
	ctx, end := trace.Start(trace.With(t.Context(), &r), "request")
	_, endLater := trace.Start(trace.Detach(context.Background(), ctx), "later")
	end(nil)
	endLater(nil)
	if ended := r.Ended(); ended[1].Parent != ended[0].Self {
		t.Errorf("later is below %v, want %v", ended[1].Parent, ended[0].Self)
	}
	if trace.Enabled(trace.Detach(context.Background(), context.Background())) {
		t.Error("a context without a tracer got one")
	}
}

func TestOnlyWellFormedFieldsNameASpan(t *testing.T) {
	t.Parallel()
	const good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for field, want := range map[string]bool{
		good:                               true,
		good[:54] + "0":                    true,
		"01" + good[2:] + "-later":         true,
		"01" + good[2:] + "later":          false,
		good + "-later":                    false,
		"ff" + good[2:]:                    false,
		"0x" + good[2:]:                    false,
		strings.ToUpper(good):              false,
		strings.Replace(good, "-", "_", 1): false,
		"00-00000000000000000000000000000000-00f067aa0ba902b7-01": false,
		"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01": false,
		"00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01": false,
		"": false,
	} {
		p, ok := trace.Parse(field, "")
		if ok != want {
			t.Errorf("%q: %v, want %v", field, ok, want)
		}
		if field == good && p.String() != good {
			t.Errorf("read as %v", p)
		}
	}
	if p, _ := trace.Parse(good, "vendor=1"); p.State != "vendor=1" {
		t.Errorf("state is %q", p.State)
	}
	for _, state := range []string{"a=\r\nX: y", strings.Repeat("a", 513)} {
		if p, ok := trace.Parse(good, state); !ok || p.State != "" {
			t.Errorf("the state %q was taken", state)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=b")
	f.Fuzz(func(t *testing.T, parent, state string) {
		p, ok := trace.Parse(parent, state)
		if again, same := trace.Parse(p.String(), p.State); ok && (!same || again != p) {
			t.Errorf("%q is %+v, then %+v", parent, p, again)
		}
	})
}

func TestAnAddressIsSaidWithoutSecrets(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://user:pass@data.example/a%20b?token=1#x": "https://data.example/a%20b",
		"http://a.example/": "http://a.example/",
		"http://[::":        "",
	} {
		if got := trace.URL(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
