package trace

import (
	"context"
	"encoding/hex"
	"net/url"
	"strings"
)

// Parent names a span to another process. The zero value names none.
type Parent struct {
	Trace   [16]byte
	Span    [8]byte
	Sampled bool
	State   string // the tracestate field as it came, at most maxState bytes
	Remote  bool   // it came from another process
}

// IsZero reports whether p names no span.
func (p Parent) IsZero() bool { return p.Trace == [16]byte{} || p.Span == [8]byte{} }

// The header fields of W3C Trace Context.
const (
	ParentField = "traceparent"
	StateField  = "tracestate"
)

// maxState is the maximum length of a tracestate field that is carried on (Trace Context §3.3.1.5).
const maxState = 512

// String returns p as a traceparent field, or "" if p is zero.
func (p Parent) String() string {
	if p.IsZero() {
		return ""
	}
	flags := "-00"
	if p.Sampled {
		flags = "-01"
	}
	return "00-" + hex.EncodeToString(p.Trace[:]) + "-" + hex.EncodeToString(p.Span[:]) + flags
}

// Parse reads a traceparent field, and the tracestate field beside it. ok is false if the field names no span; what a
// stranger sends there is not an error (Trace Context §2.2.3).
func Parse(parent, state string) (p Parent, ok bool) {
	// version "-" trace "-" span "-" flags; later versions may add fields
	if len(parent) < 55 || parent[2] != '-' || parent[35] != '-' || parent[52] != '-' {
		return Parent{}, false
	}
	version := parent[:2]
	if version == "ff" || version == "00" && len(parent) != 55 || len(parent) > 55 && parent[55] != '-' || strings.ToLower(parent[:55]) != parent[:55] {
		return Parent{}, false
	}
	var flags, number [1]byte
	for _, field := range []struct {
		into []byte
		text string
	}{{number[:], version}, {p.Trace[:], parent[3:35]}, {p.Span[:], parent[36:52]}, {flags[:], parent[53:55]}} {
		if _, err := hex.Decode(field.into, []byte(field.text)); err != nil {
			return Parent{}, false
		}
	}
	if p.IsZero() {
		return Parent{}, false
	}
	p.Sampled, p.Remote = flags[0]&1 != 0, true
	if len(state) <= maxState && isField(state) {
		p.State = state
	}
	return p, true
}

// isField reports whether s may stand in a header field.
func isField(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// Inject calls set with the header fields that carry the span of ctx to another process. Without a span, it calls nothing.
func Inject(ctx context.Context, set func(field, value string)) {
	c := of(ctx)
	if c == nil || c.parent.IsZero() {
		return
	}
	set(ParentField, c.parent.String())
	if c.parent.State != "" {
		set(StateField, c.parent.State)
	}
}

// Extract returns a context whose next span is below the one that another process sent in header fields, which get returns
// by name, "" for those that are missing. Without a tracer in ctx, or a field that names a span, it returns ctx.
func Extract(ctx context.Context, get func(field string) string) context.Context {
	c := of(ctx)
	if c == nil {
		return ctx
	}
	p, ok := Parse(get(ParentField), get(StateField))
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, key{}, &current{tracer: c.tracer, parent: p})
}

// URL returns what may be said of an address in a span: without a user, a password, a query and a fragment, which may hold
// secrets. It returns "" for what is not a URL.
func URL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String()
}
