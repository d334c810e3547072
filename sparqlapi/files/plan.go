package files

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/http"
	"sync"
	"time"

	"odarchive/crawler/archive"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
)

// ErrEmpty means that a zip would contain no version.
var ErrEmpty = errors.New("no version is selected")

// Plan is a zip whose bytes are all determined. It holds only the list of entries, and may be used concurrently.
type Plan struct {
	meta     Meta
	mint     ns.Mint
	versions string // prefix of the IRIs of versions
	entries  []Entry
	leftOut  []Entry
	made     []file  // manifest.json, metadata.ttl and ro-crate-metadata.json
	offsets  []int64 // of the entries' local headers
	central  int64   // offset of the central directory
	marks    []int64 // offset of every markEvery-th entry of the directory
	size     int64
	rawSize  int64
	modified time.Time // of the newest entry
	etag     string
}

var documents = [...]document{manifest, metadata, crate}

// NewBundle plans a zip of the entries. It takes ownership of the slice, drops repeated entries, and gives the others
// safe and unique names. Without entries it returns ErrEmpty; if all are left out, a problem of status 422.
func NewBundle(entries []Entry, meta Meta) (*Plan, error) {
	p := &Plan{meta: meta, mint: ns.Mint{Base: meta.Base}}
	p.versions = p.mint.Version("")
	entries = keep(unique(entries), func(e *Entry) bool {
		if e.LeftOut != "" {
			p.leftOut = append(p.leftOut, *e)
		}
		return e.LeftOut == ""
	})
	switch {
	case len(entries) > 0:
	case len(p.leftOut) > 0:
		return nil, problem.Newf(http.StatusUnprocessableEntity, "No selected file can be unpacked",
			"%d files are selected, and none is available; the first is %s: %s", len(p.leftOut), p.iri(&p.leftOut[0]), p.leftOut[0].LeftOut)
	default:
		return nil, ErrEmpty
	}
	nameAll(entries, p.iri)
	p.entries, p.offsets = entries, make([]int64, len(entries))
	plainBase := isPlainASCII(meta.Base)
	for i := range entries {
		e := &entries[i]
		e.plain = plainBase && e.Member == nil && isPlainASCII(e.ID) && isPlainASCII(e.URL) && isPlainASCII(e.Type) && isPlainASCII(e.Name)
		p.rawSize += e.Ref.Size
		if e.At.After(p.modified) {
			p.modified = e.At
		}
	}
	p.makeDocuments()
	at := p.made[len(p.made)-1].end()
	for i := range entries {
		p.offsets[i] = at
		f := p.file(i)
		at = f.end()
	}
	p.central = at
	for i := range p.count() {
		if i%markEvery == 0 {
			p.marks = append(p.marks, at)
		}
		f := p.listed(i)
		at += f.centralSize()
	}
	var buf [128]byte
	p.size = at + int64(len(appendEnd(buf[:0], p.count(), at-p.central, p.central)))
	return p, nil
}

// makeDocuments computes the documents and the ETag, concurrently because each reads all entries.
func (p *Plan) makeDocuments() {
	newest := Entry{Stored: archive.Stored{At: p.modified}}
	var running sync.WaitGroup
	p.made = make([]file, len(documents))
	for i, name := range []string{manifestName, metadataName, crateName} {
		running.Go(func() {
			size, crc := measure(documents[i], p)
			p.made[i] = file{name: name, method: methodStore, crc: crc, size: size, packed: size, modified: newest.modified()}
		})
	}
	running.Go(func() { p.etag = p.hash() })
	running.Wait()
	at := int64(0)
	for i := range p.made {
		p.made[i].offset = at
		at = p.made[i].end()
	}
}

// hash returns the ETag: a hash of everything that determines the zip's bytes.
func (p *Plan) hash() string {
	sum := sha256.New()
	var b []byte
	text := func(parts ...string) {
		n := 0
		for _, s := range parts {
			n += len(s)
		}
		b = put(binary.AppendUvarint(b, uint64(n)), parts...)
	}
	iri := func(e *Entry) {
		if e.Member == nil && e.elsewhere == "" {
			text(p.versions, e.ID) // not p.iri: that would allocate
		} else {
			text(p.iri(e))
		}
	}
	text("odarchive bundle 3") // raise the number with every change of how the bytes are made
	text(p.meta.Base)
	text(p.meta.Title)
	text(p.meta.Query)
	for i := range p.entries {
		e := &p.entries[i]
		text(e.Name)
		text(e.URL)
		iri(e)
		text(e.Type)
		text(e.Origin.text())
		b = append(b, e.Ref.SHA256[:]...)
		b = append(b, e.Ref.MD5[:]...)
		b = binary.AppendUvarint(b, uint64(e.Ref.DeflateSize))
		b = binary.AppendUvarint(b, e.Ref.Layout)
		b = binary.AppendVarint(b, e.At.UnixMilli())
		sum.Write(b)
		b = b[:0]
	}
	for i := range p.leftOut {
		iri(&p.leftOut[i])
		text(p.leftOut[i].LeftOut)
	}
	sum.Write(b)
	return `"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`
}

func (p *Plan) count() int { return len(p.made) + len(p.entries) }

// markEvery bounds the directory entries that are made and discarded for a range that begins inside the directory.
const markEvery = 256

// listed returns entry i of the directory.
func (p *Plan) listed(i int) file {
	if i < len(p.made) {
		return p.made[i]
	}
	return p.file(i - len(p.made))
}

// iri returns the IRI of an entry's version or member.
func (p *Plan) iri(e *Entry) string {
	switch {
	case e.Member != nil:
		return p.mint.Member(e.ID, e.Member.Path)
	case e.elsewhere != "":
		return e.elsewhere
	}
	return p.versions + e.ID
}

// file returns the i-th entry as the zip's structures describe it.
func (p *Plan) file(i int) file {
	e := &p.entries[i]
	method := uint16(methodDeflate)
	if e.Member != nil {
		method = methodStore
	}
	return file{name: e.Name, method: method, crc: e.Ref.CRC32, size: e.Ref.Size, packed: e.dataSize(), offset: p.offsets[i],
		modified: e.modified()}
}

// Entries returns the entries of the zip, with their final names. The caller must not change them.
func (p *Plan) Entries() []Entry { return p.entries }

// LeftOut returns the entries that the zip only names, each with the reason.
func (p *Plan) LeftOut() []Entry { return p.leftOut }

// Size returns the length of the zip in bytes.
func (p *Plan) Size() int64 { return p.size }

// RawSize returns the uncompressed size of all entries.
func (p *Plan) RawSize() int64 { return p.rawSize }

// ETag returns a strong entity tag: the same tag means the same bytes.
func (p *Plan) ETag() string { return p.etag }

// Modified returns the time of the newest entry.
func (p *Plan) Modified() time.Time { return p.modified }
