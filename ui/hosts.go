package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"odarchive/crawler/web/hosts"
	"odarchive/sparqlapi/operate/access"
)

// Hosts has what an operator sets for single hosts; the crawl implements it.
type Hosts interface {
	HostRules() []hosts.Listed
	ViewHost(name string) hosts.View
	SetHosts(ctx context.Context, match string, values map[string]string) (hosts.Rule, error)
	UnsetHosts(ctx context.Context, match string) error
	PauseHosts(ctx context.Context, match, why string) error
	ResumeHosts(ctx context.Context, match string) error
	ForgetHost(ctx context.Context, name string) error
}

// hostsPage is the data of the page. Only those who have the token see rules.
type hostsPage struct {
	May    bool // this server takes orders from those who have its token
	Signed bool // the browser has signed in
	Open   bool // the token was right
	Match  string
	Values string
	Done   string // what the order did
	Error  string
	Rules  []hosts.Listed
	View   *hosts.View // of Match, if that is a host
}

// hostsPage answers GET /hosts: the form, without any rule unless the browser has signed in.
func (u *UI) hostsPage(w http.ResponseWriter, r *http.Request) error {
	page := hostsPage{Match: strings.TrimSpace(r.URL.Query().Get("host"))}
	if u.hosts != nil && signed(r, access.Crawl) {
		w.Header().Set("Cache-Control", "no-store")
		u.showRules(&page)
	}
	return u.renderHosts(w, r, http.StatusOK, page)
}

// hostsForm answers POST /hosts: an order about hosts, or the list of what is set.
func (u *UI) hostsForm(w http.ResponseWriter, r *http.Request) error {
	status, why := u.orderedBy(w, r)
	page := hostsPage{Match: strings.TrimSpace(r.PostForm.Get("match")), Values: r.PostForm.Get("values")}
	if status != 0 || u.hosts == nil {
		page.Error = cmp.Or(why, "This server takes no orders.")
		return u.renderHosts(w, r, cmp.Or(status, http.StatusForbidden), page)
	}
	done, err := u.orderHosts(r.Context(), r.PostForm.Get("order"), page.Match, page.Values)
	switch {
	case errors.Is(err, hosts.ErrBad), errors.Is(err, hosts.ErrUnknown):
		status, page.Error = http.StatusBadRequest, err.Error()
	case err != nil:
		return err
	default:
		status, page.Done = http.StatusOK, done
	}
	u.showRules(&page)
	return u.renderHosts(w, r, status, page)
}

// showRules adds what is set to a page for those who may see it.
func (u *UI) showRules(page *hostsPage) {
	page.Open, page.Rules = true, u.hosts.HostRules()
	if page.Match != "" && !strings.ContainsAny(page.Match, "*/") {
		view := u.hosts.ViewHost(page.Match)
		page.View = &view
	}
}

// orderHosts carries out an order and says what it did.
func (u *UI) orderHosts(ctx context.Context, order, match, values string) (done string, err error) {
	switch order {
	case "set":
		set := map[string]string{}
		for line := range strings.Lines(values) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			if name == "" && !ok {
				continue
			}
			if !ok {
				return "", badOrder("%q is not of the form name=value", name)
			}
			set[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
		if len(set) == 0 {
			return "", badOrder("no value is given, as in delay=10s")
		}
		_, err = u.hosts.SetHosts(ctx, match, set)
		return "The settings of " + match + " are changed.", err
	case "unset":
		return "Nothing is set for " + match + " any more.", u.hosts.UnsetHosts(ctx, match)
	case "pause":
		return match + " is not asked until it is resumed.", u.hosts.PauseHosts(ctx, match, strings.TrimSpace(values))
	case "resume":
		return match + " is asked again.", u.hosts.ResumeHosts(ctx, match)
	case "forget":
		if match == "" || strings.ContainsAny(match, "*/") {
			return "", badOrder("%q is not a host", match)
		}
		return match + " is as if it had never been asked.", u.hosts.ForgetHost(ctx, match)
	case "", "show":
		return "", nil
	}
	return "", badOrder("there is no order %q", order)
}

func (u *UI) renderHosts(w http.ResponseWriter, r *http.Request, status int, page hostsPage) error {
	page.May = u.may() && u.hosts != nil
	page.Signed = signed(r, access.Crawl)
	return u.render(w, r, status, "hosts", view{Title: "Hosts", Section: "/crawls", Page: page})
}

func badOrder(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{hosts.ErrBad}, args...)...)
}
