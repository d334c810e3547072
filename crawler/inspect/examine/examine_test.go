package examine

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/packed"
	"odarchive/crawler/inspect/unpack"
	"odarchive/testdata/shared"
)

// The test binary is its own child.
func TestMain(m *testing.M) {
	if IsChild() {
		os.Exit(Serve())
	}
	os.Exit(m.Run())
}

func testPool(t testing.TB) *Pool {
	t.Helper()
	p, err := New(Options{Children: 2, Memory: 256 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func open(t testing.TB, p *Pool, body []byte) *Document {
	t.Helper()
	d, err := p.Open(t.Context(), Crawl, About{}, Body{Size: int64(len(body)), R: bytes.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// examined is all that is found in a file: detection, profile, rows of each table, and the members of an archive.
func examined(t testing.TB, p *Pool, name string, body []byte) (all []string) {
	t.Helper()
	say := func(v any, err error) {
		text, jsonErr := json.Marshal(v)
		if jsonErr != nil {
			t.Fatal(jsonErr)
		}
		text = text[:min(len(text), 20_000)]
		if err != nil {
			text = append(text, " error: "+err.Error()...)
		}
		all = append(all, string(text))
	}
	d, err := p.Open(t.Context(), Crawl, About{}, Body{Size: int64(len(body)), R: bytes.NewReader(body)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	file := File{Name: filepath.Base(name), Base: "http://example.org/" + filepath.Base(name)}
	file.Found, err = d.Detect(t.Context(), file)
	say(file.Found, err)
	inside, err := d.Profile(t.Context(), file)
	if inside.Inside == nil {
		say(nil, err)
		return all
	}
	say(inside.AppendTo(nil), err)
	inside, err = packed.Read(inside.AppendTo(nil)) // without the sketches that are not kept
	say(inside.Inside, err)
	tables := func(member, typ, charset string, list []*csvprofile.Profile) {
		for i, profile := range list[:min(len(list), 3)] {
			if profile == nil {
				continue
			}
			rows, cells := 0, 0
			err := d.EachRow(t.Context(), file, Table{member, typ, charset, i, profile}, inspect.Marks{}, func(row [][]byte) error {
				rows++
				for _, c := range row {
					cells += len(c) + 1
				}
				return nil
			})
			say(fmt.Sprint(member, i, ": ", rows, " rows, ", cells), err)
		}
	}
	tables("", file.Found.Type, file.Found.Charset, inside.Inside.Tables)
	for _, m := range inside.Inside.Members[:min(len(inside.Inside.Members), 3)] {
		tables(m.Path, m.Type, m.Charset, m.Tables)
		var out bytes.Buffer
		err := d.Extract(t.Context(), file, m.Path, &out)
		say(out.Len(), err)
	}
	return all
}

// conforms compares what is found in a file in a child with what is found here.
func conforms(t *testing.T, p *Pool, name string) {
	body, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	here, there := examined(t, nil, name, body), examined(t, p, name, body)
	for i := range max(len(here), len(there)) {
		a, b := "nothing", "nothing"
		if i < len(here) {
			a = here[i]
		}
		if i < len(there) {
			b = there[i]
		}
		if a != b {
			t.Errorf("%s: in this process\n%.500s\nin a child\n%.500s", name, a, b)
			return
		}
	}
}

func files(t *testing.T, dir string, most int) (list []string) {
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		if info, err := e.Info(); err == nil && info.Size() < 4<<20 && !strings.HasPrefix(e.Name(), "SOURCES") {
			list = append(list, path)
		}
		return nil
	})
	if err != nil || len(list) == 0 {
		t.Fatal(len(list), err)
	}
	if len(list) > most { // evenly
		some := list[:0:0]
		for i := range most {
			some = append(some, list[i*len(list)/most])
		}
		list = some
	}
	return list
}

func TestAChildFindsWhatThisProcessFinds(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	for _, dir := range []string{"../tables", "../csvprofile", "../../../testdata"} {
		for _, name := range files(t, dir, 150) {
			conforms(t, p, name)
		}
	}
	if s := p.Stats(); s.Died != 0 || s.Started > 20 {
		t.Errorf("%+v", s)
	}
}

// Files of other people, in as many formats as there are.
func TestAChildFindsWhatThisProcessFindsInFilesOfOthers(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	for _, of := range []string{"csv", "encoding", "mime"} {
		for _, name := range files(t, shared.Data(t, of), 60) {
			if !strings.Contains(name, "twoAuthors") { // whose creator is one of the two from run to run
				conforms(t, p, name)
			}
		}
	}
}

func TestComparisonsAreTheSameInAChild(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	older := "id,name,n\n" + strings.Repeat("1,a,2\n", 3) + "2,b,3\n3,c,4\n"
	newer := "id,name,n\n" + strings.Repeat("1,a,2\n", 3) + "2,b,5\n4,d,4\n"
	zipped := func(s string) []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		member, err := z.Create("member.csv")
		if err == nil {
			_, err = io.WriteString(member, s)
		}
		if err := errors.Join(err, z.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for name, pair := range map[string][2][]byte{
		"a.csv": {[]byte(older), []byte(newer)}, "a.json": {[]byte(`{"a":[1,2]}`), []byte(`{"a":[1,3]}`)},
		"a.nt": {[]byte("<x:a> <x:b> <x:c> .\n"), []byte("<x:a> <x:b> <x:d> .\n")}, "a.zip": {zipped(older), zipped(newer)},
		"a.bin": {{0, 1, 2}, {0, 2, 2}},
	} {
		var reports []*diff.Report
		for _, pool := range []*Pool{nil, p} {
			side := func(body []byte) Side {
				d := open(t, pool, body)
				defer d.Close()
				f := File{Name: name}
				var err error
				if f.Found, err = d.Detect(t.Context(), f); err != nil {
					t.Fatal(err)
				}
				s := Side{Type: f.Found.Type, Charset: f.Found.Charset, Name: name, Body: Body{Size: int64(len(body)),
					R: bytes.NewReader(body)}}
				if s.Inside, err = d.Profile(t.Context(), f); err != nil {
					t.Fatal(err)
				}
				return s
			}
			from, to := side(pair[0]), side(pair[1])
			for _, ownIsNewer := range []bool{true, false} {
				own, other := from, to
				if ownIsNewer {
					own, other = to, from
				}
				d := open(t, pool, pair[map[bool]int{true: 1, false: 0}[ownIsNewer]])
				report, err := d.Compare(t.Context(), own, other, ownIsNewer, diff.Options{}, time.Minute)
				d.Close()
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				reports = append(reports, report)
			}
		}
		for i, r := range reports {
			var html, first bytes.Buffer
			is, err := r.Wire()
			want, err0 := reports[0].Wire()
			if err := errors.Join(err, err0, r.WriteHTML(&html), reports[0].WriteHTML(&first)); err != nil ||
				string(is) != string(want) || html.String() != first.String() {
				t.Errorf("%s: report %d differs: %v\n%s\n%s", name, i, err, is, want)
			}
		}
	}
	d := open(t, p, []byte(older))
	body := Body{Size: int64(len(newer)), R: strings.NewReader(newer)}
	_, err := d.Compare(t.Context(), Side{Type: "text/csv"}, Side{Type: "text/csv", Body: body}, false,
		diff.Options{Key: []string{"none"}}, time.Minute)
	key, ok := errors.AsType[*diff.KeyError](err)
	if !ok || key.Column != "none" || !slices.Equal(key.Columns, []string{"id", "name", "n"}) {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestErrorsAreKnownOutsideOfAChild(t *testing.T) {
	t.Parallel()
	d := open(t, testPool(t), []byte("PK\x05\x06"+strings.Repeat("\x00", 18)))
	file := File{Name: "a.zip", Found: detect.Detection{Type: "application/zip"}}
	if err := d.Extract(t.Context(), file, "b", io.Discard); !errors.Is(err, unpack.ErrNotFound) {
		t.Errorf("a member that is not there: %v", err)
	}
	table := Table{Type: "text/csv", Profile: &csvprofile.Profile{Rows: 3, Dialect: csvprofile.Dialect{Delimiter: ","}}}
	if err := d.EachRow(t.Context(), file, table, inspect.Marks{}, func([][]byte) error { return nil }); !errors.Is(err,
		inspect.ErrOtherTables) {
		t.Errorf("a table that is not there: %v", err)
	}
}

func TestRowsEndWhereTheirReaderWantsNoMore(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	text := "a,b\n" + strings.Repeat("some words,and \"quotes\"\n", 200_000)
	d := open(t, p, []byte(text))
	file := File{Name: "a.csv"}
	var err error
	if file.Found, err = d.Detect(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	inside, err := d.Profile(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	table := Table{Type: "text/csv", Charset: file.Found.Charset, Profile: inside.Inside.Tables[0]}
	enough, rows := errors.New("enough"), 0
	err = d.EachRow(t.Context(), file, table, inspect.Marks{}, func([][]byte) error {
		if rows++; rows == 50 {
			return enough
		}
		return nil
	})
	if err != enough || rows != 50 {
		t.Errorf("%d rows, %v", rows, err)
	}
	var marks []csvprofile.Mark
	rows = 0
	err = d.EachRow(t.Context(), file, table, inspect.Marks{Tell: func(m csvprofile.Mark) { marks = append(marks, m) }},
		func([][]byte) error { rows++; return nil })
	if err != nil || rows != 200_000 || len(marks) == 0 {
		t.Fatalf("%d rows, %d marks, %v", rows, len(marks), err)
	}
	last := marks[len(marks)-1]
	err = d.EachRow(t.Context(), file, table, inspect.Marks{From: &last}, func([][]byte) error { last.Row++; return nil })
	if err != nil || last.Row != 200_000 {
		t.Errorf("from the last mark: %d, %v", last.Row, err)
	}
	if s := p.Stats(); s.Died != 0 {
		t.Errorf("%+v", s)
	}
}

// What a child sends as rows is read as a stranger's.
func FuzzRowStream(f *testing.F) {
	w := &rowWriter{emit: func(b []byte) error { f.Add(bytes.Clone(b)); return nil }}
	if err := errors.Join(w.row([][]byte{[]byte("a"), nil}), w.row(nil), w.row([][]byte{bytes.Repeat([]byte("x"), 300)})); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, parts := 0, 0
		r := rowReader{f: func([][]byte) error { whole++; return nil }, tell: func(csvprofile.Mark) {}}
		err := r.part(b)
		again := rowReader{f: func([][]byte) error { parts++; return nil }, tell: func(csvprofile.Mark) {}}
		var err2 error
		for i := range b {
			if err2 = again.part(b[i : i+1]); err2 != nil {
				break
			}
		}
		if (err == nil) != (err2 == nil) || err == nil && (whole != parts || !bytes.Equal(r.rest, again.rest)) {
			t.Errorf("at once %d rows, %v; byte by byte %d, %v", whole, err, parts, err2)
		}
	})
}

func TestADocumentDuringWhichTheProgramEndedTwiceIsSetAside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/examining"
	bad, good := About{SHA256: [32]byte{1}, URL: "http://example.org/" + strings.Repeat("x", 1000)}, About{SHA256: [32]byte{2}}
	start := func() *Pool {
		p, err := New(Options{InProcess: true, Notes: dir})
		if err != nil {
			t.Fatal(err)
		}
		return p // is not closed: the program dies
	}
	for death := range 2 {
		p := start()
		for _, about := range []About{good, bad} {
			d, err := p.Open(t.Context(), Crawl, about, Body{})
			if err != nil {
				t.Fatalf("after %d deaths: %v", death, err)
			}
			if about == good {
				d.Close()
				d.Close()
			}
		}
	}
	for range 2 { // and at each start after that
		p := start()
		if _, err := p.Open(t.Context(), Crawl, bad, Body{}); !errors.Is(err, ErrSetAside) {
			t.Errorf("after two deaths: %v", err)
		}
		d, err := p.Open(t.Context(), Crawl, good, Body{})
		if err != nil {
			t.Errorf("a document that was examined: %v", err)
		}
		d.Close()
		p.Close()
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != suspectsName {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestADocumentThatWasExaminedAfterADeathIsNotToBlame(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	about := About{SHA256: [32]byte{3}}
	for range 4 { // each time the program dies, then examines it, then dies elsewhere
		for _, dies := range []bool{true, false} {
			p, err := New(Options{InProcess: true, Notes: dir})
			if err != nil {
				t.Fatal(err)
			}
			d, err := p.Open(t.Context(), Crawl, about, Body{})
			if err != nil {
				t.Fatal(err)
			}
			if !dies {
				d.Close()
			}
		}
	}
}
