// Package bundle serves many versions as one zip that is known before its first byte: length, ETag and every range.
//
// The entries of the zip are the deflate segments of the content store behind one another; nothing is compressed or held
// in memory while the zip is written. Plan works the lengths out, Serve answers a request (Range, If-Range, HEAD), and
// WriteTo writes to a file. The first two entries are made from the list of entries itself: manifest.json and metadata.ttl.
// The same entries make the same bytes, so a download can be resumed after any time. Files whose bytes cannot be had any
// more are left out, and both documents name them with the reason.
//
// Collect finds the versions that an answer to a query names, and Handler has the routes for them. What knows versions
// (Archive) and what runs queries (Querier) are given to it.
package bundle

import (
	"io"
	"strings"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
)

// Entry is one version in a zip.
type Entry struct {
	Name        string // path in the zip; Plan makes it safe and unique, and makes one where it is empty
	URL         string // of the resource
	VersionIRI  string // each version stands once in a zip
	MediaType   string
	SHA256      [32]byte
	MD5         [16]byte
	CRC32       uint32
	Size        int64     // raw bytes
	DeflateSize int64     // as content.Ref has it
	Layout      uint64    // as content.Ref has it
	Modified    time.Time // of the version
	Member      *Member   // where the entry is a file inside a version; VersionIRI is the member's then
	LeftOut     string    // one sentence on why the bytes cannot be had: the zip names the entry without holding it
	plain       bool      // nothing in name, URL, IRI and type has to be escaped anywhere
}

// Member is a file inside a version that is an archive. It is unpacked when it is sent, and stands in the zip as it is.
type Member struct {
	Of    string                  // IRI of the version
	Write func(w io.Writer) error // writes its bytes, the same each time
}

// EntryOf makes the entry of a version that is stored.
func EntryOf(s *archive.Stored, iri string) Entry {
	return Entry{
		Name: Name(s.URL, s.N, s.FileName), URL: s.URL, VersionIRI: iri, MediaType: s.Type,
		SHA256: s.Ref.SHA256, MD5: s.Ref.MD5, CRC32: s.Ref.CRC32, Size: s.Ref.Size, DeflateSize: s.Ref.DeflateSize, Layout: s.Ref.Layout,
		Modified: s.At,
	}
}

// Meta is what a zip says about itself. It is part of its bytes, so nothing in it may change between two downloads of
// the same thing.
type Meta struct {
	Title string // for people
	Query string // that selected the entries, "" for none
	Base  string // IRI of the archive
}

// Contents is the content store.
type Contents interface {
	// Deflated opens the segments of a file in one layout.
	Deflated(sha [32]byte, layout uint64) (*content.Deflated, error)
	// Hold keeps layouts readable until it is released.
	Hold() (release func())
}

var _ Contents = (*content.Store)(nil)

// bytes that an entry's data takes in the zip.
func (e *Entry) dataSize() int64 {
	if e.Member != nil {
		return e.Size
	}
	return e.DeflateSize + int64(len(content.Tail))
}

// modified is the time in the zip: seconds, not before 1980, where the format begins.
func (e *Entry) modified() time.Time {
	t := e.Modified.UTC().Truncate(time.Second)
	if first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC); t.Before(first) {
		return first
	}
	return t
}

func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
