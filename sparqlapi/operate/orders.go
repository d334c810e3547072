package operate

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"

	"odarchive/crawler"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// order is the body of orders.
type order struct {
	Targets []string `json:"targets"` // URLs, host names, and "pattern:REGEXP"
	Why     string   `json:"why"`     // of drop and pause
	Score   *float64 `json:"score"`   // of boost and inject
	DryRun  bool     `json:"dryRun"`  // count, and name the first; change nothing
}

const orderShape = `expected {"targets": ["https://...", "data.example.org", "pattern:/calendar/"], "why": "...", "dryRun": false}`

// Order returns a handler of POST /crawl/requeue, /drop and /boost, for that kind of order: {"targets", "why", "score",
// "dryRun"}.
func (a *ControlAPI) Order(kind string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := readBody(w, r)
		if err != nil {
			return err
		}
		return a.carryOut(w, r, kind, body)
	}
}

// Pause answers POST /crawl/pause?why= for the whole crawl and, with a body as in Order, for URLs, hosts and patterns.
func (a *ControlAPI) Pause(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	if len(body) > 0 {
		return a.carryOut(w, r, frontier.OrderPause, body)
	}
	if err := a.Crawl.Pause(r.Context(), r.URL.Query().Get("why")); err != nil {
		return err
	}
	return answer.JSON(w, r, map[string]string{"held": a.Crawl.Held()})
}

// Resume answers POST /crawl/resume: it ends what Pause began.
func (a *ControlAPI) Resume(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	if len(body) > 0 {
		return a.carryOut(w, r, frontier.OrderResume, body)
	}
	if err := a.Crawl.Resume(r.Context()); err != nil {
		return err
	}
	return answer.JSON(w, r, map[string]string{"held": a.Crawl.Held()})
}

// carryOut carries out the order in a request's body. Malformed targets are left out: then the answer has status 207
// and names them. If all are malformed, or one with strict=1, nothing is done.
func (a *ControlAPI) carryOut(w http.ResponseWriter, r *http.Request, kind string, body []byte) error {
	var o order
	if err := json.Unmarshal(body, &o); err != nil || len(o.Targets) == 0 {
		return problem.New(http.StatusBadRequest, "Not an order", orderShape)
	}
	if kind == frontier.OrderBoost && o.Score == nil {
		return problem.New(http.StatusBadRequest, "Not an order",
			`boost needs a "score"; 0 is that of a new URL, and a greater one is visited sooner`)
	}
	var done ordered
	var first error
	good := make([]string, 0, len(o.Targets))
	for i, target := range o.Targets {
		err := frontier.CheckTarget(target)
		if kind == frontier.OrderInject {
			_, err = crawler.CleanSeed(catalog.Seed{URL: target})
		}
		if err != nil {
			first = cmp.Or(first, err)
			done.Bad = append(done.Bad, answer.Bad{Index: i, Error: err.Error()})
			continue
		}
		good = append(good, target)
	}
	if first != nil && (len(good) == 0 || answer.Strict(r)) {
		return notCrawled(first)
	}
	todo := frontier.Order{Kind: kind, Targets: good, Why: o.Why, Score: o.Score, DryRun: o.DryRun}
	var err error
	done.Ordered, err = a.Crawl.Order(r.Context(), todo)
	if _, bad := errors.AsType[*frontier.BadURL](err); bad {
		return notCrawled(err)
	}
	if err != nil {
		return err
	}
	if first != nil {
		return answer.Partly(w, r, done)
	}
	return answer.JSON(w, r, done)
}

// ordered is the answer to an order.
type ordered struct {
	frontier.Ordered
	Bad []answer.Bad `json:"bad,omitempty"`
}

// Orders answers GET /crawl/orders?limit=: the latest orders, newest first.
func (a *ControlAPI) Orders(w http.ResponseWriter, r *http.Request) error {
	limit, err := target.Int(r.URL.Query(), "limit", 100, 1, 1000)
	if err != nil {
		return err
	}
	all, err := a.Crawl.Orders(limit)
	if err != nil {
		return err
	}
	if all == nil {
		all = []frontier.Note{} // [] in JSON
	}
	return answer.JSON(w, r, map[string]any{"orders": all})
}
