package sparqlapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/harvest/timetable"
	"odarchive/sparqlapi"
	"odarchive/sparqlapi/openapi/contract"
	"odarchive/sparqlapi/operate"
)

// harvests has one planned harvest, "city", and a question about the portal "http://p.example/".
type harvests struct{}

func planned() timetable.Planned {
	at := time.Date(2026, 11, 23, 3, 30, 0, 0, time.UTC)
	return timetable.Planned{ID: "city", Plan: timetable.Plan{Kind: "ckan", URL: "https://data.city.example", At: timetable.Texts{"03:30"}},
		When: "at 03:30", From: timetable.FromFile, State: timetable.Failing, Next: at, Good: at, Failures: 1, Error: "it answers 500",
		Last: &harvest.Report{Kind: "ckan"}}
}

func question() ledger.Question {
	at := time.Date(2026, 11, 23, 3, 30, 0, 0, time.UTC)
	return ledger.Question{Portal: "http://p.example/", Source: "ckan http://p.example/", Harvest: "harvest-1", Asked: at, Last: at,
		Waiting: 40, Listed: 50, Examples: []string{"http://p.example/1"}}
}

func (harvests) Harvests(context.Context) ([]timetable.Planned, []ledger.Question, error) {
	return []timetable.Planned{planned()}, []ledger.Question{question()}, nil
}

func (harvests) PlanHarvest(_ context.Context, p timetable.Plan) (timetable.Planned, error) {
	p, err := p.Check()
	return timetable.Planned{ID: p.ID(), Plan: p, When: p.When(), From: timetable.FromOrder, State: timetable.Waiting}, err
}

func (harvests) OrderHarvest(_ context.Context, name, order, why string) (timetable.Planned, error) {
	p := planned()
	if p.Why = order + why; name != p.ID && name != p.URL {
		return p, fmt.Errorf("%w: %q", timetable.ErrUnknown, name)
	}
	return p, nil
}

func (harvests) AnswerQuestion(_ context.Context, portal string, _ ledger.Answer) (ledger.Question, error) {
	q := question()
	if portal != q.Portal {
		return q, fmt.Errorf("%w about %s", ledger.ErrNoQuestion, portal)
	}
	return q, nil
}

func TestHarvestsArePlannedAndAnswered(t *testing.T) {
	t.Parallel()
	guard, _ := guardOf(t)
	h, _ := server(t, func(o *sparqlapi.Options) {
		o.Guard = guard
		o.Control = &operate.ControlAPI{HarvestTable: harvests{}, CampaignStore: campaigns{}, Settings: hostSettings{}, Scope: noRules()}
	})
	ask := func(method, path, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer crawl")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"POST", "/harvests", `{"kind":"ckan","url":"https://a.example","every":"7d"}`, 200, `"when":"every 168h"`},
		{"POST", "/harvests", `{"kind":"ckan","url":"https://a.example","evry":"7d"}`, 400, "evry"},
		{"POST", "/harvests", `{"kind":"ckan","url":"ftp://a.example"}`, 400, "not an address"},
		{"POST", "/harvests", strings.Repeat(" ", 1<<17), 400, ""},
		{"POST", "/harvests/city/pause?why=x", "", 200, `"why":"pausex"`},
		{"POST", "/harvests/https%3A%2F%2Fdata.city.example/run", "", 200, `"why":"run"`},
		{"POST", "/harvests/village/resume", "", 404, "village"},
		{"DELETE", "/harvests/city", "", 200, `"why":"remove"`},
		{"POST", "/harvests/answer", `{"portal":"http://p.example/","answer":"withdraw"}`, 200, `"waiting":40`},
		{"POST", "/harvests/answer", `{"portal":"http://q.example/","answer":"keep"}`, 404, "nothing is asked"},
		{"POST", "/harvests/answer", `{"portal":"http://p.example/","answer":"perhaps"}`, 400, "keep"},
	} {
		for _, base := range []string{"", "/api/v1"} {
			if w := ask(c.method, base+c.path, c.body); w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%s %s %.80s: %d %s", c.method, base+c.path, c.body, w.Code, w.Body)
			}
		}
	}
	w := ask("GET", "/harvests", "")
	var list any
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	schemas, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range schemas.Check(schemas.Schema("/harvests"), list, "/harvests") {
		if !strings.Contains(fault, "undocumented") || !strings.Contains(fault, ".last:") {
			t.Error(fault)
		}
	}
}
