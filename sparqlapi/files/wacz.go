package files

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
)

// WACZ is a WARC file packed with an index and a list of pages, for players such as ReplayWeb.page (Web Archive
// Collection Zipped 1.1.1). The WARC file is stored inside the zip, so that players read single records by range. Like
// a WARC, it is the same for the same versions.
type WACZ struct {
	warc    *WARC
	order   []int32 // of the records in the index
	parts   []part
	size    int64
	central []byte // the directory of the zip
	etag    string
}

// part is one file of the zip.
type part struct {
	file
	sha   [32]byte
	write func(w *bufio.Writer) // nil for the WARC file
}

// The files of a WACZ.
const (
	packageName = "datapackage.json"
	digestName  = "datapackage-digest.json"
	pagesName   = "pages/pages.jsonl"
	indexName   = "indexes/index.cdx"
	warcName    = "archive/data.warc.gz"
)

// NewWACZ packs a WARC file. It reads the whole file once, for its checksums.
func NewWACZ(ctx context.Context, w *WARC, c BundleContents) (*WACZ, error) {
	sum := &waczSum{meter: meter{}, sha: sha256.New(), ctx: ctx}
	if _, err := w.WriteTo(sum, c); err != nil {
		return nil, err
	}
	return newWACZ(w, [32]byte(sum.sha.Sum(nil)), sum.crc), nil
}

// waczSum computes the checksums of what is written to it, until its context ends.
type waczSum struct {
	meter
	sha hash.Hash
	ctx context.Context
}

func (s *waczSum) Write(b []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	s.sha.Write(b)
	return s.meter.Write(b)
}

func newWACZ(w *WARC, sha [32]byte, crc uint32) *WACZ {
	z := &WACZ{warc: w, order: indexOrder(w.entries)}
	newest := Entry{Stored: archive.Stored{At: w.modified}}
	modified := newest.modified()
	inner := part{file: file{name: warcName, crc: crc, size: w.size, packed: w.size, modified: modified}, sha: sha}
	made := func(name string, write func(*bufio.Writer)) part {
		sum := &waczSum{sha: sha256.New(), ctx: context.Background()}
		out := bufio.NewWriterSize(sum, 64<<10)
		write(out)
		out.Flush() // a sum never fails
		return part{file: file{name: name, crc: sum.crc, size: sum.size, packed: sum.size, modified: modified},
			sha: [32]byte(sum.sha.Sum(nil)), write: write}
	}
	pages, index := made(pagesName, z.writePages), made(indexName, z.writeIndex)
	described := z.describe(pages, index, inner)
	description := made(packageName, func(w *bufio.Writer) { w.Write(described) })
	digest := made(digestName, func(w *bufio.Writer) {
		w.WriteString("{\n  \"path\": \"" + packageName + "\",\n  \"hash\": \"" + sha256Name(description.sha) + "\"\n}\n")
	})
	z.parts = []part{description, digest, pages, index, inner}
	at := int64(0)
	for i := range z.parts {
		z.parts[i].method = methodStore
		z.parts[i].offset = at
		at = z.parts[i].end()
	}
	for i := range z.parts {
		z.central = appendCentral(z.central, &z.parts[i].file)
	}
	z.central = appendEnd(z.central, len(z.parts), int64(len(z.central)), at)
	z.size = at + int64(len(z.central))
	z.etag = `"` + hex.EncodeToString(description.sha[:16]) + `"` // it names the checksums of all others
	return z
}

func sha256Name(sum [32]byte) string { return "sha256:" + hex.EncodeToString(sum[:]) }

// describe returns datapackage.json.
func (z *WACZ) describe(parts ...part) []byte {
	type resource struct {
		Name  string `json:"name"`
		Path  string `json:"path"`
		Hash  string `json:"hash"`
		Bytes int64  `json:"bytes"`
	}
	document := struct {
		Profile   string     `json:"profile"`
		Version   string     `json:"wacz_version"`
		Title     string     `json:"title,omitempty"`
		Software  string     `json:"software"`
		Created   string     `json:"created"`
		Resources []resource `json:"resources"`
	}{Profile: "data-package", Version: "1.1.1", Title: oneLine(z.warc.meta.Title), Software: "odarchive",
		Created: string(appendInstant(nil, z.warc.modified))}
	for _, p := range parts {
		document.Resources = append(document.Resources, resource{p.name[1+max(0, lastSlash(p.name)):], p.name, sha256Name(p.sha), p.size})
	}
	b, err := json.MarshalIndent(document, "", "  ")
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	return append(b, '\n')
}

func lastSlash(name string) int {
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '/' {
			return i
		}
	}
	return -1
}

// indexOrder returns the positions of entries in the order of a capture index: by SURT key, then time.
func indexOrder(entries []Entry) []int32 {
	keys, order := make([]string, len(entries)), make([]int32, len(entries))
	inParallel(len(entries), func(i int) { keys[i] = cdxKey(entries[i].URL) })
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(keys[a], keys[b]), byDate(entries[a], entries[b]), cmp.Compare(a, b))
	})
	return order
}

// cdxKey returns the key of an address in capture indexes.
func cdxKey(url string) string {
	if key, err := address.CDX(url); err == nil {
		return key
	}
	return targetURI(url) // an address of a record of an older program
}

// writeIndex writes the capture index: a line of CDXJ for each record.
func (z *WACZ) writeIndex(out *bufio.Writer) {
	var b []byte
	for _, i := range z.order {
		e, r := &z.warc.entries[i], &z.warc.records[i]
		b = put(b[:0], cdxKey(e.URL), " ")
		b = e.At.UTC().AppendFormat(b, timestamp)
		b = appendJSON(append(b, ` {"url": `...), targetURI(e.URL))
		b = appendJSON(append(b, `, "mime": `...), e.Type)
		status := cmp.Or(int(r.status), 200) // players show no other records
		b = strconv.AppendInt(append(b, `, "status": "`...), int64(status), 10)
		b = hex.AppendEncode(append(b, `", "digest": "sha256:`...), e.Ref.SHA256[:])
		b = strconv.AppendInt(append(b, `", "length": "`...), z.warc.memberSize(int(i)), 10)
		b = strconv.AppendInt(append(b, `", "offset": "`...), r.offset, 10)
		out.Write(append(b, "\", \"filename\": \"data.warc.gz\"}\n"...))
	}
}

// timestamp is the time of a capture, in UTC.
const timestamp = "20060102150405"

// writePages writes the list of pages: web pages if there are any, or else every version.
func (z *WACZ) writePages(out *bufio.Writer) {
	isPage := func(e *Entry) bool { return e.Type == "text/html" || e.Type == "application/xhtml+xml" }
	anyPage := slices.ContainsFunc(z.warc.entries, func(e Entry) bool { return isPage(&e) })
	out.WriteString("{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"Versions\"}\n")
	var b []byte
	for _, i := range z.order {
		e := &z.warc.entries[i]
		if anyPage && !isPage(e) {
			continue
		}
		b = appendJSON(append(b[:0], `{"id": `...), e.ID)
		b = appendJSON(append(b, `, "url": `...), targetURI(e.URL))
		b = appendInstant(append(b, `, "ts": "`...), e.At)
		b = appendJSON(append(b, `", "title": `...), cmp.Or(e.FileName, e.URL))
		out.Write(append(b, "}\n"...))
	}
}

// WriteTo writes the whole file. It returns the number of bytes written.
func (z *WACZ) WriteTo(out io.Writer, c BundleContents) (int64, error) {
	return z.WriteRange(out, c, 0, z.size)
}

// WriteRange implements container.
func (z *WACZ) WriteRange(out io.Writer, c BundleContents, offset, length int64) (int64, error) {
	s := &section{w: out, left: min(length, z.size-offset)}
	err := s.complete(z.steps(s, c, offset))
	return s.done, err
}

func (z *WACZ) steps(out *section, c BundleContents, offset int64) error {
	if out.left <= 0 {
		return nil
	}
	first := sort.Search(len(z.parts), func(i int) bool { return z.parts[i].end() > offset })
	for i := first; i < len(z.parts); i++ {
		p := &z.parts[i]
		skip, head := max(offset-p.offset, 0), p.localSize()
		if skip < head {
			out.skip = skip
			if _, err := out.Write(appendLocal(nil, &p.file)); err != nil {
				return err
			}
			skip = head
		}
		if p.write == nil {
			if err := z.warc.steps(out, c, skip-head); err != nil {
				return err
			}
			continue
		}
		out.skip = skip - head
		b := bufio.NewWriterSize(out, 64<<10)
		p.write(b)
		if err := b.Flush(); err != nil {
			return err
		}
	}
	out.skip = max(offset-(z.size-int64(len(z.central))), 0)
	_, err := out.Write(z.central)
	return err
}

func (z *WACZ) form() form { return form{"application/wacz", ".wacz"} }

// Size returns the length of the file in bytes.
func (z *WACZ) Size() int64 { return z.size }

// LeftOut returns the entries that are not in the file, each with the reason.
func (z *WACZ) LeftOut() []Entry { return z.warc.leftOut }

// Count returns the number of versions in the file.
func (z *WACZ) Count() int { return z.warc.Count() }

// ETag implements container.
func (z *WACZ) ETag() string { return z.etag }

// Modified implements container.
func (z *WACZ) Modified() time.Time { return z.warc.modified }

// packages remembers the checksums of WARC files, by their tags, so that a download in parts reads the whole file once
// only. The zero value is ready.
type packages struct {
	mu    sync.Mutex // guards what follows
	known map[string]checksums
	order []string // of known, oldest first
}

type checksums struct {
	sha [32]byte
	crc uint32
}

// maxPackages bounds the files that packages remembers.
const maxPackages = 256

// pack is NewWACZ with remembered checksums.
func (p *packages) pack(ctx context.Context, w *WARC, c BundleContents) (*WACZ, error) {
	p.mu.Lock()
	sums, ok := p.known[w.etag]
	p.mu.Unlock()
	if ok {
		return newWACZ(w, sums.sha, sums.crc), nil
	}
	z, err := NewWACZ(ctx, w, c)
	if err != nil {
		return nil, err
	}
	inner := z.parts[len(z.parts)-1]
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[string]checksums{}
	}
	if _, ok := p.known[w.etag]; !ok {
		p.known[w.etag] = checksums{inner.sha, inner.crc}
		p.order = append(p.order, w.etag)
	}
	if len(p.order) > maxPackages {
		delete(p.known, p.order[0])
		p.order = p.order[1:]
	}
	return z, nil
}
