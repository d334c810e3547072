package crawl

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
)

// keeper counts what is kept and goes on from the last mark.
type keeper struct {
	mark    string
	commits int
	ended   bool
}

func (k *keeper) Begin(context.Context, harvest.Report, bool) (string, error) { return k.mark, nil }

func (k *keeper) Open(context.Context, harvest.Report, string, bool, bool) error { return nil }

func (k *keeper) Listed(context.Context, harvest.Report, string) (int, error) { return 0, nil }

func (k *keeper) Lacking(context.Context, harvest.Report, string, []string) (catalog.Figure, error) {
	return catalog.Figure{}, nil
}

func (k *keeper) Keep(_ context.Context, s harvest.Step) (int, error) {
	k.mark = s.Mark
	return len(s.Seeds), nil
}

func (k *keeper) Commit(context.Context, harvest.Report, string, harvest.Ending) (harvest.Changes, error) {
	k.commits++
	return harvest.Changes{}, nil
}

func (k *keeper) End(_ context.Context, _ harvest.Report, done bool, _ string) error {
	k.ended = done
	return nil
}

// web answers every request with the same, without a network.
type web struct{ answer http.HandlerFunc }

func (w web) Do(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	recorder := httptest.NewRecorder()
	w.answer(recorder, req)
	resp := recorder.Result()
	resp.Request = req
	return resp, nil
}

func says(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, body)
	}
}

func TestNoPortalInTroubleBringsAHarvestDown(t *testing.T) {
	t.Parallel()
	troubles := map[string]http.HandlerFunc{
		"a web page":           says("text/html", "<!DOCTYPE html><html><body>Welcome</body></html>"),
		"a login page as JSON": says("application/json", "<html><head><title>Login</title></head><form action=/login></form></html>"),
		"half a JSON": says("application/json",
			`{"success": true, "result": {"count": 2, "results": [{"id": "1", "name": "a", "resources": [{"url": "http://f.exa`),
		"half an XML":      says("text/xml", `<?xml version="1.0"?><OAI-PMH><ListRecords><record><header><identifier>x</iden`),
		"a wrong encoding": says("application/json; charset=utf-16", "\xff\xfe{\x00\"\x00Z\xfcrich"),
		"nothing":          says("", ""),
		"binary":           says("application/json", strings.Repeat("\x00\xff\x01", 999)),
		"not found":        http.NotFound,
		"a null":           says("application/json", "null"),
		"another null": says("application/json",
			`{"success":true,"result":null,"results":null,"dataset":null,"data":null,"hits":null}`),
		"something deeply nested": says("application/json", strings.Repeat("[", 100_000)),
		"an endless redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String()+"x", http.StatusFound)
		},
	}
	for _, h := range harvesters() {
		for name, answer := range troubles {
			t.Run(h.kind+" meets "+name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				k := &keeper{}
				source := HarvestSource{Kind: h.kind, Address: "http://portal.example/start", HTTP: web{answer}}
				report, err := harvest.Run(ctx, h.kind, h.make(source), k, harvest.Options{Kind: h.kind})
				if ctx.Err() != nil {
					t.Fatal("it did not come to an end")
				}
				if err == nil && report.Datasets.N()+report.Seeds.N() == 0 && report.Invalid.N() == 0 {
					t.Errorf("nothing was found, and nothing is said about it: %+v", report)
				}
				if err != nil && (report.Error == "" || strings.Contains(report.Error, "\n") || len(report.Error) > 600) {
					t.Errorf("not one sentence: %v", err)
				}
				if err != nil && k.ended {
					t.Error("a harvest that failed counts as done")
				}
			})
		}
	}
}
