package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestAPlayerShowsAPageOfOurWACZ opens an exported WACZ in ReplayWeb.page, in a browser. REPLAYWEBPAGE names the folder
// of the unpacked npm package replaywebpage; without it, or without a browser, the test is skipped.
func TestAPlayerShowsAPageOfOurWACZ(t *testing.T) {
	player := os.Getenv("REPLAYWEBPAGE")
	if player == "" {
		t.Skip("REPLAYWEBPAGE names no folder with ReplayWeb.page")
	}
	browser := ""
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil && name != "" {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("there is no browser")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	writeCrawl(t, "crawl.warc.gz")
	for _, args := range [][]string{{"warc", "import", "crawl.warc.gz"}, {"warc", "export", "-o", "all.wacz"}} {
		var out bytes.Buffer
		if status := run(t.Context(), append(args, "--log-level", "error"), nil, &out, &out); status != 0 {
			t.Fatalf("%v: exit %d\n%s", args, status, out.String())
		}
	}
	mux := http.NewServeMux()
	mux.Handle("/replay/", http.StripPrefix("/replay/", http.FileServer(http.Dir(player))))
	mux.HandleFunc("/all.wacz", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, filepath.Join(dir, "all.wacz")) })
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(
			[]byte(
				`<!doctype html><script src="/replay/ui.js"></script><replay-web-page source="/all.wacz" url="http://a.example/" ` +
					`replayBase="/replay/" embed="replayonly" style="height: 600px"></replay-web-page>`))
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	ctx, cancel := chromedp.NewExecAllocator(t.Context(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
			chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1"))...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, time.Minute)
	defer cancel()
	// The player shows the page in frames inside elements with trees of their own.
	const text = `(function texts(root) {
		let all = root.body ? root.body.innerText : "";
		for (const e of root.querySelectorAll("*")) {
			if (e.shadowRoot) all += " " + texts(e.shadowRoot);
			if (e.tagName == "IFRAME" && e.contentDocument) all += " " + texts(e.contentDocument);
		}
		return all;
	})(document)`
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	shown := ""
	for ctx.Err() == nil {
		now, err := chromedp.Run(ctx, chromedp.Evaluate[string](text))
		if err == nil && strings.Contains(now, "other") && strings.Contains(now, "data") {
			return
		}
		if err == nil {
			shown = now
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Errorf("the player shows %q", shown)
}
