package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest/timetable"
	"odarchive/sparqlapi/operate/access"
)

// Register adds files to those that are visited; crawler.Intake.Add does. fresh[i] reports whether seeds[i] was new. If
// one is malformed, none is added.
type Register func(ctx context.Context, seeds []catalog.Seed) (fresh []bool, err error)

// maxRegistered is the most addresses that one form registers. POST /post/resources takes more.
const maxRegistered = 500

// register adds the addresses of a form, one a line, and says what it did.
func (u *UI) register(ctx context.Context, form url.Values) (done string, err error) {
	var seeds []catalog.Seed
	for line := range strings.Lines(form.Get("urls")) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(seeds) == maxRegistered {
			return "", fmt.Errorf("%w: more than %d addresses", timetable.ErrBad, maxRegistered)
		}
		if _, err := address.Parse(line); err != nil {
			return "", fmt.Errorf("%w: %w", timetable.ErrBad, err)
		}
		seeds = append(seeds, catalog.Seed{URL: line})
	}
	if u.registers == nil || len(seeds) == 0 {
		return "", fmt.Errorf("%w: no address is given", timetable.ErrBad)
	}
	fresh, err := u.registers(ctx, seeds)
	if err != nil {
		return "", err
	}
	added := 0
	for _, isNew := range fresh {
		if isNew {
			added++
		}
	}
	return fmt.Sprintf("%s registered, %d known already. They are fetched when their hosts allow it.", plural(added, "new file"),
		len(seeds)-added), nil
}

// plan plans the harvest of a form and says when it runs.
func (u *UI) plan(ctx context.Context, form url.Values) (done string, err error) {
	p := timetable.Plan{Kind: form.Get("kind"), URL: strings.TrimSpace(form.Get("url"))}
	setTimes(&p, form.Get("when"))
	planned, err := u.planned.PlanHarvest(ctx, p)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("The harvest of %s runs %s.", planned.URL, planned.When), nil
}

// setTimes sets when a plan is run, from an interval or a list of times as people write them.
func setTimes(p *timetable.Plan, when string) {
	p.Every, p.At = 0, nil
	if every, err := timetable.ParseInterval(strings.TrimSpace(when)); err == nil {
		p.Every = every
		return
	}
	for at := range strings.SplitSeq(when, ",") { // the timetable says what is wrong with them
		p.At = append(p.At, strings.TrimSpace(at))
	}
}

// replan changes when a planned harvest runs, and nothing else of it.
func (u *UI) replan(ctx context.Context, form url.Values) (done string, err error) {
	all, _, err := u.planned.Harvests(ctx)
	if err != nil {
		return "", err
	}
	name := form.Get("harvest")
	at := slices.IndexFunc(all, func(p timetable.Planned) bool { return p.ID == name })
	if at < 0 {
		return "", fmt.Errorf("%w: %.100q", timetable.ErrUnknown, name)
	}
	p := all[at].Plan
	p.Paused = "" // an order to pause stays, whatever the plan says
	setTimes(&p, form.Get("times"))
	planned, err := u.planned.PlanHarvest(ctx, p)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("The harvest of %s runs %s now.", planned.URL, planned.When), nil
}

// orderedPortals reads a form of the page of portals: who registers addresses needs another right than who plans.
func (u *UI) orderedPortals(w http.ResponseWriter, r *http.Request) (status int, why string) {
	status, why = u.orderedWith(w, r, func() access.Right {
		if r.PostForm.Get("order") == "register" {
			return access.Add
		}
		return access.Crawl
	})
	return status, why
}
