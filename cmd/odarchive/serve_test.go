package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/sampleweb"
	"odarchive/crawler/exchange/timestamp/tsatest"
)

// served is an archive with two states of the sample web, served by `odarchive serve`.
type served struct {
	base string
	web  *sampleweb.Web
}

func serve(t *testing.T) served { return serveBelow(t, "http://archive.example/") }

// serveBelow is serve with another base.
func serveBelow(t *testing.T, base string) served {
	t.Helper()
	var state atomic.Int64
	endpoint, err := faces.NewEndpoint(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	web, err := sampleweb.Start(sampleweb.Options{State: func() int { return int(state.Load()) }, Handlers: endpoint.Handlers()})
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := web.Catalog()
	if err == nil {
		err = endpoint.Load(t.Context(), catalog)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		web.Close()
		if err := endpoint.Close(); err != nil {
			t.Error(err)
		}
	})
	data := t.TempDir()
	common := []string{"--data", data, "--log-level", "error", "--base", base}
	odarchive(t, append([]string{"harvest", "portalwatch", web.Base("portalwatch") + "sparql", "--allow-private-hosts", "--host-delay",
		"0s"}, common...)...)
	for i, at := range []string{"2026-11-21T06:00:00Z", "2027-01-21T06:00:00Z"} {
		state.Store(int64(i))
		odarchive(t, append([]string{"crawl", "--once", "--allow-private-hosts", "--host-delay", "0s", "--at", at}, common...)...)
	}
	for _, command := range []string{"key new", "sign"} {
		odarchive(t, append(append([]string{"log"}, strings.Fields(command)...), common...)...)
	}
	authority, err := tsatest.New()
	if err != nil {
		t.Fatal(err)
	}
	tsa := httptest.NewServer(authority)
	defer tsa.Close()
	roots := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(roots, authority.Roots, 0o600); err != nil {
		t.Fatal(err)
	}
	odarchive(t, append([]string{"log", "timestamp", "--tsa", tsa.URL, "--tsa-roots", roots, "--allow-private-hosts"}, common...)...)
	return served{start(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--no-crawl", "--token", "t0k"}, common...)), web}
}

// start runs `odarchive serve` until the test ends, and returns the address it listens on.
func start(t *testing.T, args []string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	out, in := io.Pipe()
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, args, strings.NewReader(""), io.Discard, in)
		in.Close()
	}()
	t.Cleanup(func() {
		stop()
		if s := <-status; s != 0 {
			t.Errorf("serve ended with status %d after the signal to stop", s)
		}
	})
	buf := make([]byte, 4096)
	n, err := out.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	m := regexp.MustCompile(`listening on ([^\s)]+)`).FindStringSubmatch(string(buf[:n]))
	if m == nil {
		t.Fatalf("serve said %q", buf[:n])
	}
	return "http://" + m[1]
}

func TestAServedArchive(t *testing.T) {
	t.Parallel()
	s := serve(t)
	t.Run("the papers query finds versions and downloads them byte for byte", s.thePapersQueryFindsVersionsAndDownloadsThemByteForByte)
	t.Run("a versions address gives bytes turtle or a page", s.aVersionsAddressGivesBytesTurtleOrAPage)
	t.Run("the routes of the main job answer", s.theRoutesOfTheMainJobAnswer)
	t.Run("a members address gives its bytes turtle or a page", s.aMembersAddressGivesItsBytesTurtleOrAPage)
	t.Run("writing over HTTP needs the token", s.writingOverHTTPNeedsTheToken)
	t.Run("assistants find read and compare files", s.assistantsFindReadAndCompareFiles)
	t.Run("hostile messages are refused", s.hostileMessagesAreRefused)
	t.Run("every GET holds to the document", s.everyGETHoldsToTheDocument)
	t.Run("every page runs only its scripts", s.everyPageRunsOnlyItsScripts)
	t.Run("a generated client works", s.aGeneratedClientWorks)
	t.Run("a backup is taken while it serves", s.aBackupIsTakenWhileItServes)
}

func (s served) aBackupIsTakenWhileItServes(t *testing.T) {
	dir := t.TempDir()
	full, later, restored := filepath.Join(dir, "full.odab"), filepath.Join(dir, "later.odab"), filepath.Join(dir, "restored")
	if status := run(t.Context(), []string{"backup", "-o", full, "--server", s.base, "--token", "wrong"}, strings.NewReader(""), io.Discard,
		io.Discard); status != 1 {
		t.Errorf("with a wrong token the status is %d", status)
	}
	odarchive(t, "backup", "-o", full, "--server", s.base, "--token", "t0k")
	odarchive(t, "backup", "-o", later, "--since", full, "--server", s.base, "--token", "t0k")
	odarchive(t, "restore", full, later, "--data", restored)
	var out strings.Builder
	status := run(t.Context(), []string{"check", "--data", restored}, strings.NewReader(""), &out, io.Discard)
	if status != 0 || !strings.Contains(out.String(), "0 damages") || strings.Contains(out.String(), " 0 files") {
		t.Errorf("the restored archive: status %d, %s", status, out.String())
	}
}

func (s served) get(t *testing.T, path string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.base+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// selected returns the values of a query with one column.
func (s served) selected(t *testing.T, query string) []string {
	t.Helper()
	resp, body := s.get(t, "/sparql?query="+url.QueryEscape(query), "Accept", "text/csv")
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if resp.StatusCode != 200 || err != nil {
		t.Fatalf("%s\n%s %v", query, body, err)
	}
	var values []string
	for _, row := range rows[1:] {
		values = append(values, row[0])
	}
	slices.Sort(values)
	return values
}

func (s served) thePapersQueryFindsVersionsAndDownloadsThemByteForByte(t *testing.T) {
	query := strings.Replace(portalQuery, "PORTAL", s.web.Base("city"), 1)
	versions := s.selected(t, query)
	var want [][]byte
	for _, file := range []string{"city/bevoelkerung/bezirke.csv", "city/environment/trees.csv"} {
		want = append(want, sampleStates(file)[:2]...)
	}
	if len(versions) != len(want) {
		t.Fatalf("the query finds %q, want %d versions", versions, len(want))
	}
	resp, body := s.get(t, "/get/files/sparql?q="+url.QueryEscape(query))
	if resp.StatusCode != 200 || resp.ContentLength != int64(len(body)) {
		t.Fatalf("zip: %s, Content-Length %d, %d bytes", resp.Status, resp.ContentLength, len(body))
	}
	archive, err := zip.NewReader(strings.NewReader(body), int64(len(body)))
	if err != nil {
		t.Fatal(err)
	}
	var got [][]byte
	for _, f := range archive.File[3:] { // after manifest.json, metadata.ttl and ro-crate-metadata.json
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		got = append(got, raw)
	}
	slices.SortFunc(got, bytes.Compare)
	slices.SortFunc(want, bytes.Compare)
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Error("the zip does not hold the files that the hosts served")
	}
	var count struct{ Files, Bytes, ZipBytes int }
	_, answer := s.get(t, "/get/files/sparql/count?q="+url.QueryEscape(query))
	if err := json.Unmarshal([]byte(answer), &count); err != nil || count.Files != 4 || count.ZipBytes != len(body) {
		t.Errorf("what the button shows: %s, %v; want 4 files, %d bytes", answer, err, len(body))
	}
}

func (s served) aVersionsAddressGivesBytesTurtleOrAPage(t *testing.T) {
	iri := s.selected(t, `SELECT ?v { <`+s.web.Base("city")+`bevoelkerung/bezirke.csv> <http://purl.org/dc/terms/hasVersion> ?v }`)[1]
	path := strings.TrimPrefix(iri, "http://archive.example")
	bytesWanted := string(sampleStates("city/bevoelkerung/bezirke.csv")[1])
	for _, c := range []struct{ accept, kind, holds string }{
		{"", "text/csv", bytesWanted},
		{"*/*", "text/csv", bytesWanted},
		{"text/turtle", "text/turtle", "dct:isVersionOf"},
		{"application/ld+json", "application/ld+json", "isVersionOf"},
		{"text/html,application/xhtml+xml,*/*;q=0.8", "text/html", "<!doctype html>"},
	} {
		resp, body := s.get(t, path, "Accept", c.accept)
		if resp.StatusCode != 200 || !strings.HasPrefix(resp.Header.Get("Content-Type"), c.kind) || !strings.Contains(body, c.holds) {
			t.Errorf("Accept %q: %s %s, %.80q; want %s", c.accept, resp.Status, resp.Header.Get("Content-Type"), body, c.kind)
		}
		if !strings.Contains(strings.Join(resp.Header.Values("Vary"), ","), "Accept") {
			t.Errorf("Accept %q: the answer does not vary with it", c.accept)
		}
	}
	if resp, body := s.get(t, "/get/file/"+s.web.Base("city")+"bevoelkerung/bezirke.csv"); resp.StatusCode != 200 || body != bytesWanted {
		t.Errorf("the latest version by its URL: %s, %d bytes", resp.Status, len(body))
	}
}

func (s served) aMembersAddressGivesItsBytesTurtleOrAPage(t *testing.T) {
	of := "<" + s.web.Base("region") +
		"traffic/accidents.zip> <http://purl.org/dc/terms/hasVersion> ?v . ?v <http://purl.org/dc/terms/hasPart> ?m"
	members := s.selected(t, "SELECT DISTINCT ?m { "+of+" }")
	version := strings.TrimPrefix(s.selected(t, "SELECT DISTINCT ?v { "+of+" }")[0], "http://archive.example")
	packed := sampleStates("region/traffic/accidents.zip")[0]
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		i := slices.IndexFunc(members, func(m string) bool { return strings.HasSuffix(m, "/member/"+f.Name) })
		if i < 0 {
			t.Errorf("%s is not among the members %q", f.Name, members)
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		want, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(members[i], "http://archive.example")
		for _, address := range []string{path, strings.TrimPrefix(path, "/api/v1")} {
			if resp, body := s.get(t, address); resp.StatusCode != 200 || body != string(want) {
				t.Errorf("GET %s: %s, %d bytes, want %d", address, resp.Status, len(body), len(want))
			}
		}
		for accept, holds := range map[string]string{"text/turtle": "dct:isPartOf", "text/html,*/*;q=0.8": "Version that contains it"} {
			if resp, body := s.get(t, path, "Accept", accept); resp.StatusCode != 200 || !strings.Contains(body, holds) {
				t.Errorf("GET %s as %s: %s %.300s", path, accept, resp.Status, body)
			}
		}
	}
	one := strings.TrimPrefix(members[0], "http://archive.example")
	for ext, holds := range map[string]string{".ttl": "dct:isPartOf", ".nt": "<http://purl.org/dc/terms/isPartOf>",
		".html": "Version that contains it"} {
		if resp, body := s.get(t, one+ext); resp.StatusCode != 200 || !strings.Contains(body, holds) {
			t.Errorf("GET %s: %s %.300s", one+ext, resp.Status, body)
		}
	}
	if _, body := s.get(t, version, "Accept", "text/html"); !strings.Contains(body, `id="members"`) ||
		!strings.Contains(body, "?download=1") {
		t.Error("the version's page does not list the members")
	}
	if resp, body := s.get(t, version+"/member/none.csv"); resp.StatusCode != 404 || !strings.Contains(body, "none.csv") {
		t.Errorf("an unknown member: %s %s", resp.Status, body)
	}
}

func (s served) theRoutesOfTheMainJobAnswer(t *testing.T) {
	file := s.web.Base("city") + "environment/trees.csv"
	for path, want := range map[string]struct {
		status int
		holds  string
	}{
		"/":                                     {200, "ODArchive"},
		"/console":                              {200, "<textarea"},
		"/dataset?url=" + url.QueryEscape(file): {200, "trees.csv"},
		"/crawls":                               {200, "robots"},
		"/stats/basic":                          {200, `"fileCount"`},
		"/api/v1/stats/basic":                   {200, `"datasetCount"`},
		"/get/dataset/" + file:                  {200, `"versionCount"`},
		"/get/dataset/http://nowhere.example/":  {404, "nowhere.example"},
		"/timemap/link/" + file:                 {200, "memento"},
		"/diff?url=" + url.QueryEscape(file):    {200, `"rowsAdded": 15`},
		"/diff?format=text&url=" + url.QueryEscape(file): {200, "15"},
		"/diff?format=html&url=" + url.QueryEscape(file): {200, "<!doctype html>"},
		"/diff?to=9&url=" + url.QueryEscape(file):        {404, "there are 2, numbered from 0"},
		"/diff?to=x&url=" + url.QueryEscape(file):        {400, "neither"},
		"/stats/changes":                {200, `"rowsAdded":29`},
		"/ns/csvw":                      {200, "hasPortal"},
		"/openapi.json":                 {200, `"openapi"`},
		"/metrics":                      {200, "odarchive_versions"},
		"/healthz":                      {200, "ok"},
		"/sparql?query=SELECT":          {400, `"line":1`},
		"/get/files/sparql?q=ASK%7B%7D": {400, "SELECT"},
		"/get/files/sparql?q=SELECT%20%2A%20%7B%20%3Fs%20%3Chttp%3A%2F%2Fno%2F%3E%20%3Fo%20%7D": {404, "no version"},
		"/nothing/here": {404, `"status":404`},
	} {
		if resp, body := s.get(t, path); resp.StatusCode != want.status || !strings.Contains(body, want.holds) {
			t.Errorf("GET %s: %s, %.200q; want %d and %q", path, resp.Status, body, want.status, want.holds)
		}
	}
	for format, holds := range map[string]string{"application/sparql-results+json": `"bindings"`,
		"application/sparql-results+xml": "<sparql", "text/csv": "n\r\n", "text/tab-separated-values": "?n\n"} {
		if _, body := s.get(t, "/sparql?query=SELECT%20%28COUNT%28%2A%29%20AS%20%3Fn%29%20%7B%3Fs%20%3Fp%20%3Fo%7D", "Accept",
			format); !strings.Contains(body, holds) {
			t.Errorf("results as %s: %q", format, body)
		}
	}
}

func (s served) writingOverHTTPNeedsTheToken(t *testing.T) {
	post := func(path, token, body string) int {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	resource := `{"href": "http://new.example/a.csv", "title": "New"}`
	if got := post("/post/resource", "", resource); got != 401 {
		t.Errorf("without a token: %d, want 401", got)
	}
	if got := post("/post/resource", "wrong", resource); got != 403 {
		t.Errorf("with another token: %d, want 403", got)
	}
	if got := post("/post/resource", "t0k", resource); got/100 != 2 {
		t.Errorf("with the token: %d, want success", got)
	}
	if resp, body := s.get(t, "/get/dataset/http://new.example/a.csv"); resp.StatusCode != 200 {
		t.Errorf("the posted resource: %s %s", resp.Status, body)
	}
}

func TestAServerThatIsStoppedBeforeItIsReadyEndsWithStatus0(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var messages bytes.Buffer
	args := []string{"--data", filepath.Join(t.TempDir(), "data"), "serve", "--listen", "127.0.0.1:0"}
	if status := run(ctx, args, strings.NewReader(""), io.Discard, &messages); status != 0 {
		t.Errorf("status %d: %s", status, messages.String())
	}
}
