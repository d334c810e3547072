package operate

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"odarchive/crawler/web/hosts"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
)

// HostSettings has what an operator sets for single hosts.
type HostSettings interface {
	HostRules() []hosts.Listed
	ViewHost(name string) hosts.View
	// SetHosts changes what is set for the hosts that match selects: names and values, "" to remove one.
	SetHosts(ctx context.Context, match string, values map[string]string) (hosts.Rule, error)
	// UnsetHosts removes all that was set.
	UnsetHosts(ctx context.Context, match string) error
	PauseHosts(ctx context.Context, match, why string) error
	ResumeHosts(ctx context.Context, match string) error
	// ForgetHost removes what is remembered of a host.
	ForgetHost(ctx context.Context, name string) error
}

// hostOrder is the body of orders about hosts.
type hostOrder struct {
	Match string            `json:"match"`
	Set   map[string]string `json:"set"`
	Why   string            `json:"why"`
	Host  string            `json:"host"`
}

// HostSettings answers GET /crawl/settings: all rules, and with ?host= what applies to that host.
func (a *ControlAPI) HostSettings(w http.ResponseWriter, r *http.Request) error {
	if name := r.URL.Query().Get("host"); name != "" {
		return answer.JSON(w, r, a.Settings.ViewHost(name))
	}
	return answer.JSON(w, r, map[string]any{"rules": a.Settings.HostRules()})
}

// SetHosts answers POST /crawl/settings: {"match", "set": {"delay": "10s", ...}}. The answer is the rule as it is
// stored.
func (a *ControlAPI) SetHosts(w http.ResponseWriter, r *http.Request) error {
	o, err := readHostOrder(w, r, func(o hostOrder) bool { return o.Match != "" && len(o.Set) > 0 })
	if err != nil {
		return err
	}
	rule, err := a.Settings.SetHosts(r.Context(), o.Match, o.Set)
	if err != nil {
		return hostProblem(err)
	}
	return answer.JSON(w, r, rule)
}

// UnsetHosts answers DELETE /crawl/settings?match=.
func (a *ControlAPI) UnsetHosts(w http.ResponseWriter, r *http.Request) error {
	if err := a.Settings.UnsetHosts(r.Context(), r.URL.Query().Get("match")); err != nil {
		return hostProblem(err)
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// PauseHosts, ResumeHosts and ForgetHost answer POST /crawl/settings/pause, resume and forget: {"match", "why"}, and
// {"host"} for the last.
func (a *ControlAPI) PauseHosts(w http.ResponseWriter, r *http.Request) error {
	return a.orderHosts(w, r, func(o hostOrder) error { return a.Settings.PauseHosts(r.Context(), o.Match, o.Why) })
}

func (a *ControlAPI) ResumeHosts(w http.ResponseWriter, r *http.Request) error {
	return a.orderHosts(w, r, func(o hostOrder) error { return a.Settings.ResumeHosts(r.Context(), o.Match) })
}

func (a *ControlAPI) ForgetHost(w http.ResponseWriter, r *http.Request) error {
	o, err := readHostOrder(w, r, func(o hostOrder) bool { return o.Host != "" })
	if err != nil {
		return err
	}
	if err := a.Settings.ForgetHost(r.Context(), o.Host); err != nil {
		return hostProblem(err)
	}
	return answer.JSON(w, r, a.Settings.ViewHost(o.Host))
}

func (a *ControlAPI) orderHosts(w http.ResponseWriter, r *http.Request, do func(hostOrder) error) error {
	o, err := readHostOrder(w, r, func(o hostOrder) bool { return o.Match != "" })
	if err != nil {
		return err
	}
	if err := do(o); err != nil {
		return hostProblem(err)
	}
	return a.HostSettings(w, r)
}

// readHostOrder reads the body of an order about hosts. whole reports whether it has what the order needs.
func readHostOrder(w http.ResponseWriter, r *http.Request, whole func(hostOrder) bool) (o hostOrder, err error) {
	body, err := readBody(w, r)
	if err != nil {
		return o, err
	}
	if json.Unmarshal(body, &o) != nil || !whole(o) {
		return o, problem.New(http.StatusBadRequest, "Not an order about hosts",
			`expected {"match": "*.example.org", "set": {"delay": "10s"}}, {"match": "*.example.org", "why": "..."} or {"host": `+
				`"data.example.org"}`)
	}
	return o, nil
}

func hostProblem(err error) error {
	switch {
	case errors.Is(err, hosts.ErrUnknown):
		return problem.Wrap(http.StatusNotFound, "Nothing is set", err)
	case errors.Is(err, hosts.ErrBad):
		return problem.Wrap(http.StatusBadRequest, "Not a setting of hosts", err)
	}
	return err
}
