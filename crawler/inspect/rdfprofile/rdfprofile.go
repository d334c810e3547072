// Package rdfprofile describes RDF files: how many statements they have, which predicates, classes and namespaces, and
// where their syntax is wrong.
//
// Read reads a file of any size once, in bounded memory, with the parsers of triplestore/rdfio. After a syntax error it
// continues if the syntax allows. The same file always has the same profile.
package rdfprofile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/axiomhq/hyperloglog"

	"odarchive/triplestore/hdt"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Version is the version of the profile's fields that this package writes.
const Version = 1

// Profile describes one RDF file, after VoID.
type Profile struct {
	Version    int               `json:"profile"`
	Syntax     string            `json:"syntax"`             // media type of the parser
	Triples    int64             `json:"triples"`            // statements in all graphs, including repeated ones
	Graphs     int64             `json:"graphs"`             // named graphs, estimated
	Subjects   int64             `json:"subjects"`           // distinct, estimated
	Objects    int64             `json:"objects"`            // distinct, estimated
	Predicates []Count           `json:"predicates"`         // most frequent first
	Classes    []Count           `json:"classes"`            // objects of rdf:type, most frequent first
	Namespaces []Count           `json:"namespaces"`         // of IRIs in all places, most frequent first
	More       bool              `json:"more,omitempty"`     // lists are incomplete, or terms were not counted because of a limit
	Prefixes   map[string]string `json:"prefixes,omitempty"` // as declared in the file
	Faults     []Fault           `json:"faults,omitempty"`   // the first syntax errors
	FaultCount int64             `json:"faultcount,omitempty"`
	Truncated  bool              `json:"truncated,omitempty"` // reading ended before the file did
}

// Count is an IRI and its number of occurrences.
type Count struct {
	IRI   string `json:"iri"`
	Count int64  `json:"count"`
}

// Fault is a syntax error and its place.
type Fault struct {
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Message string `json:"message"`
}

// Options are options of Read. Zero fields take the default.
type Options struct {
	Base       string // base of relative IRIs, default "http://example.org/"
	MaxTriples int64  // default 100 million
	MaxFaults  int    // syntax errors after which reading ends, default 1,000
}

// Limits of what is kept.
const (
	maxCounted = 20_000  // distinct predicates, classes and namespaces each
	listed     = 500     // maximum length of their lists in a profile
	faults     = 20      // described in a profile
	maxIRI     = 4 << 10 // in bytes; a longer one is not counted by name
)

// Known reports whether files of a media type can be profiled.
func Known(mediaType string) bool {
	_, ok := rdfio.ByMediaType(mediaType)
	return ok
}

// statements is what is profiled: a reader of one syntax, or of HDT.
type statements interface {
	Read() (term.Quad, error)
	Skip() bool
}

// Read profiles an RDF file of a media type. It fails only if the type is unknown, r fails or ctx ends.
func Read(ctx context.Context, r io.Reader, mediaType string, o Options) (*Profile, error) {
	syntax, ok := rdfio.ByMediaType(mediaType)
	if !ok {
		return nil, fmt.Errorf("rdfprofile: no parser for %q", mediaType)
	}
	if o.Base == "" {
		o.Base = "http://example.org/"
	}
	src := rdfio.NewSource(r)
	reader := rdfio.NewReader(src, syntax, rdfio.Options{Base: o.Base, RDF12: true})
	p, err := profile(ctx, reader, syntax.MediaType, o, func(error) error { return src.Err() })
	if err != nil {
		return nil, err
	}
	if prefixes := reader.Prefixes(); len(prefixes) > 0 && len(prefixes) <= listed {
		p.Prefixes = prefixes
	}
	return p, nil
}

// ReadHDT profiles an HDT file of so many bytes. It fails only if r fails or ctx ends.
func ReadHDT(ctx context.Context, r io.ReaderAt, size int64, o Options) (*Profile, error) {
	reader, err := hdt.Open(ctx, r, size, hdt.Options{Memory: hdtMemory})
	if err != nil {
		if failed := readFailure(err); failed != nil {
			return nil, fmt.Errorf("rdfprofile: read: %w", failed)
		}
		p := newProfile(hdt.MediaType)
		p.fault(err)
		p.Truncated = true
		return p, nil
	}
	return profile(ctx, reader, hdt.MediaType, o, readFailure)
}

// hdtMemory bounds what profiling an HDT file keeps of it, in bytes: several are profiled at a time.
const hdtMemory = 16 << 20

// readFailure returns an error about an HDT file unless the file is to blame for it.
func readFailure(err error) error {
	_, bad := errors.AsType[*hdt.BadTermError](err)
	if bad || errors.Is(err, hdt.ErrDamaged) || errors.Is(err, hdt.ErrUnsupported) || errors.Is(err, rdfio.ErrLimit) {
		return nil
	}
	return err
}

func newProfile(syntax string) *Profile {
	return &Profile{Version: Version, Syntax: syntax, Predicates: []Count{}, Classes: []Count{}, Namespaces: []Count{}}
}

// profile profiles statements. failed returns the error of the file's storage, if that is behind an error of reading.
func profile(ctx context.Context, reader statements, syntax string, o Options, failed func(error) error) (*Profile, error) {
	if o.MaxTriples == 0 {
		o.MaxTriples = 100_000_000
	}
	if o.MaxFaults == 0 {
		o.MaxFaults = 1000
	}
	p := newProfile(syntax)
	c := newCounters()
	for p.Triples < o.MaxTriples {
		q, err := reader.Read()
		if errors.Is(err, io.EOF) {
			c.fill(p)
			return p, nil
		}
		if err != nil {
			if err := failed(err); err != nil {
				return nil, fmt.Errorf("rdfprofile: read: %w", err)
			}
			p.fault(err)
			if p.FaultCount >= int64(o.MaxFaults) || !reader.Skip() {
				break
			}
			continue
		}
		p.Triples++
		c.add(q)
		if p.Triples&4095 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("rdfprofile: %w", err)
			}
		}
	}
	p.Truncated = true
	c.fill(p)
	return p, nil
}

// fault counts a syntax error and describes the first ones.
func (p *Profile) fault(err error) {
	p.FaultCount++
	if len(p.Faults) >= faults {
		return
	}
	f := Fault{Message: err.Error()}
	var e *rdfio.Error
	if errors.As(err, &e) {
		f.Line, f.Col = e.Line, e.Col
		f.Message = strings.TrimPrefix(f.Message, fmt.Sprintf("%d:%d: ", e.Line, e.Col))
	}
	if len(f.Message) > 300 {
		f.Message = strings.ToValidUTF8(f.Message[:300], "") + "…"
	}
	p.Faults = append(p.Faults, f)
}

// counters counts the terms of quads.
type counters struct {
	predicates, classes, namespaces map[string]int64
	subjects, objects, graphs       *hyperloglog.Sketch
	over                            bool
}

func newCounters() *counters {
	return &counters{predicates: map[string]int64{}, classes: map[string]int64{}, namespaces: map[string]int64{},
		subjects: hyperloglog.New14(), objects: hyperloglog.New14(), graphs: hyperloglog.New14()}
}

func (c *counters) add(q term.Quad) {
	c.subjects.Insert([]byte(q.S))
	c.objects.Insert([]byte(q.O))
	if q.G != "" {
		c.graphs.Insert([]byte(q.G))
	}
	p := q.P.Value()
	c.count(c.predicates, p)
	if p == vocab.RDFType && q.O.Kind() == term.KindIRI {
		c.count(c.classes, q.O.Value())
	}
	for _, k := range [3]term.Key{q.S, q.P, q.O} {
		if k.Kind() == term.KindIRI {
			if ns := namespace(k.Value()); ns != "" {
				c.count(c.namespaces, ns)
			}
		}
	}
}

func (c *counters) count(m map[string]int64, key string) {
	if _, ok := m[key]; !ok && (len(m) >= maxCounted || len(key) > maxIRI) {
		c.over = true
		return
	}
	m[key]++
}

// namespace returns an IRI up to its last "#", or else "/".
func namespace(iri string) string {
	if i := strings.LastIndexByte(iri, '#'); i >= 0 {
		return iri[:i+1]
	}
	if i := strings.LastIndexByte(iri, '/'); i >= 0 && i+1 < len(iri) && strings.Index(iri, "://")+2 < i {
		return iri[:i+1]
	}
	return ""
}

// fill sets the counts of a profile.
func (c *counters) fill(p *Profile) {
	p.Subjects, p.Objects, p.Graphs = int64(c.subjects.Estimate()), int64(c.objects.Estimate()), int64(c.graphs.Estimate())
	p.More = c.over
	for _, l := range []struct {
		from map[string]int64
		to   *[]Count
	}{{c.predicates, &p.Predicates}, {c.classes, &p.Classes}, {c.namespaces, &p.Namespaces}} {
		list := make([]Count, 0, len(l.from))
		for iri, n := range l.from {
			list = append(list, Count{iri, n})
		}
		slices.SortFunc(list, func(a, b Count) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.IRI, b.IRI)) })
		if len(list) > listed {
			list, p.More = list[:listed], true
		}
		*l.to = list
	}
}
