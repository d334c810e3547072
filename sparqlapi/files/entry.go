// Serves many versions as one zip whose length, ETag and ranges are known before its first byte.
//
// A zip's entries are the stored deflate segments of the versions, one after another: nothing is compressed, and
// nothing but the list of entries is held in memory. NewBundle plans the zip, Plan.Serve answers a request for it
// (Range, If-Range, HEAD), and Plan.WriteTo writes it to a file. The first entries, manifest.json,
// metadata.ttl and ro-crate-metadata.json, describe the others. The same entries make the same bytes, so a download can
// be resumed at any later time. Files whose bytes are not available are left out, and both documents name them with the
// reason.
//
// WARC and WACZ (warc.go, wacz.go) are planned and served in the same way.
//
// Collect finds the versions that the rows of a query name, and BundleHandler has the routes.

package files

import (
	"io"
	"strings"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
)

// Entry is one file of a zip: a stored version, or a file inside one.
type Entry struct {
	archive.Stored         // the version; for a member, Type and Ref describe the member, and Ref has no layout
	Name           string  // path in the zip; New makes one if it is empty, and makes it safe and unique
	Member         *Member // nil unless the entry is a file inside the version
	Origin         *Origin // what portals say of the file; nil if that is not known
	LeftOut        string  // if not empty, one sentence on why the bytes are not available: the zip only names the entry
	elsewhere      string  // the IRI of a version below another base, which is left out and has no ID
	plain          bool    // a version whose texts need no escaping in any document
}

// Member is a file inside a version that is an archive. It is unpacked when it is sent, and is stored uncompressed in
// the zip.
type Member struct {
	Path  string                  // inside the version
	Write func(w io.Writer) error // writes the bytes, the same each time
}

// key identifies the file: each is in a zip once.
func (e *Entry) key() string {
	switch {
	case e.Member != nil:
		return e.ID + "/" + e.Member.Path
	case e.elsewhere != "":
		return e.elsewhere
	}
	return e.ID
}

// Meta is what a zip says about itself. It is part of the zip's bytes, so it must not change between two downloads of
// the same zip.
type Meta struct {
	Title string // for people
	Query string // the query that selected the entries, "" for none
	Base  string // IRI of the archive, below which the IRIs of versions are minted
}

// BundleContents is the content store.
type BundleContents interface {
	// Deflated opens the segments of a file in one layout.
	Deflated(sha [32]byte, layout uint64) (*content.Deflated, error)
	// Hold keeps all layouts readable until release is called.
	Hold() (release func())
}

var _ BundleContents = (*content.Store)(nil)

// dataSize returns the length of the entry's data in the zip.
func (e *Entry) dataSize() int64 {
	if e.Member != nil {
		return e.Ref.Size
	}
	return e.Ref.DeflateSize + int64(len(content.Tail))
}

// modified returns the entry's time in the zip: in whole seconds, and not before 1980, where the format begins.
func (e *Entry) modified() time.Time {
	t := e.At.UTC().Truncate(time.Second)
	if first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC); t.Before(first) {
		return first
	}
	return t
}

func validText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
