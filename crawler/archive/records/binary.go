package records

import (
	"encoding/binary"
	"net/http"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/fields"
)

// The records of resources and versions are read and written with each visit, so they are binary: this takes a small
// part of the time that JSON takes, and no more space. What the key or the rest of the record says is left out.
// FORMAT.md describes them. A new field goes to the end, behind a flag, so that records without it can still be read.

// binaryRecord is the first byte of a binary record. JSON begins with a brace, and packed JSON with the byte packed.
const binaryRecord = 4

// decodeBinary reads a binary record from its key and value.
func decodeBinary(k, raw []byte, value any) (err error) {
	switch value := value.(type) {
	case *Resource:
		if len(k) == 1+IDLen {
			*value, err = decodeResource(string(k[1:]), raw)
			return orBadRecord(k, err)
		}
	case *catalog.Version:
		if len(k) == 1+IDLen+4 {
			resource, n := VersionAt(k)
			*value, err = decodeVersion(resource, n, raw)
			return orBadRecord(k, err)
		}
	}
	return badRecord(k, fields.ErrBad)
}

func orBadRecord(k []byte, err error) error {
	if err != nil {
		return badRecord(k, err)
	}
	return nil
}

// writer appends the fields of a record to b.
type writer struct{ b []byte }

func (w *writer) text(s string)      { w.b = fields.AppendText(w.b, s) }
func (w *writer) number(n int)       { w.signed(int64(n)) }
func (w *writer) signed(n int64)     { w.b = binary.AppendVarint(w.b, n) }
func (w *writer) bytes(b []byte)     { w.b = append(w.b, b...) }
func (w *writer) unsigned(n uint64)  { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) flags(bits ...bool) { w.unsigned(packBits(bits)) }
func (w *writer) list(texts []string) {
	w.unsigned(uint64(len(texts)))
	for _, s := range texts {
		w.text(s)
	}
}

// time appends a time: 0 for the zero time, otherwise seconds since 1970 and nanoseconds.
func (w *writer) time(t time.Time) {
	if t.IsZero() {
		w.b = append(w.b, 0)
		return
	}
	w.b = append(w.b, 1)
	w.signed(t.Unix())
	w.unsigned(uint64(t.Nanosecond()))
}

// name appends the name of a file of a URL, in one byte if the URL ends in it.
func (w *writer) name(name, url string) {
	if endsIn(url, name) {
		w.unsigned(uint64(len(name))<<1 | 1)
		return
	}
	w.unsigned(uint64(len(name)) << 1)
	w.b = append(w.b, name...)
}

func endsIn(url, name string) bool { return name != "" && strings.HasSuffix(url, name) }

func packBits(bits []bool) (n uint64) {
	for i, bit := range bits {
		if bit {
			n |= 1 << i
		}
	}
	return n
}

// reader reads what a writer appended.
type reader struct{ fields.Reader }

func (r *reader) number() int { return int(r.Varint()) }

func (r *reader) flags(bits ...*bool) {
	n := r.Uvarint()
	for i, bit := range bits {
		*bit = n>>i&1 != 0
	}
}

func (r *reader) list() (texts []string) {
	for range r.Count(1) {
		texts = append(texts, r.Text())
	}
	return texts
}

func (r *reader) time() time.Time {
	if r.Byte() == 0 {
		return time.Time{}
	}
	seconds := r.Varint()
	return time.Unix(seconds, r.Max(1e9-1)).UTC()
}

func (r *reader) name(url string) string {
	n := r.Max(1 << 32)
	if n&1 == 0 {
		return string(r.Bytes(int(n >> 1)))
	}
	if n >>= 1; int(n) > len(url) {
		r.Fail()
		return ""
	}
	return url[len(url)-int(n):]
}

// encodeResource returns the record of a resource. Its key has the ID.
func encodeResource(r Resource) []byte {
	w := writer{make([]byte, 0, 256+len(r.URL))}
	w.b = append(w.b, binaryRecord)
	portals, datasets := listedBy(r.Sources)
	derived := slices.Equal(portals, r.Portals) && slices.Equal(datasets, r.Datasets)
	titled := len(r.Sources) > 0 && r.DatasetTitle == r.Sources[0].DatasetTitle
	w.flags(r.Internal, r.OutOfOrder, r.Stopped, derived, titled)
	w.text(r.URL)
	w.text(r.Host)
	w.text(r.Title)
	w.text(r.Format)
	w.text(r.MediaType)
	w.name(r.FileName, r.URL)
	w.unsigned(uint64(len(r.Sources)))
	for _, s := range r.Sources {
		w.text(s.Portal)
		w.text(s.Dataset)
		w.text(s.DatasetTitle)
		w.time(s.Delisted)
	}
	if !derived {
		w.list(r.Portals)
		w.list(r.Datasets)
	}
	if !titled {
		w.text(r.DatasetTitle)
	}
	w.number(r.SourcesOmitted)
	w.time(r.Added)

	w.number(r.Versions)
	if r.Versions > 0 {
		w.digests(r.Latest)
	}
	w.number(r.ErrorPages)
	w.number(r.NewestN)
	w.signed(r.Size)
	w.time(r.FirstSeen)
	w.time(r.Changed)

	w.number(r.Visits)
	w.number(r.Errors)
	w.time(r.LastVisit)
	w.time(r.NextVisit)
	w.signed(int64(r.Interval))
	w.text(string(r.Outcome))
	w.text(string(r.ErrorClass))
	w.text(r.Why)
	w.signed(r.Stretch)
	return w.b
}

func decodeResource(id string, raw []byte) (r Resource, err error) {
	in := reader{fields.Reader{B: raw[1:]}}
	var derived, titled bool
	in.flags(&r.Internal, &r.OutOfOrder, &r.Stopped, &derived, &titled)
	r.ID = id
	r.URL, r.Host, r.Title, r.Format, r.MediaType = in.Text(), in.Text(), in.Text(), in.Text(), in.Text()
	r.FileName = in.name(r.URL)
	for range in.Count(4) {
		r.Sources = append(r.Sources, catalog.Source{Portal: in.Text(), Dataset: in.Text(), DatasetTitle: in.Text(), Delisted: in.time()})
	}
	if derived {
		r.Portals, r.Datasets = listedBy(r.Sources)
	} else {
		r.Portals, r.Datasets = in.list(), in.list()
	}
	if !titled {
		r.DatasetTitle = in.Text()
	} else if len(r.Sources) > 0 {
		r.DatasetTitle = r.Sources[0].DatasetTitle
	}
	r.SourcesOmitted = in.number()
	r.Added = in.time()

	if r.Versions = in.number(); r.Versions > 0 {
		r.Latest = in.digests()
	}
	r.ErrorPages, r.NewestN, r.Size = in.number(), in.number(), in.Varint()
	r.FirstSeen, r.Changed = in.time(), in.time()

	r.Visits, r.Errors = in.number(), in.number()
	r.LastVisit, r.NextVisit = in.time(), in.time()
	r.Interval = time.Duration(in.Varint())
	r.Outcome, r.ErrorClass, r.Why = catalog.Outcome(in.Text()), catalog.ErrorClass(in.Text()), in.Text()
	r.Stretch = in.Varint()
	return r, in.End()
}

// listedBy returns the portals and datasets of some listings, each once.
func listedBy(sources []catalog.Source) (portals, datasets []string) {
	for _, s := range sources {
		if s.Portal != "" && !slices.Contains(portals, s.Portal) {
			portals = append(portals, s.Portal)
		}
		if s.Dataset != "" && !slices.Contains(datasets, s.Dataset) {
			datasets = append(datasets, s.Dataset)
		}
	}
	return portals, datasets
}

func (w *writer) digests(d catalog.Digests) {
	w.bytes(d.SHA256[:])
	w.bytes(d.MD5[:])
}

func (r *reader) digests() (d catalog.Digests) {
	copy(d.SHA256[:], r.Bytes(len(d.SHA256)))
	copy(d.MD5[:], r.Bytes(len(d.MD5)))
	return d
}

// encodeVersion returns the record of version n of a resource.
func encodeVersion(resource string, n int, v catalog.Version) []byte {
	w := writer{make([]byte, 0, 512+len(v.URL))}
	w.b = append(w.b, binaryRecord)
	previous, first := "", v.Previous == ""
	if n > 0 {
		previous = ns.VersionID(resource, n-1)
	}
	follows := !first && v.Previous == previous
	visited := v.Activity == ns.ActivityID(resource, v.At)
	w.flags(first, follows, visited, v.Truncated != "", v.Withdrawn != nil)
	w.text(v.URL)
	w.digests(v.Digests)
	w.signed(v.Size)
	w.text(v.Type)
	w.text(v.Charset)
	w.text(v.Because)
	w.name(v.FileName, v.URL)
	w.time(v.At)
	if !visited {
		w.text(v.Activity)
	}
	if !first && !follows {
		w.text(v.Previous)
	}
	w.text(v.ErrorPage)
	w.text(v.LastModified)
	w.text(v.ETag)
	w.header(v.Headers)
	w.header(v.Request)
	if v.Truncated != "" {
		w.text(v.Truncated)
	}
	if g := v.Withdrawn; g != nil {
		w.time(g.At)
		w.number(g.Status)
		w.text(g.Reason)
		w.text(g.Basis)
		w.text(g.By)
	}
	return w.b
}

func decodeVersion(resource string, n int, raw []byte) (v catalog.Version, err error) {
	r := reader{fields.Reader{B: raw[1:]}}
	var first, follows, visited, truncated, withdrawn bool
	r.flags(&first, &follows, &visited, &truncated, &withdrawn)
	v.ID, v.N = ns.VersionID(resource, n), n
	v.URL = r.Text()
	v.Digests = r.digests()
	v.Size = r.Varint()
	v.Type, v.Charset, v.Because = r.Text(), r.Text(), r.Text()
	v.FileName = r.name(v.URL)
	v.At = r.time()
	if v.Activity = ns.ActivityID(resource, v.At); !visited {
		v.Activity = r.Text()
	}
	switch {
	case follows && n > 0:
		v.Previous = ns.VersionID(resource, n-1)
	case !first:
		v.Previous = r.Text()
	}
	v.ErrorPage, v.LastModified, v.ETag = r.Text(), r.Text(), r.Text()
	v.Headers, v.Request = r.header(), r.header()
	if truncated {
		v.Truncated = r.Text()
	}
	if withdrawn {
		v.Withdrawn = &catalog.Withdrawal{At: r.time(), Status: r.number(), Reason: r.Text(), Basis: r.Text(), By: r.Text()}
	}
	return v, r.End()
}

// header appends header fields by name, so that equal headers have equal records. nil stays nil.
func (w *writer) header(h http.Header) {
	if h == nil {
		w.unsigned(0)
		return
	}
	w.unsigned(uint64(len(h)) + 1)
	names := make([]string, 0, 32)
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		w.text(name)
		w.list(h[name])
	}
}

func (r *reader) header() http.Header {
	n := r.Uvarint()
	if n == 0 {
		return nil
	}
	if n--; n > uint64(len(r.B)/2) {
		r.Fail()
		return nil
	}
	h := make(http.Header, n)
	for range n {
		name := r.Text()
		h[name] = r.list()
	}
	return h
}
