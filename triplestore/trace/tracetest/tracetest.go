// Package tracetest has a Tracer for tests, which remembers the spans that ended.
package tracetest

import (
	"encoding/binary"
	"sync"

	"odarchive/triplestore/trace"
)

// Recorder is a trace.Tracer. The zero value is ready for use.
type Recorder struct {
	mu    sync.Mutex // guards what follows
	last  uint64
	ended []Span
}

// Span is a span that ended.
type Span struct {
	Name   string
	Kind   trace.Kind
	Parent trace.Parent // zero for the first of a trace
	Self   trace.Parent
	Attrs  []trace.Attr
	Events []string
	Err    error
}

// Begin implements trace.Tracer.
func (r *Recorder) Begin(parent trace.Parent, name string, kind trace.Kind, attrs []trace.Attr) trace.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	self := trace.Parent{Trace: parent.Trace, Sampled: true, State: parent.State}
	if parent.IsZero() {
		binary.BigEndian.PutUint64(self.Trace[8:], r.last)
	}
	binary.BigEndian.PutUint64(self.Span[:], r.last)
	return &span{to: r, span: Span{Name: name, Kind: kind, Parent: parent, Self: self, Attrs: attrs}}
}

// Ended returns the spans that have ended, in the order of their ends.
func (r *Recorder) Ended() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Span(nil), r.ended...)
}

type span struct {
	to    *Recorder
	span  Span
	ended bool
}

func (s *span) Parent() trace.Parent { return s.span.Self }

func (s *span) Name(name string) {
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	s.span.Name = name
}

func (s *span) Set(attrs []trace.Attr) {
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	s.span.Attrs = append(s.span.Attrs, attrs...)
}

func (s *span) Event(name string) {
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	s.span.Events = append(s.span.Events, name)
}

func (s *span) End(err error) {
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	if s.ended {
		return
	}
	s.ended, s.span.Err = true, err
	s.to.ended = append(s.to.ended, s.span)
}
