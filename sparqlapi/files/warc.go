package files

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/exchange/warc"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
)

// BundleSource describes versions, and remembers the digests of their WARC records.
type BundleSource interface {
	// Fetched returns a version with the visit that stored it.
	Fetched(id string) (archive.Fetched, error)
	// EachFetched calls f with each version in turn, until an error; digest returns a remembered digest of a head.
	EachFetched(ids []string, f func(i int, v archive.Fetched, digest func(head [8]byte) (sum [32]byte, ok bool, err error)) error) error
	// KeepBlockDigests remembers digests.
	KeepBlockDigests(ctx context.Context, sums []archive.BlockDigest) error
}

var _ BundleSource = (*archive.Archive)(nil)

// Blocks opens the bytes of versions, to compute digests.
type Blocks interface {
	BundleContents
	Open(sha [32]byte) (*content.Reader, error)
}

// WARC is a WARC 1.1 file of versions, whose bytes are all determined: a warcinfo record, and a response record for
// each version, or a resource record for one that was not fetched by HTTP. Each record is a gzip member, in which
// stored deflate blocks hold the heads, followed by the version's segments as they are in the packs. The file is the
// same for the same versions, in any archive with the same base. It may be used concurrently.
type WARC struct {
	meta     Meta
	mint     ns.Mint
	source   BundleSource
	entries  []Entry
	leftOut  []Entry
	info     []byte // the member of the warcinfo record
	infoID   string
	records  []record
	size     int64
	rawSize  int64
	modified time.Time
	etag     string
	room     atomic.Int64 // bytes of heads that may still be kept
}

// maxHeads bounds the heads that a plan keeps in memory, in bytes, so that writing need not read their records again.
const maxHeads = 8 << 20

// noInfo is the id in heads until the warcinfo record has one, which has the same length.
var noInfo = recordID("urn:odarchive:none")

// record is what is planned of one version's record.
type record struct {
	offset int64    // of the member in the file
	block  [32]byte // SHA-256 of the block
	head   uint32   // length of the WARC head and the HTTP head together
	kept   []byte   // these heads, if there is room for them in maxHeads; their warcinfo id is still the placeholder
	status uint16   // of the response, 0 for a resource record
}

// NewWARC plans a WARC file of the entries, in the order of their dates, because the order of a query's rows may differ
// between archives. Dates are compared as the file says them, in milliseconds: an archive that imported the file knows
// no more, and must write the same file. It takes ownership of the slice and drops repeated entries. Files inside
// versions are left out, because a WARC holds what was fetched. Without entries it returns ErrEmpty; if all are left
// out, a problem of status 422.
//
// A block digest covers the HTTP head, too. The archive computes it with a version's other digests; if it does not have
// it for this head, as for versions of older programs, the bytes are read once, and the source remembers the digest.
func NewWARC(ctx context.Context, entries []Entry, meta Meta, source BundleSource, contents Blocks) (*WARC, error) {
	w := &WARC{meta: meta, mint: ns.Mint{Base: meta.Base}, source: source}
	w.entries = keep(unique(entries), func(e *Entry) bool {
		if e.Member != nil && e.LeftOut == "" {
			e.LeftOut = "it is a file inside a version, and a WARC file holds whole versions"
		}
		if e.LeftOut != "" {
			w.leftOut = append(w.leftOut, *e)
		}
		return e.LeftOut == ""
	})
	switch {
	case len(w.entries) > 0:
	case len(w.leftOut) > 0:
		return nil, problem.Newf(http.StatusUnprocessableEntity, "No selected file can be in a WARC",
			"%d files are selected, and none can be; of the first: %s", len(w.leftOut), w.leftOut[0].LeftOut)
	default:
		return nil, ErrEmpty
	}
	slices.SortFunc(w.entries, func(a, b Entry) int { return cmp.Or(byDate(a, b), strings.Compare(a.ID, b.ID)) })
	w.infoID = noInfo
	w.room.Store(maxHeads)
	w.records = make([]record, len(w.entries))
	marks, err := w.planRecords(ctx, contents)
	if err != nil {
		return nil, err
	}
	w.number(marks)
	return w, nil
}

// byDate compares two entries by their dates as records say them.
func byDate(a, b Entry) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) }

func (w *WARC) iri(i int) string { return w.mint.Version(w.entries[i].ID) }

// memberSize returns the length of a record's gzip member.
func (w *WARC) memberSize(i int) int64 {
	return int64(len(warc.MemberHead)) + warc.StoredSize(int64(w.records[i].head)) + w.entries[i].Ref.DeflateSize +
		int64(len(warc.MemberEnd)) + 8
}

// WriteTo writes the whole file. It returns the number of bytes written.
func (w *WARC) WriteTo(out io.Writer, c BundleContents) (int64, error) {
	return w.WriteRange(out, c, 0, w.size)
}

// WriteRange implements container.
func (w *WARC) WriteRange(out io.Writer, c BundleContents, offset, length int64) (int64, error) {
	buf := bufio.NewWriterSize(out, int(min(writeBuffer, max(length, 0))))
	s := &section{w: buf, left: min(length, w.size-offset)}
	err := s.complete(w.steps(s, c, offset))
	if failed := buf.Flush(); err == nil {
		err = failed
	}
	return s.done - int64(buf.Buffered()), err
}

// writeBuffer is the number of bytes that are written at once: heads and small versions cost a copy instead of a write
// each.
const writeBuffer = 128 << 10

// steps writes the file from offset on until the section is complete.
func (w *WARC) steps(out *section, c BundleContents, offset int64) error {
	if out.left <= 0 {
		return nil
	}
	if offset < int64(len(w.info)) {
		out.skip = offset
		if _, err := out.Write(w.info); err != nil {
			return err
		}
	}
	first := sort.Search(len(w.records), func(i int) bool { return w.records[i].offset > offset }) - 1
	first = max(first, 0)
	ahead := fetchAhead(c, w.entries[first:])
	defer ahead.Close()
	for i := first; i < len(w.records); i++ {
		if out.left > aheadFrom {
			ahead.At(i - first)
		}
		if err := w.writeMember(out, c, i, max(offset-w.records[i].offset, 0)); err != nil {
			return err
		}
	}
	return nil
}

// headAgain returns the heads of a record as they were planned, with the id of the warcinfo record.
func (w *WARC) headAgain(i int) ([]byte, error) {
	if kept := w.records[i].kept; kept != nil {
		return bytes.Replace(kept, []byte(noInfo), []byte(w.infoID), 1), nil // it stands before all that strangers say
	}
	f, err := w.source.Fetched(w.entries[i].ID)
	if err != nil {
		return nil, err
	}
	head := w.head(i, f, httpHead(f))
	if uint32(len(head)) != w.records[i].head {
		return nil, errors.New("what is recorded of it has changed")
	}
	return head, nil
}

// writeMember writes a record without its first skip bytes.
func (w *WARC) writeMember(out *section, c BundleContents, i int, skip int64) error {
	e := &w.entries[i]
	head, err := w.headAgain(i)
	if err != nil {
		return &EntryError{Name: e.URL, Version: w.iri(i), Err: err}
	}
	before := warc.AppendStored([]byte(warc.MemberHead), head)
	if skip < int64(len(before)) {
		out.skip = skip
		if _, err := out.Write(before); err != nil {
			return err
		}
		skip = int64(len(before))
	}
	skip -= int64(len(before))
	if skip < e.Ref.DeflateSize {
		if err := writeBody(out, c, e, w.iri(i), skip); err != nil {
			return err
		}
		skip = e.Ref.DeflateSize
	}
	out.skip = skip - e.Ref.DeflateSize
	_, err = out.Write(warc.AppendMemberEnd(nil, head, e.Ref.CRC32, e.Ref.Size))
	return err
}

// infoMember returns the gzip member of the warcinfo record.
func (w *WARC) infoMember() []byte {
	var fields strings.Builder
	fmt.Fprintf(&fields, "software: odarchive\r\nformat: WARC File Format 1.1\r\nconformsTo: %s\r\n",
		"http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/")
	if base := oneLine(w.meta.Base); base != "" {
		fmt.Fprintf(&fields, "isPartOf: %s\r\n", base)
	}
	if query := oneLine(w.meta.Query); query != "" {
		fmt.Fprintf(&fields, "description: versions that this query selects: %s\r\n", query)
	}
	block := fields.String()
	sum := sha256.Sum256([]byte(block))
	head := put(nil, "WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: ", w.infoID, "\r\nWARC-Date: ")
	head = appendInstant(head, w.modified)
	head = put(head, "\r\nWARC-Block-Digest: sha256:", hex.EncodeToString(sum[:]),
		"\r\nContent-Type: application/warc-fields\r\nContent-Length: ", fmt.Sprint(len(block)), "\r\n\r\n")
	text := append(head, block...)
	crc := crc32.ChecksumIEEE(append(text[:len(text):len(text)], "\r\n\r\n"...))
	b := append(warc.AppendStored([]byte(warc.MemberHead), text), warc.MemberEnd...)
	b = binary.LittleEndian.AppendUint32(b, crc)
	return binary.LittleEndian.AppendUint32(b, uint32(len(text)+4))
}

// oneLine returns a text with its runs of white space and control characters replaced by single spaces.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(validText(s), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
}

func (w *WARC) form() form { return form{"application/warc", ".warc.gz"} }

// Size returns the length of the file in bytes.
func (w *WARC) Size() int64 { return w.size }

// RawSize returns the uncompressed size of all versions.
func (w *WARC) RawSize() int64 { return w.rawSize }

// Count returns the number of versions in the file.
func (w *WARC) Count() int { return len(w.entries) }

// LeftOut returns the entries that are not in the file, each with the reason.
func (w *WARC) LeftOut() []Entry { return w.leftOut }

// ETag implements container.
func (w *WARC) ETag() string { return w.etag }

// Modified implements container.
func (w *WARC) Modified() time.Time { return w.modified }
