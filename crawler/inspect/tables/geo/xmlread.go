package geo

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/crs"
	"odarchive/crawler/inspect/tables/source"
)

// maxElements is how deep elements may be nested.
const maxElements = 100

// element is an element of a record in memory.
type element struct {
	name  string
	attrs []xml.Attr
	text  strings.Builder
	kids  []*element
}

func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// kid returns the first child of a name, nil if there is none.
func (e *element) kid(name string) *element {
	for _, k := range e.kids {
		if k.name == name {
			return k
		}
	}
	return nil
}

// content returns the text of an element, "" if it is nil.
func (e *element) content() string {
	if e == nil {
		return ""
	}
	return strings.TrimSpace(e.text.String())
}

// maxRecordBytes bounds the text of one record, and of anything between records: in memory, a geometry takes some ten
// times as much as its coordinates do in a file.
const maxRecordBytes = 32 << 20

// stream reads an XML document record by record.
type stream struct {
	dec  *xml.Decoder
	text *limitedText
	at   []string // names of the open elements
}

// limitedText is a text of which no more than limit bytes can be read, until that is raised.
type limitedText struct {
	r           io.Reader
	read, limit int64
}

func (t *limitedText) Read(p []byte) (int, error) {
	if t.read >= t.limit {
		return 0, fmt.Errorf("%w: an element is too large", source.ErrFormat)
	}
	n, err := t.r.Read(p)
	t.read += int64(n)
	return n, err
}

// allow lets another record be read.
func (s *stream) allow() { s.text.limit = s.dec.InputOffset() + maxRecordBytes }

func newStream(in source.Input) *stream {
	text := &limitedText{r: in.Text(), limit: maxRecordBytes}
	dec := xml.NewDecoder(text)
	dec.Strict = false
	dec.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // the text is UTF-8 already
	return &stream{dec: dec, text: text}
}

// next returns the next opening element, or nil for a closing one. The names are in at.
func (s *stream) next() (*xml.StartElement, error) {
	for {
		s.allow()
		tok, err := s.dec.RawToken()
		if err != nil {
			return nil, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(s.at) >= maxElements {
				return nil, fmt.Errorf("%w: nested too deeply", source.ErrFormat)
			}
			s.at = append(s.at, t.Name.Local)
			return &t, nil
		case xml.EndElement:
			if len(s.at) > 0 {
				s.at = s.at[:len(s.at)-1]
			}
			return nil, nil
		}
	}
}

// open returns the number of open elements of a name.
func (s *stream) open(name string) (n int) {
	for _, at := range s.at {
		if at == name {
			n++
		}
	}
	return n
}

// maxRecordElements bounds the elements of one record.
const maxRecordElements = 1_000_000

// whole reads the rest of an element that next has returned.
func (s *stream) whole(start *xml.StartElement) (*element, error) {
	n := 0
	s.allow()
	return s.inner(start, 0, &n)
}

func (s *stream) inner(start *xml.StartElement, depth int, n *int) (*element, error) {
	if *n++; depth > maxElements || *n > maxRecordElements {
		return nil, fmt.Errorf("%w: an element is too large", source.ErrFormat)
	}
	e := &element{name: start.Name.Local, attrs: start.Attr}
	for {
		tok, err := s.dec.RawToken()
		if err != nil {
			return e, err
		}
		switch t := tok.(type) {
		case xml.StartElement:
			kid, err := s.inner(&t, depth+1, n)
			if kid != nil {
				e.kids = append(e.kids, kid)
			}
			if err != nil {
				return e, err
			}
		case xml.EndElement:
			if depth == 0 && len(s.at) > 0 {
				s.at = s.at[:len(s.at)-1]
			}
			return e, nil
		case xml.CharData:
			e.text.Write(t)
		}
	}
}

// features collects the rows of a table of features in degrees.
type features struct {
	records *csvprofile.Records
	sum     source.Summary
	pen     source.Pen
	o       source.Options
	cut     bool // not read to the end
}

func newFeatures(o source.Options, table int) *features {
	f := &features{records: csvprofile.NewRecords(), o: o, sum: source.Summary{System: crs.WGS84(), Column: "geometry"}}
	f.records.Sample, f.records.Each, f.records.Begin = o.Sample, o.RowsOf(table), o.BeginOf(table)
	return f
}

// add adds a feature; geometry may be nil. more is false if no more can be added.
func (f *features) add(ctx context.Context, keys, values []string, geometry *figure) (more bool, err error) {
	f.pen.Reset()
	if geometry != nil {
		geometry.draw(&f.pen, "")
		f.sum.Add(&f.pen)
	}
	f.records.Add(append(keys, f.sum.Column), append(values, f.pen.Text()))
	if err := f.records.Err(); err != nil {
		return false, err
	}
	if f.records.Rows()&255 == 0 && ctx.Err() != nil {
		return false, ctx.Err()
	}
	f.cut = f.cut || f.records.Rows() >= f.o.MaxRows
	return !f.cut, nil
}

// profile ends the table. It returns nil if the table has no rows. err is what ended the reading: io.EOF or a fault.
func (f *features) profile(name string, err error) *csvprofile.Profile {
	if !f.sum.InDegrees() {
		f.sum.System = crs.System{} // projected, against the rules of the format
	}
	return f.profileIn(name, err)
}

// profileIn is profile for geometries of any system.
func (f *features) profileIn(name string, err error) *csvprofile.Profile {
	if f.records.Rows() == 0 {
		return nil
	}
	p := f.records.Profile(name)
	p.Truncated = f.cut
	if err != nil && !errors.Is(err, io.EOF) {
		p.Truncated = true
		p.Note("reading stopped after %d rows: %v", p.Rows, err)
	}
	if f.o.Each == nil {
		f.sum.Apply(p)
	}
	return p
}
