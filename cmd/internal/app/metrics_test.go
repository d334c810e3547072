package app

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/crawler/catalog"
)

// metricsOf returns what /metrics says while the node's background jobs run, after one other request.
func metricsOf(t *testing.T, n *Node) string {
	t.Helper()
	h, err := n.Handler()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { n.Background(ctx, ctx, true) })
	job(t, n, "tidying", "running")
	ask(h, "GET", "/healthz", "")
	text := ask(h, "GET", "/metrics", "").Body.String()
	cancel()
	group.Wait()
	return text
}

// Every metric of the page about alerts is at /metrics, with the labels that it names.
func TestTheMetricsToAlertOnExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "ui", "docs", "reference", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	n := background(t)
	text := metricsOf(t, n)
	names := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|(.*)$").FindAllStringSubmatch(string(page), -1)
	if len(names) < 10 {
		t.Fatalf("%d metrics on the page", len(names))
	}
	for _, one := range names {
		if !strings.Contains(text, "\n"+one[1]+"{") && !strings.Contains(text, "\n"+one[1]+" ") &&
			!strings.Contains(text, "\n"+one[1]+"_bucket{") {
			t.Errorf("%s is not at /metrics", one[1])
		}
	}
	for _, selected := range regexp.MustCompile("`([a-z_]+\\{[a-z]+=\"[a-z-]+\"\\})").FindAllStringSubmatch(string(page), -1) {
		if !strings.Contains(text, "\n"+selected[1]) {
			t.Errorf("%s is not at /metrics", selected[1])
		}
	}
	for _, class := range []string{"network", "dns", "tls", "disk-full", "internal"} {
		if !strings.Contains(text, `odarchive_crawl_errors_total{class="`+class+`"} 0`) {
			t.Errorf("no errors of class %s", class)
		}
	}
	if !strings.Contains(text, `odarchive_crawl_hosts_waiting{reason="retry-after"} 0`) {
		t.Error("no hosts that wait because of retry-after")
	}
}

func TestTheCrawlOverTimeIsShown(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(nil)
	defer site.Close()
	n := background(t)
	n.Config.Serve.Token = "secret"
	h, err := n.Handler()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Intake.Add(t.Context(), []catalog.Seed{{URL: site.URL + "/a.csv"}}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var group sync.WaitGroup
	group.Go(func() { n.Background(ctx, ctx, true) })
	for ctx.Err() == nil && !strings.Contains(ask(h, "GET", "/crawl/series", "").Body.String(), `"visits":1`) {
		time.Sleep(5 * time.Millisecond) // the visit is under way
	}
	cancel()
	group.Wait()
	ask(h, "POST", "/crawl/pause?why=%3Cnight%3E", "")
	for path, wants := range map[string][]string{
		"/crawls": {`<svg class="plot columns"`, "failed, refused or put off",
			"<td>http-status</td><td class=\"n\">1</td>", "pause the crawl", "&lt;night&gt;"},
		"/crawls?span=year":            {`aria-current="true">last year`, "<svg"},
		"/crawls?span=%22%3E%3Cscript": {`aria-current="true">last day`},
		"/crawl/series?step=24h":       {`"http-status":1`, `"no-version":1`},
		"/crawl/orders":                {`"order":"pause the crawl"`},
	} {
		body := ask(h, "GET", path, "").Body.String()
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s", path, want)
			}
		}
		if strings.HasPrefix(path, "/crawls") && strings.Contains(body, "<night>") || strings.Contains(body, `"><script`) {
			t.Errorf("%s is not escaped", path)
		}
	}
}
