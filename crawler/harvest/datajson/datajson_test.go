package datajson

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portaltest"
	"odarchive/testdata/shared"
)

// file is a portal with one file.
type file struct {
	text, tag, path string
	sent            int // number of times that the text was sent
}

func (f *file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != max(f.path, "/data.json") {
		http.NotFound(w, r)
		return
	}
	if f.tag != "" {
		w.Header().Set("ETag", f.tag)
		if r.Header.Get("If-None-Match") == f.tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	f.sent++
	w.Write([]byte(f.text))
}

func (f *file) source() Source {
	return Source{URL: "https://city.example/", HTTP: &portaltest.Web{Handler: f}}
}

// numbered returns a catalog of n datasets.
func numbered(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(
			`{"identifier":"set %d","title":"Set `+
				`%d","distribution":[{"downloadURL":"https://city.example/%d.csv","mediaType":"text/csv"}]}`, i, i, i))
	}
	return `{"conformsTo":"https://project-open-data.cio.gov/v1.1/schema","dataset":[` + strings.Join(list, ",\n") + `]}`
}

func TestAFileThatWasCutOffIsGoneOnWithUnlessItChanged(t *testing.T) {
	t.Parallel()
	f := &file{text: numbered(250), tag: `"1"`}
	whole, err := portaltest.Harvest(t, f.source(), "")
	if err != nil || len(whole.Datasets) != 250 || len(whole.Marks) != 3 {
		t.Fatalf("%v, %d datasets, marks %q", err, len(whole.Datasets), whole.Marks)
	}
	rest, err := portaltest.Harvest(t, f.source(), whole.Marks[1])
	if err != nil || len(rest.Datasets) != 50 || rest.Datasets[0].IRI != "https://city.example/data.json#set%20200" {
		t.Fatalf("%v, %d datasets from %s on", err, len(rest.Datasets), rest.Datasets[0].IRI)
	}
	unchanged, err := portaltest.Harvest(t, f.source(), whole.NextMark)
	if err != nil || len(unchanged.Portals) != 0 || unchanged.NextMark != whole.NextMark || !unchanged.Same || f.sent != 2 {
		t.Fatalf("the same file again: %v, %d portals, the same %v, sent %d times", err, len(unchanged.Portals), unchanged.Same, f.sent)
	}
	later := f.source()
	later.Now = func() time.Time { return time.Now().Add(8 * 24 * time.Hour) }
	if again, err := portaltest.Harvest(t, later, whole.NextMark); err != nil || again.Same || len(again.Datasets) != 250 {
		t.Fatalf("a week later: %v, the same %v, %d datasets", err, again.Same, len(again.Datasets))
	}
	f.tag = `"2"`
	if changed, err := portaltest.Harvest(t, f.source(), whole.Marks[1]); err != nil || len(changed.Datasets) != 250 {
		t.Fatalf("another file: %v, %d datasets", err, len(changed.Datasets))
	}
}

func TestWhatIsWrongWithAFileIsSaidAndTheRestIsKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about, text, err, skipped string
		kept                      int
	}{
		{"half a file", numbered(5)[:400], "/data.json has JSON that breaks off after 400 bytes", "", 2},
		{"one bad dataset", strings.Replace(numbered(5), `"title":"Set 2"`, `"title" "Set 2"`, 1), "", "entry number 3: the value at byte",
			4},
		{"a page", "<!doctype html><title>Not here</title>", `a web page ("Not here")`, "", 0},
		{"no catalog", `"hello"`, "is not a catalog", "", 0},
		{"no datasets", `{"error":"not found"}`, "has no datasets", "", 0},
		{"an empty catalog", `{"dataset":[]}`, "", "", 0},
		{"nothing at all", ``, "breaks off after 0 bytes", "", 0},
		{"wrong types everywhere",
			`{"title":{},"publisher":7,"dataset":[1,"x",null,[],{},{"title":["t"],"keyword":{"a":1},"distribution":"https://a.example/x",` +
				`"publisher":[],"spatial":[[[]]],"modified":{}}]}`, "", "entry number 1", 1},
		{"an endless list", `{"dataset":[` + strings.Repeat("[", 5000), "", "", 0},
	} {
		f := &file{text: c.text}
		notes, err := portaltest.Harvest(t, f.source(), "")
		if (err == nil) != (c.err == "") && c.about != "an endless list" || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.about, err, c.err)
		}
		if len(notes.Datasets) != c.kept || err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %d datasets, want %d; %v", c.about, len(notes.Datasets), c.kept, err)
		}
		if c.skipped != "" && (len(notes.Skipped) == 0 || !strings.HasPrefix(notes.Skipped[0], c.skipped)) {
			t.Errorf("%s: skipped %q, want %q", c.about, notes.Skipped, c.skipped)
		}
	}
}

func TestABrokenEntryGoesByItsIdentifierOrItsBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ about, entry, want string }{
		{"an identifier before the fault", `{"identifier":"set 2","title" "x"}`, "https://city.example/data.json#set%202"},
		{"a title alone", `{"title":"Set 2","x" 1,"identifier":"set 2"}`, "entry "},
		{"nothing", `{"title" 1}`, "entry "},
	} {
		text := strings.Replace(numbered(3), `{"identifier":"set 2","title":"Set 2"`, c.entry+`,{"identifier":"other"`, 1)
		f := &file{text: text, tag: `"1"`}
		notes, err := portaltest.Harvest(t, f.source(), "")
		if err != nil || len(notes.Unread) != 1 || !strings.HasPrefix(notes.Unread[0], c.want) {
			t.Errorf("%s: %v, unknown is %q, want %q", c.about, err, notes.Unread, c.want)
			continue
		}
		// a longer identifier moves the entries behind it
		f.text = strings.Replace(text, `{"identifier":"set 0"`, `{"identifier":"set 00"`, 1)
		moved, err := portaltest.Harvest(t, f.source(), "")
		if err != nil || moved.Unread[0] != notes.Unread[0] {
			t.Errorf("%s: %v, it is called %q then %q", c.about, err, notes.Unread, moved.Unread)
		}
		if named := c.want != "entry "; (notes.NextMark != "") != named {
			t.Errorf("%s: the next harvest begins at %q", c.about, notes.NextMark)
		}
	}
}

func TestVersionOneIsAListWithItsOwnWords(t *testing.T) {
	t.Parallel()
	f := &file{text: `[{"title":"Old","description":"d","keyword":"trees, streets","modified":"2012-01-01","publisher":"City of Example","contactPoint":"Ann Example","mbox":"ann@example.org",
		"identifier":"old-1","accessLevel":"public","accessURL":"https://city.example/old.csv","format":"text/csv","webService":"https://city.example/api","bureauCode":["015:11"],
		"distribution":[{"accessURL":"https://city.example/old.csv","format":"text/csv"},{"accessURL":"/old.xml","format":"text/xml"}]}]`}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if err != nil {
		t.Fatal(err)
	}
	portaltest.Golden(t, "version1.golden", notes.String())
}

func TestRealFiles(t *testing.T) {
	t.Parallel()
	var yields strings.Builder
	for _, folder := range []string{"datajson", "datagov", "udata/udata/harvest/tests/dcat/evian.json",
		"ckanext-dcat/examples/ckan/dataset.json"} {
		root := shared.Data(t, "portals", folder)
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			f := &file{text: string(text)}
			notes, err := portaltest.Harvest(t, f.source(), "")
			fmt.Fprintf(&yields, "%s: %s", filepath.Base(name), notes.Yield())
			if err != nil {
				fmt.Fprintf(&yields, "  error: %v\n", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	portaltest.Golden(t, "yields.golden", yields.String())
}

func TestDatasetsOfASeriesComeOnce(t *testing.T) {
	t.Parallel()
	f := &file{
		text: `{"datasetSeries":[{"@id":"https://city.example/series","title":"S","seriesMember":[{"identifier":"a","title":"A"},{"identi` +
			`fier":"b","title":"B"}],"first":{"identifier":"a","title":"A"},"last":"b"}]}`}
	notes, err := portaltest.Harvest(t, f.source(), "")
	if got := notes.IRIs(); err != nil ||
		!slices.Equal(got, []string{"https://city.example/series", "https://city.example/data.json#a",
			"https://city.example/data.json#b"}) {
		t.Fatalf("%v, %v", err, got)
	}
	if got := notes.Datasets[1].IsPartOf; !slices.Equal(got, []string{"https://city.example/series"}) {
		t.Fatalf("part of %v", got)
	}
}

func FuzzFiles(f *testing.F) {
	f.Add([]byte(numbered(2)))
	f.Add(
		[]byte(
			`{"catalog":[{"dataset":[{"title":"x","identifier":{"notation":"n"}}]}],"service":[{"title":"s","servesDataset":{"title":"y"}` +
				`}],"record":[{"@id":"http://a.example/r","primaryTopic":"x"}],"datasetSeries":{"title":"z","seriesMember":[]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := loose.Parse(text)
		notes, harvestErr := portaltest.Harvest(t, (&file{text: string(text)}).source(), "")
		if err == nil && len(v.Get("dataset").List()) > 0 && harvestErr == nil && len(notes.Portals) == 0 {
			t.Fatalf("%q: nothing came of it", text)
		}
	})
}
