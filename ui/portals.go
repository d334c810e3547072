package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/harvest/timetable"
	"odarchive/sparqlapi/operate/access"
)

// Planned has the harvests that run at their times, and the questions about portals; the crawl implements it.
type Planned interface {
	Harvests(ctx context.Context) ([]timetable.Planned, []ledger.Question, error)
	PlanHarvest(ctx context.Context, p timetable.Plan) (timetable.Planned, error)
	OrderHarvest(ctx context.Context, name, order, why string) (timetable.Planned, error)
	AnswerQuestion(ctx context.Context, portal string, a ledger.Answer) (ledger.Question, error)
}

// Bounds of the page of portals. GET /harvests has everything.
const (
	shownPlans     = 200
	shownQuestions = 20
	portalsCounted = 50 // values that a facet of a search has at most
)

// portalsPage is the data of the page of portals.
type portalsPage struct {
	Portals   []portalLine
	Largest   int // number of files of the largest
	Planned   []planned
	MorePlans int
	Questions []ledger.Question // that wait for an answer
	Kept      []ledger.Question // of portals that keep datasets by an answer
	May       bool              // orders are accepted from those who have the token
	Signed    bool              // the browser has signed in
	Signs     bool              // the browser has signed in as somebody who may register addresses
	Kinds     []string          // of sources of harvests
	Form      url.Values        // a form that was not accepted
	Done      string            // what the order did
	Error     string
}

// portalLine is a portal in the list.
type portalLine struct {
	catalog.Portal
	Failing int    // files whose last visit failed; -1 if that was not counted, because other portals have more
	Percent int    // of its files
	Broken  bool   // these are many
	Href    string // of a search for them
}

// planned is a planned harvest with a sentence on its last run.
type planned struct {
	timetable.Planned
	Outcome string
}

// portals answers GET /portals.
func (u *UI) portals(w http.ResponseWriter, r *http.Request) error {
	return u.renderPortals(w, r, http.StatusOK, portalsPage{})
}

// portalsForm answers POST /portals: addresses to be visited, a harvest to be planned, an answer to a question about a
// portal, or an order to a planned harvest.
func (u *UI) portalsForm(w http.ResponseWriter, r *http.Request) error {
	status, why := u.orderedPortals(w, r)
	if status != 0 || u.planned == nil {
		return u.renderPortals(w, r, cmp.Or(status, http.StatusForbidden),
			portalsPage{Form: r.PostForm, Error: cmp.Or(why, "This server takes no orders.")})
	}
	var done string
	var err error
	switch ctx, order := context.WithoutCancel(r.Context()), r.PostForm.Get("order"); order {
	case "register":
		done, err = u.register(ctx, r.PostForm)
	case "plan":
		done, err = u.plan(ctx, r.PostForm)
	case "change":
		done, err = u.replan(ctx, r.PostForm)
	default:
		done, err = u.orderPortal(ctx, order, r.PostForm.Get("portal"), r.PostForm.Get("harvest"))
	}
	switch {
	case errors.Is(err, timetable.ErrBad), errors.Is(err, timetable.ErrUnknown), errors.Is(err, ledger.ErrNoQuestion):
		return u.renderPortals(w, r, http.StatusBadRequest, portalsPage{Form: r.PostForm, Error: err.Error()})
	case err != nil:
		return err
	}
	return u.renderPortals(w, r, http.StatusOK, portalsPage{Done: done})
}

// orderPortal carries out an order and says what it did.
func (u *UI) orderPortal(ctx context.Context, order, portal, name string) (done string, err error) {
	switch order {
	case "withdraw", "keep":
		q, err := u.planned.AnswerQuestion(ctx, portal, ledger.Answer(order))
		if order == "keep" {
			return fmt.Sprintf("%d datasets of %s are kept as listed.", q.Waiting, portal), err
		}
		return fmt.Sprintf("%d datasets of %s are withdrawn.", q.Waiting+q.Refused, portal), err
	case "run", "pause", "resume", "remove":
		p, err := u.planned.OrderHarvest(ctx, name, order, "")
		return fmt.Sprintf("The harvest of %s %s.", p.URL,
			map[string]string{"run": "is due", "pause": "is paused", "resume": "is planned again",
				"remove": "is no longer planned. What it brought stays"}[order]), err
	}
	return "", fmt.Errorf("%w: there is no order %.100q", timetable.ErrBad, order)
}

func (u *UI) renderPortals(w http.ResponseWriter, r *http.Request, status int, page portalsPage) error {
	portals, err := u.archive.Portals(r.Context())
	if err != nil {
		return err
	}
	found, err := u.archive.Search(r.Context(), catalog.Search{Outcome: catalog.NoVersion, Limit: 1, Facets: true})
	if err != nil {
		return err
	}
	failing, all := map[string]int{}, len(found.Portals) < portalsCounted
	for _, c := range found.Portals {
		failing[c.Key] = c.Count
	}
	for _, p := range portals {
		l := portalLine{Portal: p, Failing: failing[p.IRI], Href: with(url.Values{"portal": {p.IRI}}, "outcome", string(catalog.NoVersion))}
		if _, counted := failing[p.IRI]; !counted && !all {
			l.Failing = -1
		}
		if p.Known() > 0 {
			l.Percent = 100 * l.Failing / p.Known()
		}
		l.Broken = isBroken(l.Failing, p.Known())
		page.Portals = append(page.Portals, l)
		page.Largest = max(page.Largest, p.Resources)
	}
	page.May, page.Signed, page.Signs, page.Kinds = u.may() && u.planned != nil, signed(r, access.Crawl), signed(r, access.Add), u.kinds
	if u.planned != nil {
		plans, asked, err := u.planned.Harvests(r.Context())
		if err != nil {
			return err
		}
		shown := plans[:min(len(plans), shownPlans)]
		page.MorePlans = len(plans) - len(shown)
		for _, p := range shown {
			page.Planned = append(page.Planned, planned{p, outcomeOfPlan(p)})
		}
		for _, q := range asked {
			if q.Waiting > 0 && len(page.Questions) < shownQuestions {
				page.Questions = append(page.Questions, q)
			}
			if q.Refused > 0 && len(page.Kept) < shownQuestions {
				page.Kept = append(page.Kept, q)
			}
		}
	}
	return u.render(w, r, status, "portals", view{Title: "Portals", Page: page})
}

// outcomeOfPlan describes the last run of a planned harvest, "" if there is none.
func outcomeOfPlan(p timetable.Planned) string {
	switch {
	case p.State == timetable.Running && p.Last != nil:
		return fmt.Sprintf("so far %d datasets, %d new files", p.Last.Datasets.N(), p.Last.Added)
	case p.Error != "":
		return strings.TrimSuffix(p.Error, ".")
	case p.Last != nil:
		return outcomeOf(*p.Last)
	}
	return ""
}
