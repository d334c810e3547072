package app

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestAMemberThatCannotBeUnpackedIsLeftOutOfTheZip takes an archive with a broken file in it through the whole archive.
func TestAMemberThatCannotBeUnpackedIsLeftOutOfTheZip(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range []string{"first.csv", "broken.csv", "last.csv"} {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, "name,n\n"+strings.Repeat(name+",1\n", 50))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	body := b.Bytes()
	body[bytes.Index(body, []byte("broken.csv,1\n"))] ^= 1 // its checksum tells
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		w.Write(body)
	}))
	defer web.Close()
	h := crawled(t, web.URL+"/all.zip")
	ask := func(path, filter string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET",
			path+"?q="+url.QueryEscape("SELECT ?m { ?v <http://purl.org/dc/terms/hasPart> ?m "+filter+"}"), nil))
		return w
	}
	answer := ask("/get/files/sparql", "")
	if answer.Code != 200 || answer.Header().Get("Odarchive-Left-Out") != "1" {
		t.Fatalf("%d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	got, err := zip.NewReader(bytes.NewReader(answer.Body.Bytes()), int64(answer.Body.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range got.File {
		names = append(names, f.Name[strings.LastIndex(f.Name, "/")+1:])
	}
	if want := []string{"first.csv", "last.csv", "manifest.json", "metadata.ttl",
		"ro-crate-metadata.json"}; !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("the zip holds %q, want %q", names, want)
	}
	f, err := got.Open("manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		LeftOut []struct{ Version, Why string }
	}
	if err := json.NewDecoder(f).Decode(&manifest); err != nil || len(manifest.LeftOut) != 1 ||
		!strings.HasSuffix(manifest.LeftOut[0].Version, "/member/broken.csv") || !strings.Contains(manifest.LeftOut[0].Why, "damaged") {
		t.Errorf("manifest.json: %+v %v", manifest, err)
	}
	if count := ask("/get/files/sparql/count", ""); !strings.Contains(count.Body.String(), `"files": 2`) ||
		!strings.Contains(count.Body.String(), `"leftOut": 1`) {
		t.Errorf("count: %s", count.Body)
	}
	if none := ask("/get/files/sparql", `FILTER(CONTAINS(STR(?m), "broken"))`); none.Code != 422 ||
		!strings.Contains(none.Body.String(), "broken.csv") {
		t.Errorf("nothing else selected: %d %s", none.Code, none.Body)
	}
}
