package app

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/cmd/internal/store"
	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/wacz"
	"odarchive/crawler/exchange/warc"
)

// optingOut is a host with files that it asks not to keep, in several ways. All of them have the word KEEPME or
// DONTKEEP.
func optingOut() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		body := "a,b\n1,DONTKEEP\n"
		switch r.URL.Path {
		case "/header.csv":
			w.Header().Set("X-Robots-Tag", "noindex, noarchive")
		case "/page.html":
			w.Header().Set("Content-Type", "text/html")
			body = "<!doctype html><html><head><meta name=\"Robots\" content=\"noarchive\"></head><body>DONTKEEP</body></html>"
		case "/tdm.csv":
			w.Header().Set("TDM-Reservation", "1")
		case "/reserved/x.csv", "/people/x.csv":
		case "/to-people.csv":
			http.Redirect(w, r, "/people/x.csv", http.StatusFound)
			return
		case "/.well-known/tdmrep.json":
			w.Header().Set("Content-Type", "application/json")
			body = `[{"location":"/reserved/*","tdm-reservation":1}]`
		case "/open.csv":
			body = "a,b\n1,KEEPME\n"
		default:
			http.NotFound(w, r)
			return
		}
		_, _ = io.WriteString(w, body)
	})
}

func TestWhatHostsAskNotToKeepAndWhatTheOperatorNeverKeepsIsNotKept(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(optingOut())
	defer web.Close()
	paths := []string{"/header.csv", "/page.html", "/tdm.csv", "/reserved/x.csv", "/people/x.csv", "/to-people.csv", "/open.csv"}
	for _, honour := range []bool{true, false} {
		cfg := config.Defaults()
		warcs := filepath.Join(t.TempDir(), "warc")
		cfg.Data, cfg.Fetch.AllowPrivateHosts, cfg.Fetch.HostDelay, cfg.Fetch.WARC = t.TempDir(), true, 0, warcs
		if honour {
			cfg.Fetch.Honour, cfg.Fetch.NeverKeep = []string{"noarchive", "tdm"}, []string{"pattern:/people/"}
		}
		n, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler), store.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		var seeds []catalog.Seed
		for _, p := range paths {
			seeds = append(seeds, catalog.Seed{URL: web.URL + p})
		}
		if _, err := n.Intake.Add(t.Context(), seeds); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Pipeline.Run(t.Context(), crawler.RunOptions{Once: true}); err != nil {
			t.Fatal(err)
		}
		for _, p := range paths {
			r, err := n.Archive.Resource(t.Context(), web.URL+p)
			if err != nil {
				t.Fatal(err)
			}
			kept, want := r.Versions > 0, !honour || p == "/open.csv"
			if kept != want || !want && r.Why == "" && p != "/people/x.csv" { // that is not visited; the queue says why
				t.Errorf("honour %v: %s: %d versions, %s, %q", honour, p, r.Versions, r.Outcome, r.Why)
			}
		}
		if honour {
			if found := newOutsider(t, "DONTKEEP").search(cfg.Data, warcs); len(found) > 0 {
				t.Errorf("what must not be kept is in %q", found)
			}
			importNeverKept(t, n)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}

// importNeverKept imports a WARC file with a URL that is never kept and one that is.
func importNeverKept(t *testing.T, n *Node) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.warc.gz")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := warc.NewWriter(f)
	for _, url := range []string{"http://other.example/people/x.csv", "http://other.example/x.csv"} {
		err := w.Write(&warc.Record{
			Header: warc.Header{{Name: "WARC-Type", Value: warc.Resource}, {Name: "WARC-Record-ID", Value: warc.NewID()},
				{Name: "WARC-Date", Value: "2020-01-02T03:04:05Z"}, {Name: "WARC-Target-URI", Value: url},
				{Name: "Content-Type", Value: "text/csv"}},
			Block: strings.NewReader("a,b\n1," + url + "\n")})
		if err != nil {
			t.Fatal(err)
		}
	}
	defer f.Close()
	done, err := n.ImportWARC(t.Context(), wacz.File{Name: name, ReaderAt: f, Size: w.Offset()}, false,
		func(f warc.Fault) { t.Errorf("%v", f) }, func(int, int) {})
	if err != nil || done.Versions != 1 || done.Withdrawn != 1 {
		t.Errorf("%+v, %v", done, err)
	}
}
