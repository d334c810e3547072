package files

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"

	"github.com/go-chi/chi/v5"
)

// world is a content store with some versions in it, and the archive that finds them.
type world struct {
	t        testing.TB
	store    *content.Store
	versions map[string]Entry  // by IRI
	bytes    map[string][]byte // by IRI
	latest   map[string]string // URL -> IRI
	order    []string          // of the IRIs
	wanted   map[archive.Wanted]string
	stale    bool // sizes are remembered instead of read from the store
}

var mint = ns.Mint{Base: "http://archive.example/"}

func newWorld(t testing.TB) *world {
	t.Helper()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	store, err := content.Open(t.TempDir(), db, content.Options{MinFree: -1, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close(); db.Close() })
	return &world{t: t, store: store, versions: map[string]Entry{}, bytes: map[string][]byte{}, latest: map[string]string{},
		wanted: map[archive.Wanted]string{}}
}

func (w *world) add(url string, n int, name string, data []byte) Entry {
	w.t.Helper()
	o := content.PutOptions{}
	if iri := w.latest[url]; iri != "" {
		o.Previous = w.versions[iri].Ref.SHA256
	}
	ref, err := w.store.Put(context.Background(), bytes.NewReader(data), o)
	if err != nil {
		w.t.Fatal(err)
	}
	resource, err := records.ResourceID(url)
	if err != nil {
		w.t.Fatal(err)
	}
	id := ns.VersionID(resource, n)
	iri := mint.Version(id)
	e := Entry{
		Stored: archive.Stored{ID: id, URL: url, N: n, Type: "text/csv", FileName: name,
			At: time.Date(2026, 11, 21, 5, n%60, 7, 0, time.UTC), Ref: ref}}
	w.versions[iri], w.bytes[iri], w.latest[url] = e, data, iri
	version, _ := archive.WantVersion(id)
	w.wanted[version], w.wanted[archive.WantLatest(resource)] = iri, iri
	w.order = append(w.order, iri)
	return e
}

// entries returns all versions, with their present sizes.
func (w *world) entries() (list []Entry) {
	for _, iri := range w.order {
		s, err := w.version(iri)
		if err != nil {
			w.t.Fatal(err)
		}
		list = append(list, Entry{Stored: s})
	}
	return list
}

func (w *world) version(iri string) (archive.Stored, error) {
	s := w.versions[iri].Stored
	if s.ID == "" || w.stale {
		return s, nil
	}
	ref, _, err := w.store.Stat(s.Ref.SHA256)
	s.Ref.DeflateSize, s.Ref.Layout = ref.DeflateSize, ref.Layout
	return s, err
}

func (w *world) Find(_ context.Context, wanted []archive.Wanted) (found []archive.Stored, err error) {
	for _, one := range wanted {
		s, err := w.version(w.wanted[one])
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, nil
}

func (w *world) Member(context.Context, string, string) (archive.Member, error) {
	return archive.Member{}, archive.ErrNotFound
}

func (w *world) Extract(context.Context, archive.Member, io.Writer) error {
	return archive.ErrNotFound
}

func (w *world) Types(context.Context) ([]catalog.Count, error) {
	return []catalog.Count{{Key: "text/csv"}, {Key: "application/geo+json"}}, nil
}

func (w *world) IDsOfType(_ context.Context, mediaType string, f func(id string)) error {
	for _, iri := range w.latest {
		if e := w.versions[iri]; e.Type == mediaType {
			resource, _, _ := ns.SplitVersionID(e.ID)
			f(resource)
		}
	}
	return nil
}

func sample(t testing.TB) *world {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(1, 2))
	text := bytes.Repeat([]byte("id;name;value\n1;Grüße;2\n"), 9000)
	w.add("http://a.example/data/trees.csv", 0, "trees.csv", text)
	for n := 1; n < 4; n++ {
		text = slices.Clone(text)
		copy(text[r.IntN(len(text)-20):], "changed;row;here")
		w.add("http://a.example/data/trees.csv", n, "trees.csv", text)
	}
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	w.add("https://b.example:8443/x/y%20z/photo.jpg?size=1", 0, "photo.jpg", noise)
	w.add("https://b.example:8443/x/y%20z/photo.jpg?size=2", 0, "PHOTO.jpg", noise[:70_000])
	w.add("http://c.example/", 0, "", []byte("x"))
	w.add("http://c.example/empty", 0, "../../empty", nil)
	w.add("ftp://d.example/Bücher/日本.csv", 0, "日本.csv", []byte("a,b\n"))
	return w
}

// iriIn returns the IRI of an entry below mint's base.
func iriIn(e Entry) string { return (&Plan{mint: mint, versions: mint.Version("")}).iri(&e) }

func plan(t testing.TB, entries []Entry) *Plan {
	t.Helper()
	p, err := NewBundle(entries, Meta{Query: "SELECT ?v WHERE { ?v a ?t \"q\\n\" }", Base: mint.Base})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func whole(t testing.TB, w *world, p *Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := p.WriteTo(&b, w.store)
	if err != nil || n != p.Size() || int64(b.Len()) != n {
		t.Fatalf("wrote %d of %d: %v", n, p.Size(), err)
	}
	return b.Bytes()
}

// compare reads a zip and compares every entry with the bytes of its version.
func compare(t testing.TB, w *world, p *Plan, data []byte) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != len(p.Entries())+3 || z.File[2].Name != "ro-crate-metadata.json" || z.File[0].Name != "manifest.json" ||
		z.File[1].Name != "metadata.ttl" {
		t.Fatalf("%d entries", len(z.File))
	}
	for i, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		if i < 3 {
			continue
		}
		e := p.Entries()[i-3]
		if !bytes.Equal(got, w.bytes[iriIn(e)]) || f.Name != e.Name || !f.Modified.Equal(e.At) {
			t.Errorf("%s (%s): %d bytes, %v, want %v", f.Name, e.Name, len(got), f.Modified, e.At)
		}
	}
}

func TestAZipHoldsTheBytesOfEveryVersionAndTheirDescription(t *testing.T) {
	t.Parallel()
	w := sample(t)
	p := plan(t, w.entries())
	data := whole(t, w, p)
	compare(t, w, p, data)
	z, _ := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	f, _ := z.Open("manifest.json")
	var m struct {
		Query, Time, Archive string
		Count                int
		Entries              []struct {
			Name, URL, Version, SHA256, MD5, Type, Time string
			Size                                        int64
		}
	}
	if err := json.NewDecoder(f).Decode(&m); err != nil {
		t.Fatal(err)
	}
	if m.Query != p.meta.Query || m.Count != len(p.Entries()) || len(m.Entries) != m.Count || m.Time != "2026-11-21T05:03:07.000Z" {
		t.Errorf("manifest: %+v", m)
	}
	for i, e := range p.Entries() {
		got := m.Entries[i]
		if got.Name != e.Name || got.URL != e.URL || got.Version != iriIn(e) || got.SHA256 != fmt.Sprintf("%x", e.Ref.SHA256) ||
			got.Size != e.Ref.Size {
			t.Errorf("manifest says %+v of %+v", got, e)
		}
	}
}

func TestAMemberStandsInTheZipUncompressed(t *testing.T) {
	t.Parallel()
	w := sample(t)
	text := bytes.Repeat([]byte("k,v\n"), 40_000)
	entries := w.entries()
	member := Entry{Stored: entries[0].Stored,
		Member: &Member{Path: "data/../ü/inner.csv", Write: func(out io.Writer) error { _, err := out.Write(text); return err }}}
	member.Ref = content.Ref{CRC32: crc32.ChecksumIEEE(text), Size: int64(len(text))}
	w.bytes[mint.Member(member.ID, member.Member.Path)] = text
	p := plan(t, append(entries[:3], member, entries[3]))
	data := whole(t, w, p)
	compare(t, w, p, data)
	for from := int64(0); from < p.Size(); from += 9973 {
		var part bytes.Buffer
		if _, err := p.WriteRange(&part, w.store, from, 12_000); err != nil ||
			!bytes.Equal(part.Bytes(), data[from:min(from+12_000, p.Size())]) {
			t.Fatalf("from %d: %d bytes, %v", from, part.Len(), err)
		}
	}
	text = text[1:]
	if _, err := p.WriteTo(io.Discard, w.store); err == nil {
		t.Error("a member that has changed was sent")
	}
}

func TestWhatCannotBeHadIsNamedInTheZipInsteadOfHeldByIt(t *testing.T) {
	t.Parallel()
	w := sample(t)
	entries := w.entries()
	lost := Entry{Stored: entries[0].Stored, LeftOut: "it \"is\" damaged\n", Member: &Member{Path: "inner.csv"}}
	lostIRI := mint.Version(lost.ID) + "/member/inner.csv"
	all := plan(t, slices.Clone(entries))
	p := plan(t, append(slices.Clone(entries), lost, lost))
	data := whole(t, w, p)
	compare(t, w, p, data)
	if len(p.LeftOut()) != 1 || len(p.Entries()) != len(entries) || p.ETag() == all.ETag() {
		t.Errorf("%d left out, %d held, tags %s and %s", len(p.LeftOut()), len(p.Entries()), p.ETag(), all.ETag())
	}
	z, _ := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	f, _ := z.Open("manifest.json")
	var m struct {
		Count   int
		LeftOut []struct{ URL, Version, Why string }
	}
	if err := json.NewDecoder(f).Decode(&m); err != nil {
		t.Fatal(err)
	}
	if m.Count != len(entries) || len(m.LeftOut) != 1 || m.LeftOut[0].Version != lostIRI || m.LeftOut[0].URL != lost.URL ||
		m.LeftOut[0].Why != lost.LeftOut {
		t.Errorf("manifest: %+v", m)
	}
	f, _ = z.Open("metadata.ttl")
	told := false
	for q, err := range rdfio.NewReader(f, rdfio.Turtle(), rdfio.Options{Base: "http://zip.example/"}).All() {
		if err != nil {
			t.Fatal(err)
		}
		told = told || q.S == term.IRI(lostIRI) && q.P == term.IRI(vocab.ArcFault) && q.O == term.String(lost.LeftOut)
	}
	if !told {
		t.Error("metadata.ttl does not say what is left out")
	}
	if _, err := NewBundle([]Entry{lost}, Meta{Base: mint.Base}); problem.Table(nil).Find(err).Status != 422 ||
		!strings.Contains(err.Error(), lostIRI) {
		t.Errorf("a zip of nothing else: %v", err)
	}
}

func TestTheMetadataIsTurtleWhateverTheAddressesAre(t *testing.T) {
	t.Parallel()
	w := sample(t)
	e := w.versions[w.order[0]]
	e.URL, e.Type, e.ID = "http://a.example/<b> \"c\"\\\x00é", "text/\"x\"\n", e.ID+"9"
	p := plan(t, append(w.entries(), e))
	data := whole(t, w, p)
	z, _ := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	f, err := z.Open("metadata.ttl")
	if err != nil {
		t.Fatal(err)
	}
	issued := 0
	for q, err := range rdfio.NewReader(f, rdfio.Turtle(), rdfio.Options{Base: "http://zip.example/"}).All() {
		if err != nil {
			t.Fatal(err)
		}
		if q.P == term.IRI(vocab.DCTIssued) {
			issued++
		}
	}
	if issued != len(p.Entries()) {
		t.Errorf("%d versions are described, %d are there", issued, len(p.Entries()))
	}
}

func TestEveryRangeIsAPartOfTheWhole(t *testing.T) {
	t.Parallel()
	w := sample(t)
	p := plan(t, w.entries())
	data := whole(t, w, p)
	r := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		from := r.Int64N(p.Size())
		n := r.Int64N(min(p.Size()-from, 1+r.Int64N(p.Size()))) + 1
		var b bytes.Buffer
		k, err := p.WriteRange(&b, w.store, from, n)
		if err != nil || k != n || !bytes.Equal(b.Bytes(), data[from:from+n]) {
			t.Fatalf("%d bytes from %d: got %d, %v", n, from, k, err)
		}
	}
	for _, at := range append(slices.Clone(p.offsets), p.central, p.Size()) { // around every edge
		for from := max(at-2, 0); from < min(at+2, p.Size()); from++ {
			var b bytes.Buffer
			if _, err := p.WriteRange(&b, w.store, from, 3); err != nil || !bytes.Equal(b.Bytes(), data[from:min(from+3, p.Size())]) {
				t.Fatalf("around %d: %v", at, err)
			}
		}
	}
}

func TestOtherToolsUnpackAZip(t *testing.T) {
	t.Parallel()
	w := sample(t)
	p := plan(t, w.entries())
	dir := t.TempDir()
	name := filepath.Join(dir, "all.zip")
	if err := os.WriteFile(name, whole(t, w, p), 0o644); err != nil {
		t.Fatal(err)
	}
	tools := [][]string{
		{"unzip", "-q", "-o", name, "-d", "unzip"},
		{"python3", "-m", "zipfile", "-e", name, "python3"},
		{"bsdtar", "-x", "-f", name, "-C", "bsdtar"},
		{"jar", "xf", name},
	}
	for _, tool := range tools {
		t.Run(tool[0], func(t *testing.T) {
			if _, err := exec.LookPath(tool[0]); err != nil {
				t.Skip(tool[0] + " is not installed")
			}
			out := filepath.Join(dir, tool[0])
			os.Mkdir(out, 0o755)
			cmd := exec.Command(tool[0], tool[1:]...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
			if tool[0] == "jar" {
				cmd.Dir = out
			}
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			for _, e := range p.Entries() {
				got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(e.Name)))
				if err != nil || !bytes.Equal(got, w.bytes[iriIn(e)]) {
					t.Errorf("%s: %d bytes, %v", e.Name, len(got), err)
				}
			}
		})
	}
}

func TestMoreEntriesThanSixteenBitsCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	e := w.add("http://a.example/x.csv", 0, "x.csv", []byte("a,b\n1,2\n"))
	entries := make([]Entry, 70_000)
	for i := range entries {
		entries[i] = e
		entries[i].ID = e.ID + strconv.Itoa(i)
		entries[i].Name = versionName(fmt.Sprintf("http://h%d.example/d%d/x.csv", i%100, i), i%7, "x.csv")
	}
	p := plan(t, entries)
	z, err := zip.NewReader(&readerAt{p, w.store}, p.Size())
	if err != nil || len(z.File) != 70_003 {
		t.Fatalf("%d entries, %v", len(z.File), err)
	}
	for _, i := range []int{3, 4, 35_000, 70_002} {
		r, err := z.File[i].Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != "a,b\n1,2\n" {
			t.Errorf("entry %d: %q %v", i, got, err)
		}
	}
}

// readerAt reads a zip without storing it.
type readerAt struct {
	p *Plan
	c BundleContents
}

func (r *readerAt) ReadAt(b []byte, off int64) (int, error) {
	buf := fixed{b: b}
	n, err := r.p.WriteRange(&buf, r.c, off, int64(len(b)))
	if err == nil && n < int64(len(b)) {
		err = io.EOF
	}
	return int(n), err
}

func TestMoreBytesThanThirtyTwoBitsCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	noise := make([]byte, 8<<20)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	e := w.add("http://a.example/x.bin", 0, "x.bin", noise)
	entries := make([]Entry, 600) // 4.7 GB that are never written
	for i := range entries {
		entries[i] = e
		entries[i].ID = e.ID + strconv.Itoa(i)
		entries[i].Name = versionName(fmt.Sprintf("http://h.example/d%d/x.bin", i), 0, "x.bin")
	}
	p := plan(t, entries)
	if p.Size() < 1<<32 {
		t.Fatal("too small a zip")
	}
	z, err := zip.NewReader(&readerAt{p, w.store}, p.Size())
	if err != nil || len(z.File) != 603 {
		t.Fatalf("%d entries, %v", len(z.File), err)
	}
	f, err := z.File[601].Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, noise) {
		t.Errorf("the last entry: %d bytes, %v", len(got), err)
	}
}

func TestALargeEntryHasItsSizesInTheZip64Field(t *testing.T) {
	t.Parallel()
	for _, f := range []file{
		{name: "a/b", method: methodDeflate, size: 5 << 32, packed: 100, offset: 7},
		{name: "a/b", method: methodDeflate, size: 5 << 32, packed: 6 << 32, offset: 9 << 32},
		{name: "ä", method: methodDeflate, size: 3, packed: 6, offset: 9 << 32},
		{name: "ä", method: methodDeflate, size: max32, packed: 6, offset: 1},
	} {
		f.modified = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		if n := len(appendLocal(nil, &f)); int64(n) != f.localSize() {
			t.Errorf("local head of %d bytes, planned %d", n, f.localSize())
		}
		dir := appendCentral(nil, &f)
		if int64(len(dir)) != f.centralSize() {
			t.Errorf("central head of %d bytes, planned %d", len(dir), f.centralSize())
		}
		data := appendEnd(slices.Clone(dir), 1, int64(len(dir)), 10<<32)
		z, err := zip.NewReader(&shifted{data, 10 << 32}, 10<<32+int64(len(data)))
		if err != nil || len(z.File) != 1 {
			t.Fatalf("%+v: %v", f, err)
		}
		if got := z.File[0]; got.UncompressedSize64 != uint64(f.size) || got.CompressedSize64 != uint64(f.packed) || got.Name != f.name ||
			!got.Modified.Equal(f.modified) {
			t.Errorf("got %+v of %+v", got.FileHeader, f)
		}
	}
}

// shifted is data after many zeros.
type shifted struct {
	data []byte
	at   int64
}

func (s *shifted) ReadAt(b []byte, off int64) (int, error) {
	clear(b)
	if off < s.at {
		off, b = s.at, b[min(s.at-off, int64(len(b))):]
	}
	n, err := bytes.NewReader(s.data).ReadAt(b, off-s.at)
	return n, err
}

func TestNamesAreSafeAndDifferent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url  string
		n    int
		file string
		want string
	}{
		{"http://a.example/data/x.csv", 3, "x.csv", "a.example/data/x.csv/3-x.csv"},
		{"http://a.example/", 0, "", "a.example/0-a.example"},
		{"http://a.example:8080/../../etc/passwd", 0, "../../passwd", "a.example_8080/_/_/etc/passwd/0-passwd"},
		{"http://a.example/a%2f..%2fb", 1, `c:\autoexec.bat`, "a.example/a/_/b/1-autoexec.bat"},
		{"http://a.example/con/NUL.txt/-rf", 0, "aux.", "a.example/_con/_NUL.txt/_-rf/0-aux"},
		{"http://a.example/x\x00\x1b[31m/\u202egpj.exe", 0, "a\nb", "unknown/0-a_b"},
		{"http://manifest.json/x", 0, "x", "_manifest.json/x/0-x"},
		{"not a url", 2, "", "unknown/2-unknown"},
	} {
		if got := versionName(c.url, c.n, c.file); got != c.want {
			t.Errorf("%q, %q: got %q, want %q", c.url, c.file, got, c.want)
		}
	}
	entries := []Entry{
		{Name: "h/a/0-x.csv", Stored: archive.Stored{ID: "1"}}, {Name: "h/A/0-X.csv", Stored: archive.Stored{ID: "2"}},
		{Name: "h/a/0-x.csv/0-y.csv", Stored: archive.Stored{ID: "3"}},
		{Name: "/etc/passwd", Stored: archive.Stored{ID: "4"}}, {Name: "../up", Stored: archive.Stored{ID: "5"}},
		{Name: "h/" + strings.Repeat("long/", 80) + "x", Stored: archive.Stored{ID: "6"}},
		{Name: strings.Repeat("ü", 400), Stored: archive.Stored{ID: "7"}}, {Name: "h/a/0-x.csv", Stored: archive.Stored{ID: "8"}},
	}
	nameAll(entries, func(e *Entry) string { return e.ID })
	files := map[string]bool{}
	for _, e := range entries {
		if files[strings.ToLower(e.Name)] || !filepath.IsLocal(e.Name) || len(e.Name) > maxName+maxSegment ||
			strings.Contains(e.Name, `\`) {
			t.Errorf("name %q", e.Name)
		}
		files[strings.ToLower(e.Name)] = true
	}
	for name := range files {
		for other := range files {
			if strings.HasPrefix(other, name+"/") {
				t.Errorf("%q is a file and a folder", name)
			}
		}
	}
}

func FuzzName(f *testing.F) {
	f.Add("http://a.example/%2e%2e/x", "y", 1)
	f.Add("http://[::1]/", "..", 0)
	f.Fuzz(func(t *testing.T, url, file string, n int) {
		name := versionName(url, n, file)
		if !filepath.IsLocal(name) || strings.ContainsAny(name, "\\:\x00\n") || len(name) > maxName+2*maxSegment ||
			name != safe(strings.Split(name, "/")) {
			t.Errorf("%q, %q, %d: %q", url, file, n, name)
		}
	})
}

func TestTheSameEntriesMakeTheSameTagAndOthersAnother(t *testing.T) {
	t.Parallel()
	w := sample(t)
	a, b := plan(t, w.entries()), plan(t, w.entries())
	if a.ETag() != b.ETag() {
		t.Errorf("%s and %s", a.ETag(), b.ETag())
	}
	if c := plan(t, w.entries()[1:]); c.ETag() == a.ETag() {
		t.Error("another list has the same tag")
	}
	twice := plan(t, append(w.entries(), w.entries()...))
	if twice.ETag() != a.ETag() || len(twice.Entries()) != len(a.Entries()) {
		t.Error("versions named twice stand in the zip twice")
	}
	if _, err := NewBundle(nil, Meta{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("no entries: %v", err)
	}
}

// fakeQuery answers every SELECT with the same rows.
type fakeQuery [][]term.Key

func (q fakeQuery) Select(_ context.Context, query string, f func(Rows) error) error {
	if !strings.HasPrefix(query, "SELECT") {
		return problem.New(400, "Not a SELECT query", "it is something else")
	}
	return f(func(yield func([]term.Key, error) bool) {
		for _, row := range q {
			if !yield(row, nil) {
				return
			}
		}
	})
}

func serve(t *testing.T, w *world, rows fakeQuery) *httptest.Server {
	h := &BundleHandler{Archive: w, Contents: w.store, Queries: rows, Mint: mint, Limit: 100}
	r := chi.NewRouter()
	r.Use(target.Escaped)
	for _, root := range []string{"", "/api/v1"} {
		r.Handle(root+"/get/files/sparql", problem.Handler(h.SPARQL))
		r.Handle(root+"/get/files/sparql/count", problem.Handler(h.Count))
		r.Handle(root+"/get/files/type/*", problem.Handler(h.OfType))
		r.Handle(root+"/get/files", problem.Handler(h.ByID))
	}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	return s
}

func do(t *testing.T, method, url, body string, header ...string) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, data
}

func TestAQueryIsAnsweredWithTheVersionsItNames(t *testing.T) {
	t.Parallel()
	w := sample(t)
	first := w.order[0]
	s := serve(t, w, fakeQuery{
		{term.IRI("http://elsewhere.example/"), "", term.IRI(first)},
		{term.IRI("http://a.example/data/trees.csv"), term.String("http://c.example/"), term.IRI(first)},
		{term.Typed("4", "http://www.w3.org/2001/XMLSchema#integer"), term.Blank("b"), term.IRI(w.order[3])},
	})
	want := []string{first, w.order[3], w.latest["http://c.example/"]} // the latest of trees.csv is order[3]
	address := s.URL + "/get/files/sparql?q=SELECT"
	res, data := do(t, "GET", address, "")
	if res.StatusCode != 200 || res.ContentLength != int64(len(data)) || res.Header.Get("Content-Type") != "application/zip" ||
		res.Header.Get("Accept-Ranges") != "bytes" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(z.File) != 3+len(want) {
		t.Fatalf("%v, %d entries", err, len(z.File))
	}
	for i, iri := range want {
		r, _ := z.File[i+3].Open()
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, w.bytes[iri]) {
			t.Errorf("entry %s: %v", z.File[i+3].Name, err)
		}
	}
	for _, post := range [][2]string{{"application/sparql-query", "SELECT"}, {"application/x-www-form-urlencoded", "q=SELECT"},
		{"application/x-www-form-urlencoded; charset=utf-8", "query=SELECT"}} {
		if _, got := do(t, "POST", s.URL+"/get/files/sparql", post[1], "Content-Type", post[0]); !bytes.Equal(got, data) {
			t.Errorf("POST of %s gives something else", post[0])
		}
	}
	var count struct{ Files, Bytes, ZipBytes int64 }
	_, text := do(t, "GET", s.URL+"/api/v1/get/files/sparql/count?q=SELECT", "")
	if err := json.Unmarshal(text, &count); err != nil || count.Files != 3 || count.ZipBytes != int64(len(data)) {
		t.Errorf("count: %s %v", text, err)
	}
	head, nothing := do(t, "HEAD", address, "")
	if head.ContentLength != int64(len(data)) || head.Header.Get("ETag") != res.Header.Get("ETag") || len(nothing) != 0 {
		t.Errorf("HEAD: %v", head.Header)
	}
	half := fmt.Sprintf("bytes=%d-", len(data)/2)
	part, rest := do(t, "GET", address, "", "Range", half, "If-Range", res.Header.Get("ETag"))
	if part.StatusCode != 206 || !bytes.Equal(rest, data[len(data)/2:]) {
		t.Errorf("resumed: %d, %d bytes", part.StatusCode, len(rest))
	}
	if again, all := do(t, "GET", address, "", "Range", half, "If-Range", `"other"`); again.StatusCode != 200 || len(all) != len(data) {
		t.Errorf("resumed with another tag: %d", again.StatusCode)
	}
	multi, both := do(t, "GET", address, "", "Range", "bytes=0-9,100-199")
	_, params, err := mime.ParseMediaType(multi.Header.Get("Content-Type"))
	if err != nil || multi.StatusCode != 206 || multi.ContentLength != int64(len(both)) {
		t.Errorf("two ranges: %d %v", multi.StatusCode, multi.Header)
	}
	parts := multipart.NewReader(bytes.NewReader(both), params["boundary"])
	for _, want := range [][]byte{data[:10], data[100:200]} {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(part); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", part.Header.Get("Content-Range"), len(got), err)
		}
	}
	if multi, all := do(t, "GET", address, "", "Range", "bytes=0-99,50-199"); multi.StatusCode != 200 || !bytes.Equal(all, data) {
		t.Errorf("two ranges that overlap: %d %v", multi.StatusCode, multi.Header)
	}
	if same, _ := do(t, "GET", address, "", "If-None-Match", res.Header.Get("ETag")); same.StatusCode != 304 {
		t.Errorf("unchanged: %d", same.StatusCode)
	}
}

func TestWhatCannotBeAnsweredIsAProblem(t *testing.T) {
	t.Parallel()
	w := sample(t)
	s := serve(t, w, fakeQuery{{term.IRI("http://elsewhere.example/")}})
	for _, c := range []struct {
		method, path, contentType, body string
		status                          int
		says                            string
	}{
		{"GET", "/get/files/sparql?q=SELECT", "", "", 404, "no version"},
		{"GET", "/get/files/sparql", "", "", 400, "No query"},
		{"GET", "/get/files/sparql?q=ASK", "", "", 400, "SELECT"},
		{"POST", "/get/files/sparql", "text/plain", "SELECT", 415, "sparql-query"},
		{"GET", "/get/files/type/image/png", "", "", 404, "no version"},
		{"GET", "/get/files/type/", "", "", 404, "media type"},
		{"GET", "/get/files/sparql/count?q=ASK", "", "", 400, "SELECT"},
		{"POST", "/get/files", "application/json", `{"a":1}`, 400, "array"},
		{"POST", "/get/files", "application/json", `["nothing_0"]`, 404, "nothing_0"},
		{"POST", "/get/files", "application/json", `[]`, 404, "no version"},
	} {
		res, body := do(t, c.method, s.URL+c.path, c.body, "Content-Type", c.contentType)
		if res.StatusCode != c.status || res.Header.Get("Content-Type") != problem.ContentType || !strings.Contains(string(body), c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.path, res.StatusCode, body)
		}
	}
}

func TestFilesOfATypeAndFilesByIDCanBeHad(t *testing.T) {
	t.Parallel()
	w := sample(t)
	s := serve(t, w, nil)
	for _, name := range []string{"text/csv", "text%2Fcsv", "csv", "CSV"} {
		res, data := do(t, "GET", s.URL+"/get/files/type/"+name, "")
		if z, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err != nil || len(z.File) != 3+len(w.latest) {
			t.Errorf("type %s: %d %v", name, res.StatusCode, err)
		}
	}
	id := w.order[1][strings.LastIndex(w.order[1], "/")+1:]
	body, _ := json.Marshal([]string{id, w.order[2], id})
	res, data := do(t, "POST", s.URL+"/get/files", string(body))
	if z, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err != nil || len(z.File) != 5 {
		t.Errorf("ids: %d %v", res.StatusCode, err)
	}
}

func TestALostEntryBreaksTheDownloadOff(t *testing.T) {
	t.Parallel()
	w := sample(t)
	lost := w.versions[w.order[4]]
	if err := w.store.Forget(t.Context(), lost.Ref.SHA256); err != nil { // after planning, before sending
		t.Fatal(err)
	}
	w.stale = true
	s := serve(t, w, fakeQuery{{term.IRI(w.order[0]), term.IRI(w.order[4])}})
	res, err := http.Get(s.URL + "/get/files/sparql?q=SELECT")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); err == nil {
		t.Errorf("%d bytes of %d came without an error", n, res.ContentLength)
	}
}

func TestATooLargeSelectionIsRefused(t *testing.T) {
	t.Parallel()
	w := sample(t)
	_, err := Collect(t.Context(), func(yield func([]term.Key, error) bool) {
		for _, iri := range w.order {
			if !yield([]term.Key{term.IRI(iri)}, nil) {
				return
			}
		}
	}, w, mint, 3)
	if problem.Table(nil).Find(err).Status != 413 {
		t.Errorf("got %v", err)
	}
}

func FuzzPlainNamesAreNamesInWhichNothingIsReplaced(f *testing.F) {
	f.Add("http://a.example/d/x.csv", "x.csv", 3)
	f.Add("http://a.example/d/?q=1", "con.csv", 0)
	f.Add("http://a.example//d//", "LPT1", 0)
	f.Add("http://u@a.example:80/d/x.csv", "x", 0)
	f.Add("http://manifest.json/", "x", 0)
	f.Add("http ://0", "x", 0)
	f.Add("http://a.example/d?\x1e", "x", 0)
	f.Fuzz(func(t *testing.T, url, file string, n int) {
		plain, ok := plainName(url, n, file)
		if !ok {
			return
		}
		if slow := slowName(url, n, file); plain != slow || safe(strings.Split(plain, "/")) != plain {
			t.Errorf("%q, %d, %q: %q, not %q", url, n, file, plain, slow)
		}
	})
}

func TestVersionsOfAnotherBaseAreNamedWithIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.add("http://a.example/1.csv", 0, "1.csv", []byte("a"))
	other := ns.Mint{Base: "http://before.example:8080/x/"}.Version(own.ID)
	rows := func(iris ...string) Rows {
		return func(yield func([]term.Key, error) bool) {
			for _, iri := range iris {
				if !yield([]term.Key{term.IRI(iri)}, nil) {
					return
				}
			}
		}
	}
	_, err := Collect(t.Context(), rows("http://before.example/about", other), w, mint, 0)
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Status != http.StatusNotFound || !strings.Contains(p.Detail, "--base http://before.example:8080/x/ ") ||
		!strings.Contains(p.Detail, mint.Base) {
		t.Errorf("rows of another base: %v", err)
	}
	found, err := Collect(t.Context(), rows(other, mint.Version(own.ID), other), w, mint, 0)
	if err != nil || len(found) != 2 || !strings.Contains(found[0].LeftOut, "--base http://before.example:8080/x/ ") ||
		found[1].LeftOut != "" {
		t.Errorf("rows of both: %+v, %v; want one left out and one not", found, err)
	}
	plan, err := NewBundle(slices.Clone(found), Meta{Base: mint.Base})
	if err != nil || len(plan.Entries()) != 1 || len(plan.LeftOut()) != 1 {
		t.Fatalf("a zip of both: %v", err)
	}
	var listed bytes.Buffer
	if err := document(manifest).write(&listed, plan); err != nil ||
		!strings.Contains(listed.String(), `"version": "`+other+`", "why": "its IRI is below`) {
		t.Errorf("the manifest, %v: %s", err, listed.String())
	}
	alone, err := NewBundle(found[1:], Meta{Base: mint.Base})
	if err != nil || alone.ETag() == plan.ETag() {
		t.Errorf("the ETag does not depend on what is left out: %v", err)
	}
	if found, err := Collect(t.Context(), rows("http://nowhere.example/"), w, mint, 0); err != nil || len(found) != 0 {
		t.Errorf("other rows: %d, %v", len(found), err)
	}
}
