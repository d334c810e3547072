package files

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/warc"
	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/term"
)

// described is a Source: every version of a world was fetched with some headers.
type described struct {
	*world
	known map[string][32]byte // remembered digests
	asked int                 // digests that were not known
}

func (d *described) Fetched(id string) (archive.Fetched, error) {
	for _, e := range d.versions {
		if e.ID != id {
			continue
		}
		f := archive.Fetched{Version: catalog.Version{ID: id, URL: e.URL, Type: e.Type, At: e.At, Size: e.Ref.Size, Headers: http.Header{
			"Content-Type": {"text/csv"}, "Content-Encoding": {"gzip"}, "Content-Length": {"12"}, "X-Odd": {"a\r\nSet-Cookie: b", ""},
			"Bad Name": {"x"}, "Vary": {"Bücher"}}}}
		if strings.HasPrefix(e.URL, "http") {
			f.Visit = catalog.Activity{ID: "x", Status: 200, FinalURL: e.URL + "#end"}
		}
		return f, nil
	}
	return archive.Fetched{}, archive.ErrNotFound
}

func (d *described) EachFetched(ids []string,
	f func(i int, v archive.Fetched, digest func(head [8]byte) ([32]byte, bool, error)) error) error {
	for i, id := range ids {
		v, err := d.Fetched(id)
		if err == nil {
			err = f(i, v, func(head [8]byte) ([32]byte, bool, error) {
				sum, ok := d.known[id+string(head[:])]
				if !ok {
					d.asked++
				}
				return sum, ok, nil
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *described) KeepBlockDigests(_ context.Context, sums []archive.BlockDigest) error {
	for _, s := range sums {
		d.known[s.Version+string(s.Head[:])] = s.SHA256
	}
	return nil
}

func planWARC(t testing.TB, d *described) *WARC {
	t.Helper()
	w, err := NewWARC(t.Context(), d.entries(), Meta{Query: "SELECT ?v {\n ?v a ?t }", Base: mint.Base}, d, d.store)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// written returns all bytes of a container.
func written(t testing.TB, d *described, file container) []byte {
	t.Helper()
	var b bytes.Buffer
	if n, err := file.WriteRange(&b, d.store, 0, file.Size()); err != nil || n != file.Size() || int64(b.Len()) != n {
		t.Fatalf("wrote %d of %d: %v", n, file.Size(), err)
	}
	return b.Bytes()
}

// warcRecord is one gzip member of a WARC file.
type warcRecord struct {
	head           textproto.MIMEHeader
	block          []byte
	offset, length int
}

// readWARC reads a WARC file with one record in each gzip member.
func readWARC(t testing.TB, data []byte) (list []warcRecord) {
	t.Helper()
	in := bytes.NewReader(data)
	for in.Len() > 0 {
		at := len(data) - in.Len()
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Fatalf("at %d: %v", at, err)
		}
		z.Multistream(false)
		text := bufio.NewReader(z)
		first, _ := text.ReadString('\n')
		head, err := textproto.NewReader(text).ReadMIMEHeader()
		if err != nil || first != "WARC/1.1\r\n" {
			t.Fatalf("at %d: %q, %v", at, first, err)
		}
		rest, err := io.ReadAll(text)
		if err != nil {
			t.Fatalf("at %d: %v", at, err)
		}
		n, err := strconv.Atoi(head.Get("Content-Length"))
		if err != nil || n+4 != len(rest) || string(rest[n:]) != "\r\n\r\n" {
			t.Fatalf("at %d: Content-Length %d for %d bytes that end in %q", at, n, len(rest)-4, rest[max(0, len(rest)-4):])
		}
		list = append(list, warcRecord{head, rest[:n], at, len(data) - in.Len() - at})
	}
	return list
}

func TestAWARCHoldsEveryVersionAsTheResponseItCameWith(t *testing.T) {
	t.Parallel()
	d := &described{world: sample(t), known: map[string][32]byte{}}
	data := written(t, d, planWARC(t, d))
	list := readWARC(t, data)
	if len(list) != len(d.order)+1 || list[0].head.Get("WARC-Type") != "warcinfo" ||
		!bytes.Contains(list[0].block, []byte("SELECT ?v { ?v a ?t }\r\n")) {
		t.Fatalf("%d records, first %v %s", len(list), list[0].head, list[0].block)
	}
	before := ""
	for _, r := range list[1:] {
		iri := r.head.Get("Odarchive-Version")
		if date := r.head.Get("WARC-Date"); date < before {
			t.Errorf("%s comes after %s", date, before)
		} else {
			before = date
		}
		e, want := d.versions[iri], d.bytes[iri]
		sum, whole := sha256.Sum256(want), sha256.Sum256(r.block)
		for name, want := range map[string]string{
			"WARC-Payload-Digest": "sha256:" + hex.EncodeToString(sum[:]), "WARC-Block-Digest": "sha256:" + hex.EncodeToString(whole[:]),
			"WARC-Date": e.At.Format("2006-01-02T15:04:05.000Z"), "WARC-Target-URI": targetURI(e.URL), "Odarchive-Version": iri,
			"WARC-Warcinfo-ID": list[0].head.Get("WARC-Record-ID"),
		} {
			if got := r.head.Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", e.URL, name, got, want)
			}
		}
		if strings.HasPrefix(e.URL, "ftp") {
			if r.head.Get("WARC-Type") != "resource" || !bytes.Equal(r.block, want) || r.head.Get("Odarchive-URL") != e.URL {
				t.Errorf("%s: %v", e.URL, r.head)
			}
			continue
		}
		head, body, _ := bytes.Cut(r.block, []byte("\r\n\r\n"))
		if r.head.Get("WARC-Type") != "response" || !bytes.Equal(body, want) || r.head.Get("Odarchive-Final-Url") != e.URL+"#end" {
			t.Errorf("%s: %v, %d bytes", e.URL, r.head, len(body))
		}
		const wantHead = "HTTP/1.1 200 OK\r\nX-Orig-Content-Encoding: gzip\r\nX-Orig-Content-Length: 12\r\nContent-Type: " +
			"text/csv\r\nVary: Bücher\r\nX-Odd: a  Set-Cookie: b\r\nX-Odd: "
		if string(head) != wantHead {
			t.Errorf("%s: head\n%q, want\n%q", e.URL, head, wantHead)
		}
	}
	if again := written(t, d, planWARC(t, d)); !bytes.Equal(again, data) {
		t.Error("the second file differs from the first")
	}
}

func TestRecordsAreOrderedByTheDatesThatTheySay(t *testing.T) {
	t.Parallel()
	d := &described{world: newWorld(t), known: map[string][32]byte{}}
	for i := range 8 {
		d.add(fmt.Sprintf("http://a.example/%d", i), 0, "a", []byte{byte(i)})
	}
	exact := planWARC(t, d)
	for i, iri := range d.order { // of one millisecond, in another order than by their ids
		e := d.versions[iri]
		e.At = e.At.Add(time.Duration(i*7919%1000) * time.Microsecond)
		d.versions[iri] = e
	}
	if finer := planWARC(t, d); finer.ETag() != exact.ETag() || !bytes.Equal(written(t, d, finer), written(t, d, exact)) {
		t.Error("an archive that knows parts of milliseconds writes another file than one that has imported it")
	}
}

func TestTheDigestsOfRecordsAreComputedOnce(t *testing.T) {
	t.Parallel()
	d := &described{world: sample(t), known: map[string][32]byte{}}
	first := planWARC(t, d)
	computed := d.asked
	second := planWARC(t, d)
	if computed == 0 || d.asked != computed || first.ETag() != second.ETag() {
		t.Errorf("%d digests were computed, and then %d; tags %s and %s", computed, d.asked-computed, first.ETag(), second.ETag())
	}
}

func TestAWACZNamesTheChecksumsAndPlacesOfItsRecords(t *testing.T) {
	t.Parallel()
	d := &described{world: sample(t), known: map[string][32]byte{}}
	packed, err := NewWACZ(t.Context(), planWARC(t, d), d.store)
	if err != nil {
		t.Fatal(err)
	}
	data := written(t, d, packed)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil || f.Method != zip.Store {
			t.Fatalf("%s: method %d, %v", f.Name, f.Method, err)
		}
		if files[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	var described struct {
		Profile   string
		Resources []struct {
			Path, Hash string
			Bytes      int
		}
	}
	if err := json.Unmarshal(files["datapackage.json"], &described); err != nil || described.Profile != "data-package" ||
		len(described.Resources) != 3 {
		t.Fatalf("%v: %s", err, files["datapackage.json"])
	}
	for _, r := range described.Resources {
		if b := files[r.Path]; sha256Name(sha256.Sum256(b)) != r.Hash || len(b) != r.Bytes {
			t.Errorf("%s: %s, %d bytes; it has %d", r.Path, r.Hash, r.Bytes, len(b))
		}
	}
	warc := files["archive/data.warc.gz"]
	if !bytes.Equal(warc, written(t, d, planWARC(t, d))) {
		t.Error("the WARC file inside differs from the one alone")
	}
	places := map[string]string{} // offset and length -> address
	for _, r := range readWARC(t, warc) {
		places[strconv.Itoa(r.offset)+" "+strconv.Itoa(r.length)] = r.head.Get("WARC-Target-URI")
	}
	lines := strings.Split(strings.TrimSpace(string(files["indexes/index.cdx"])), "\n")
	if len(lines) != len(d.order) {
		t.Errorf("%d lines for %d records", len(lines), len(d.order))
	}
	before := ""
	for _, line := range lines {
		key, object, _ := strings.Cut(line, " {")
		var c struct{ URL, Offset, Length, Filename, Status string }
		if err := json.Unmarshal([]byte("{"+object), &c); err != nil || places[c.Offset+" "+c.Length] != c.URL ||
			c.Filename != "data.warc.gz" || key < before {
			t.Errorf("%s: %v; there is %q", line, err, places[c.Offset+" "+c.Length])
		}
		before = key
	}
	if n := strings.Count(string(files["pages/pages.jsonl"]), "\n"); n != len(d.order)+1 {
		t.Errorf("%d pages: %s", n, files["pages/pages.jsonl"])
	}
}

func TestEveryPartOfAWARCOrWACZIsTheSameAsInTheWhole(t *testing.T) {
	t.Parallel()
	d := &described{world: sample(t), known: map[string][32]byte{}}
	warc := planWARC(t, d)
	packed, err := NewWACZ(t.Context(), warc, d.store)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []container{warc, packed} {
		whole := written(t, d, file)
		for from := 0; from < len(whole); from += 1 + len(whole)/211 {
			for _, n := range []int{1, 1000, len(whole)} {
				var b bytes.Buffer
				end := min(from+n, len(whole))
				if k, err := file.WriteRange(&b, d.store, int64(from), int64(n)); err != nil || int(k) != end-from ||
					!bytes.Equal(b.Bytes(), whole[from:end]) {
					t.Fatalf("%T: %d bytes from %d on: %d, %v", file, n, from, k, err)
				}
			}
		}
	}
}

func TestWARCAndWACZAreServedInPartsAndUnderOneTag(t *testing.T) {
	t.Parallel()
	d := &described{world: sample(t), known: map[string][32]byte{}}
	first := d.order[0]
	rows := fakeQuery{{term.IRI(first)}, {term.IRI(d.order[4])}}
	for _, kind := range []string{"warc", "wacz"} {
		server := func(rows fakeQuery) string {
			h := &BundleHandler{Archive: d, Contents: d.store, Source: d, Queries: rows, Mint: mint}
			s := httptest.NewServer(
				problem.Handler(map[string]func(http.ResponseWriter, *http.Request) error{"warc": h.WARC, "wacz": h.WACZ}[kind]))
			t.Cleanup(s.Close)
			return s.URL + "/?q="
		}
		address := server(rows) + "SELECT"
		whole, data := do(t, "GET", address, "")
		tag := whole.Header.Get("ETag")
		if whole.StatusCode != 200 || whole.ContentLength != int64(len(data)) || tag == "" ||
			whole.Header.Get("Content-Type") != "application/"+kind {
			t.Fatalf("%s: %d %v", kind, whole.StatusCode, whole.Header)
		}
		if head, _ := do(t, "HEAD", address, ""); head.ContentLength != whole.ContentLength || head.Header.Get("ETag") != tag {
			t.Errorf("%s: HEAD %v", kind, head.Header)
		}
		if rest, got := do(t, "GET", address, "", "Range", "bytes=500-", "If-Range", tag); rest.StatusCode != 206 ||
			!bytes.Equal(got, data[500:]) {
			t.Errorf("%s: resumed with %d, %d bytes", kind, rest.StatusCode, len(got))
		}
		if same, _ := do(t, "GET", address, "", "If-None-Match", tag); same.StatusCode != 304 {
			t.Errorf("%s: If-None-Match %d", kind, same.StatusCode)
		}
		if post, got := do(t, "POST", address, ""); post.StatusCode != 200 || !bytes.Equal(got, data) {
			t.Errorf("%s: POST %d", kind, post.StatusCode)
		}
		if none, _ := do(t, "GET", server(nil)+"SELECT", ""); none.StatusCode != 404 {
			t.Errorf("%s: nothing selected, %d", kind, none.StatusCode)
		}
		if ask, _ := do(t, "GET", server(rows)+"ASK", ""); ask.StatusCode != 400 {
			t.Errorf("%s: ASK %d", kind, ask.StatusCode)
		}
	}
}

func TestFilesInsideVersionsAreLeftOutOfAWARC(t *testing.T) {
	t.Parallel()
	d := &described{world: sample(t), known: map[string][32]byte{}}
	one := d.versions[d.order[0]]
	inside := Entry{Stored: one.Stored, Member: &Member{Path: "a.csv", Write: func(io.Writer) error { return nil }}}
	w, err := NewWARC(t.Context(), []Entry{one, inside}, Meta{Base: mint.Base}, d, d.store)
	if err != nil || w.Count() != 1 || len(w.LeftOut()) != 1 {
		t.Errorf("%+v, %v", w, err)
	}
	_, err = NewWARC(t.Context(), []Entry{inside}, Meta{Base: mint.Base}, d, d.store)
	if p, ok := errors.AsType[*problem.Error](err); !ok || p.Status != http.StatusUnprocessableEntity {
		t.Errorf("only a file inside a version: %v", err)
	}
	if _, err := NewWARC(t.Context(), nil, Meta{Base: mint.Base}, d, d.store); !errors.Is(err, ErrEmpty) {
		t.Errorf("nothing: %v", err)
	}
}

func TestAWARCIsCutOffWhereTheRecordOfAVersionChanged(t *testing.T) {
	t.Parallel()
	d := &described{world: sample(t), known: map[string][32]byte{}}
	w := planWARC(t, d)
	whole := written(t, d, w)
	e := d.versions[d.order[3]]
	e.URL += "/longer"
	d.versions[d.order[3]] = e
	if !bytes.Equal(written(t, d, w), whole) {
		t.Error("a plan that has the heads in memory is not written as it was planned")
	}
	for i := range w.records {
		w.records[i].kept = nil // as if there were more than maxHeads
	}
	var failed *EntryError
	if _, err := w.WriteTo(io.Discard, d.store); !errors.As(err, &failed) || failed.Version != d.order[3] {
		t.Errorf("%v", err)
	}
}

// TestAHeadLongerThanADeflateBlockIsStoredInSeveral uses a head of more than 64 KiB.
func TestAHeadLongerThanADeflateBlockIsStoredInSeveral(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("header "), 30_000)
	stored := warc.AppendStored([]byte(warc.MemberHead), long)
	if want := int64(len(warc.MemberHead)) + warc.StoredSize(int64(len(long))); int64(len(stored)) != want {
		t.Errorf("%d bytes, %d planned", len(stored), want)
	}
	stored = append(stored, warc.MemberEnd...)
	z, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(got, append(long, "\r\n\r\n"...)) { // the trailer is missing
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestRecordIDsAreUUIDsOfVersion5(t *testing.T) {
	t.Parallel()
	if id := recordID("http://www.example.com/"); id != "<urn:uuid:fcde3c85-2270-590f-9e7c-ee003d65e0e2>" {
		// python3: uuid.uuid5(uuid.NAMESPACE_URL, ...)
		t.Error(id)
	}
}
