// Describes the records of a WARC or ARC file as triples. Each record becomes a resource with a few
// properties, like a row of a table. This lets queries find what an import does not keep: requests, errors, and the
// places of records.

package cdxj

import (
	"errors"
	"io"
	"net/url"
	"strconv"
	"strings"

	"odarchive/crawler/exchange/warc"
	"odarchive/triplestore/rdfio/iri"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// RowReader returns the triples about the records of one file, in the order of the file. It skips damaged records.
type RowReader struct {
	graph   string // IRI of the file, which is also the graph's
	in      *warc.Reader
	fault   func(warc.Fault)
	records int64       // records described so far
	last    int64       // offset of the last record
	within  int         // index of the last record among those of its gzip member
	queue   []term.Quad // triples that Read must still return
	end     bool        // the file has ended
}

// maxValue is the maximum length of a text in bytes. Longer texts are left out.
const maxValue = 2 << 10

// NewRowReader returns a Reader of triples in the graph with the IRI graph, which also identifies the file. The IRI of
// a record is GRAPH#OFFSET, or GRAPH#OFFSET.N for record N of a gzip member with several records, counted from 0,
// except for the first one. fault is called for each fault of the file.
func NewRowReader(r io.Reader, graph string, fault func(warc.Fault)) *RowReader {
	return &RowReader{graph: graph, in: warc.NewReader(r, warc.Limits{}), fault: fault}
}

// Records returns the number of records so far.
func (r *RowReader) Records() int64 { return r.records }

// Read returns the next triple. The error is io.EOF after the last one; other errors mean that the file could not be
// read.
func (r *RowReader) Read() (term.Quad, error) {
	for len(r.queue) == 0 {
		if r.end {
			return term.Quad{}, io.EOF
		}
		if err := r.next(); err != nil {
			return term.Quad{}, err
		}
	}
	q := r.queue[0]
	r.queue = r.queue[1:]
	return q, nil
}

// next queues the triples about the next record or, after the last record, those about the file.
func (r *RowReader) next() error {
	rec, err := r.in.Next()
	if f, ok := errors.AsType[*warc.Fault](err); ok {
		r.fault(*f)
		return nil
	}
	if errors.Is(err, io.EOF) {
		r.end = true
		r.add(r.graph, vocab.RDFType, term.IRI(vocab.ArcWARCFile))
		r.add(r.graph, vocab.ArcRecordCount, integer(r.records))
		r.add(r.graph, vocab.DCATByteSize, integer(r.in.Position()))
		return nil
	}
	if err != nil {
		return err
	}
	c, m, _, err := Describe(rec, "", true)
	if _, ok := errors.AsType[*warc.Fault](err); !ok && err != nil { // Finish returns faults of the block
		r.fault(warc.Fault{Offset: rec.Offset, Why: err.Error()}) // the block is not an HTTP message
	}
	if f, ok := errors.AsType[*warc.Fault](r.in.Finish()); ok {
		r.fault(*f)
		if !r.in.Whole() {
			return nil
		}
	}
	r.describe(rec, c, m)
	return nil
}

// describe queues the triples about a record.
func (r *RowReader) describe(rec *warc.Record, c Capture, m *warc.Message) {
	if r.within++; r.records == 0 || rec.Offset != r.last {
		r.within = 0
	}
	r.records, r.last = r.records+1, rec.Offset
	s := r.graph + "#" + strconv.FormatInt(rec.Offset, 10)
	if r.within > 0 {
		s += "." + strconv.Itoa(r.within)
	}
	text := func(p, value string) {
		if value = strings.ToValidUTF8(value, "\uFFFD"); value != "" && len(value) <= maxValue {
			r.add(s, p, term.String(value))
		}
	}
	r.add(s, vocab.RDFType, term.IRI(vocab.ArcWARCRecord))
	r.add(s, vocab.DCTIsPartOf, term.IRI(r.graph))
	text(vocab.ArcRecordType, rec.Type)
	text(vocab.DCTIdentifier, strings.Trim(rec.ID(), "<>"))
	if iri := absolute(c.URL); iri != "" && len(iri) <= maxValue {
		r.add(s, vocab.ArcTargetURI, term.IRI(iri))
	}
	if !c.At.IsZero() && c.At.Year() <= 9999 {
		r.add(s, vocab.DCTDate, term.Typed(c.At.UTC().Format("2006-01-02T15:04:05.000Z"), vocab.XSDDateTime))
	}
	if m != nil && rec.Type != warc.Request && c.Status > 0 {
		r.add(s, vocab.ArcHTTPStatus, integer(int64(c.Status)))
	}
	text(vocab.DCATMediaType, c.MIME)
	text(vocab.ArcPayloadDigest, c.Digest)
	text(vocab.ArcRemoteAddress, rec.Header.Get("WARC-IP-Address"))
	text(vocab.ArcTruncated, strings.ToLower(rec.Header.Get("WARC-Truncated")))
	text(vocab.ArcRefersTo, strings.Trim(rec.Header.Get("WARC-Refers-To"), "<>"))
	r.add(s, vocab.DCATByteSize, integer(rec.ContentLength))
	r.add(s, vocab.ArcOffset, integer(rec.Offset))
	if rec.Length > 0 {
		r.add(s, vocab.ArcLength, integer(rec.Length))
	}
}

func (r *RowReader) add(s, p string, o term.Key) {
	r.queue = append(r.queue, term.Quad{S: term.IRI(s), P: term.IRI(p), O: o, G: term.IRI(r.graph)})
}

func integer(n int64) term.Key { return term.Typed(strconv.FormatInt(n, 10), vocab.XSDInteger) }

// absolute returns the IRI of an address, "" if the address is not absolute.
func absolute(address string) string {
	address = strings.ToValidUTF8(address, "\uFFFD")
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return ""
	}
	return iri.Escape(address)
}
