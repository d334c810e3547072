//go:build browser

package ui_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// startDemo builds the program, runs its demo, and returns the address that it prints.
func startDemo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "odarchive")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "../cmd/odarchive").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	ctx, cancel := context.WithCancel(context.Background())
	demo := exec.CommandContext(ctx, program, "demo", "--data", filepath.Join(dir, "data"))
	demo.Cancel = func() error { return demo.Process.Signal(syscall.SIGTERM) }
	demo.WaitDelay = 20 * time.Second
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); demo.Wait() }) // it ends by the signal, so its error is expected
	address := make(chan string, 1)
	go func() { // ends when the program does
		defer close(address)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if fields := strings.Fields(lines.Text()); len(fields) > 1 && strings.HasSuffix(fields[0], "/console") {
				address <- strings.TrimSuffix(fields[0], "/console")
				break
			}
		}
		io.Copy(io.Discard, out)
	}()
	select {
	case a, ok := <-address:
		if ok {
			return a
		}
		t.Fatal("the demo ended before it served")
	case <-time.After(90 * time.Second):
		t.Fatal("the demo did not print where it serves")
	}
	return ""
}

// TestBrowserFindsAndDownloadsWhatTheDemoArchived does what a new user does: the front page, a file, the console, a
// query, its zip. It compares the files of the zip with the versions, byte for byte.
func TestBrowserFindsAndDownloadsWhatTheDemoArchived(t *testing.T) {
	ctx, end := openBrowser(t)
	defer end()
	base := startDemo(t)
	w := windowOn(t, ctx, base)
	w.media(false, 1440, 900)

	w.open("/")
	w.until(`document.querySelector(".resources .title")`)
	w.do(chromedp.Click(chromedp.CSS(".resources .title")))
	w.until(`location.pathname === "/dataset" && document.querySelector("#versions")`)
	for _, path := range []string{"/search", "/portals", "/crawls", "/statistics", "/api-doc", "/ns/csvw",
		"/describe?iri=http%3A%2F%2Fwww.w3.org%2Fns%2Fdcat%23Distribution"} {
		w.open(path)
		w.until(`document.querySelector("h1")`)
	}

	dir := t.TempDir()
	if _, err := chromedp.CallBrowser(w.ctx, browser.SetDownloadBehavior,
		browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir}); err != nil {
		t.Fatal(err)
	}
	query := `PREFIX dct: <http://purl.org/dc/terms/>
PREFIX dcat: <http://www.w3.org/ns/dcat#>
SELECT ?version WHERE { ?file dct:hasVersion ?version . ?version dcat:mediaType "text/csv" FILTER regex(str(?version), "_0$") }`
	w.open("/console?query=" + url.QueryEscape(query))
	w.until(`document.querySelector(".grid td a")`)
	w.until(`/ZIP \(\d+ files?,/.test(document.querySelector("[data-zip-query]").textContent)`)
	eval[bool](w, `(() => { document.querySelector("[data-zip-query]").click(); return true; })()`)
	var archive *zip.Reader
	for deadline := time.Now().Add(30 * time.Second); archive == nil && time.Now().Before(deadline); {
		names, err := filepath.Glob(filepath.Join(dir, "*.zip"))
		if err != nil {
			t.Fatal(err)
		}
		if len(names) == 1 {
			data, err := os.ReadFile(names[0])
			if err != nil {
				t.Fatal(err)
			}
			archive, _ = zip.NewReader(bytes.NewReader(data), int64(len(data))) // until it is complete
		}
		eval[bool](w, `new Promise((done) => setTimeout(() => done(true), 50))`)
	}
	if archive == nil {
		t.Fatal("no whole zip was saved")
	}
	w.report("the way of a newcomer")
	compareZip(t, base, query, archive)
}

// compareZip compares the files of a zip with the versions that the query selects, each fetched by its IRI.
func compareZip(t *testing.T, base, query string, archive *zip.Reader) {
	t.Helper()
	var answer struct {
		Results struct {
			Bindings []map[string]struct{ Value string }
		}
	}
	fetch := func(address, accept string) []byte {
		r, err := http.NewRequest("GET", address, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", accept)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("%s: %d, %v", address, res.StatusCode, err)
		}
		return body
	}
	if err := json.Unmarshal(fetch(base+"/sparql?query="+url.QueryEscape(query), "application/sparql-results+json"), &answer); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, row := range answer.Results.Bindings {
		want[string(fetch(row["version"].Value, "*/*"))] = true
	}
	files := 0
	for _, f := range archive.File {
		if f.Name == "manifest.json" || f.Name == "metadata.ttl" || f.Name == "ro-crate-metadata.json" {
			continue
		}
		files++
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil || !want[string(data)] {
			t.Errorf("%s holds other bytes than any version of the answer (%v)", f.Name, err)
		}
	}
	if files != len(answer.Results.Bindings) || files == 0 {
		t.Errorf("the zip holds %d files, the answer %d versions", files, len(answer.Results.Bindings))
	}
}
