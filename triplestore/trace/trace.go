// Package trace marks the steps of a piece of work, so that whoever runs the program can see where time goes.
//
// A span is one step: a name, a beginning, an end, the span that it belongs to. Code that works calls Start and, at the
// end, what it returns:
//
//	ctx, end := trace.Start(ctx, "fetch", trace.String("url", address))
//	...
//	end(err)
//
// Spans go to the Tracer that With has put into the context. A context without one costs a look-up and no allocation:
// nothing is recorded. Inject and Extract carry the current span over HTTP and NATS in the header fields of W3C Trace
// Context, so that spans of several processes form one trace.
//
// The package sends nothing and knows no library: cmd/internal/tracing has the Tracer that exports. Callers give no
// secrets as attributes: of a URL, URL returns what may be given; of a query, a digest.
package trace

import "context"

// Kind says on which side of a process border a span is. The zero value is inside.
type Kind uint8

// The kinds of OpenTelemetry.
const (
	Internal Kind = iota
	Server        // answers a request of another process
	Client        // waits for another process
	Producer      // leaves a message that another process reads later
	Consumer      // reads such a message
)

// Tracer records spans. Its methods may be called concurrently, and never wait for the network.
type Tracer interface {
	// Begin begins a span below parent, which is the zero Parent for the first span of a trace.
	Begin(parent Parent, name string, kind Kind, attrs []Attr) Span
}

// Span is a step that has begun.
type Span interface {
	Parent() Parent    // what spans below this one name as their parent
	Name(name string)  // replaces the name, when a better one is known
	Set(attrs []Attr)  // adds attributes
	Event(name string) // notes that something happened
	End(err error)     // ends the span; a second call does nothing
}

// Attr is a fact about a span. The key is in the words of OpenTelemetry's conventions where they have one.
type Attr struct {
	Key  string
	Text string
	Num  int64
	Type Type
}

// Type is the type of an attribute's value.
type Type uint8

// The types of attributes.
const (
	TextType Type = iota
	NumType
	BoolType
	kindType // not an attribute: Num is the span's Kind
)

// String returns a fact in words.
func String(key, value string) Attr { return Attr{Key: key, Text: value} }

// Int returns a fact in a number.
func Int(key string, value int64) Attr { return Attr{Key: key, Num: value, Type: NumType} }

// Bool returns a fact that is true or false.
func Bool(key string, value bool) Attr {
	a := Attr{Key: key, Type: BoolType}
	if value {
		a.Num = 1
	}
	return a
}

// Of returns the kind of a span, to be given to Start among its attributes.
func Of(k Kind) Attr { return Attr{Num: int64(k), Type: kindType} }

type key struct{}

// current is what a context carries: the tracer, and the span that is under way or was extracted.
type current struct {
	tracer Tracer
	span   Span // nil before the first
	parent Parent
}

func of(ctx context.Context) *current {
	c, _ := ctx.Value(key{}).(*current)
	return c
}

// With returns a context whose spans go to t. If t is nil, it returns ctx.
func With(ctx context.Context, t Tracer) context.Context {
	if t == nil {
		return ctx
	}
	return context.WithValue(ctx, key{}, &current{tracer: t})
}

// Enabled reports whether spans of ctx are recorded. It spares callers the work of attributes that nobody reads.
func Enabled(ctx context.Context) bool { return of(ctx) != nil }

// Start begins a span below the one that ctx carries, and returns a context that carries the new one. end ends it, with
// the error that the step ended with, if any; further calls do nothing. Without a tracer, Start returns ctx, and end does nothing.
func Start(ctx context.Context, name string, attrs ...Attr) (_ context.Context, end func(error)) {
	c := of(ctx)
	if c == nil {
		return ctx, nothing
	}
	return c.start(ctx, name, append([]Attr(nil), attrs...)) // a copy: so the caller's attributes stay on its stack
}

// Detach returns a context for work that outlives what ctx is of: its spans are of the same trace as those of ctx.
func Detach(to, from context.Context) context.Context {
	c := of(from)
	if c == nil {
		return to
	}
	return context.WithValue(to, key{}, c)
}

// Set adds attributes to the span that ctx carries.
func Set(ctx context.Context, attrs ...Attr) {
	if c := of(ctx); c != nil && c.span != nil {
		c.span.Set(append([]Attr(nil), attrs...))
	}
}

// Name replaces the name of the span that ctx carries.
func Name(ctx context.Context, name string) {
	if c := of(ctx); c != nil && c.span != nil {
		c.span.Name(name)
	}
}

// Event notes on the span that ctx carries that something happened.
func Event(ctx context.Context, name string) {
	if c := of(ctx); c != nil && c.span != nil {
		c.span.Event(name)
	}
}

func nothing(error) {}

func (c *current) start(ctx context.Context, name string, attrs []Attr) (context.Context, func(error)) {
	kind, kept := Internal, attrs[:0]
	for _, a := range attrs {
		if a.Type == kindType {
			kind = Kind(a.Num)
			continue
		}
		kept = append(kept, a)
	}
	span := c.tracer.Begin(c.parent, name, kind, kept)
	return context.WithValue(ctx, key{}, &current{tracer: c.tracer, span: span, parent: span.Parent()}), span.End
}
