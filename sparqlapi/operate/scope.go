package operate

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"odarchive/crawler/queue/scope"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Scope is what the routes of the scope need of scope.Scope.
type Scope interface {
	List(after string, limit int) (all []scope.Listed, next string, err error)
	Change(ctx context.Context, add bool, why string, rules ...*scope.Rule) (n int, err error)
	Test(q scope.Question) (why string)
	Refusals() []scope.Refusal
}

var _ Scope = (*scope.Scope)(nil)

// ScopeRules answers GET /crawl/scope?after=&limit=: the rules of what may be fetched.
func (a *ControlAPI) ScopeRules(w http.ResponseWriter, r *http.Request) error {
	limit, err := target.Int(r.URL.Query(), "limit", 1000, 1, 100_000)
	if err != nil {
		return err
	}
	rules, next, err := a.Scope.List(r.URL.Query().Get("after"), limit)
	if err != nil {
		return err
	}
	if rules == nil {
		rules = []scope.Listed{} // [] in JSON
	}
	page := map[string]any{"rules": rules}
	if next != "" {
		page["after"] = next
	}
	return answer.JSON(w, r, page)
}

// ScopeRefused answers GET /crawl/scope/refused: what was refused, by rule.
func (a *ControlAPI) ScopeRefused(w http.ResponseWriter, r *http.Request) error {
	return answer.JSON(w, r, map[string]any{"refused": a.Scope.Refusals()})
}

// ScopeTest answers GET /crawl/scope/test?url=&type=&size=&for=: whether a URL may be fetched, and why not.
func (a *ControlAPI) ScopeTest(w http.ResponseWriter, r *http.Request) error {
	v := r.URL.Query()
	q, err := scope.ParseQuestion(v.Get("url"), v.Get("for"), v.Get("type"), v.Get("size"))
	if err == nil && q.URL == "" {
		err = errors.New("url is missing")
	}
	if err != nil {
		return problem.Wrap(http.StatusBadRequest, "Not a question", err)
	}
	why := a.Scope.Test(q)
	return answer.JSON(w, r, map[string]any{"url": q.URL, "inScope": why == "", "why": why})
}

// ChangeScope returns a handler of POST /crawl/scope/allow, /deny and /remove: {"rules", "why"}. If a rule is
// malformed, nothing is done.
func (a *ControlAPI) ChangeScope(what string) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		body, err := readBody(w, r)
		if err != nil {
			return err
		}
		var order struct {
			Rules []string `json:"rules"`
			Why   string   `json:"why"`
		}
		if err := json.Unmarshal(body, &order); err != nil || len(order.Rules) == 0 {
			return problem.New(http.StatusBadRequest, "Not rules",
				`expected {"rules": ["host:data.example.org", "type:video/*"], "why": "..."}`)
		}
		rules := make([]*scope.Rule, len(order.Rules))
		for i, text := range order.Rules {
			if rules[i], err = scope.ParseChange(what, text); err != nil {
				return problem.Wrap(http.StatusBadRequest, "Not rules", err)
			}
		}
		n, err := a.Scope.Change(r.Context(), what != "remove", order.Why, rules...)
		if errors.Is(err, scope.ErrTooMany) {
			return problem.Wrap(http.StatusInsufficientStorage, "Too many rules", err)
		}
		if err != nil {
			return err
		}
		return answer.JSON(w, r, map[string]int{"rules": n})
	}
}
