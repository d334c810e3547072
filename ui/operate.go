package ui

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/queue/scope"
	"odarchive/sparqlapi/operate/access"
)

// Crawling holds and continues the crawl; crawler.Intake does.
type Crawling interface {
	Pause(ctx context.Context, why string) error
	Resume(ctx context.Context) error
}

// Scope has the rules of what may be fetched; scope.Scope does.
type Scope interface {
	List(after string, limit int) (all []scope.Listed, next string, err error)
	Change(ctx context.Context, add bool, why string, rules ...*scope.Rule) (n int, err error)
	Test(q scope.Question) (why string)
}

// Space is what the archive takes of the disk.
type Space struct {
	Parts      []SpacePart
	Incomplete bool // there are more files than were measured
	Free       int64
	Known      bool   // Free is known
	Full       string // why nothing is written, in one sentence; "" if there is room
}

// SpacePart is a directory of the archive.
type SpacePart struct {
	Name  string
	Bytes int64
}

// Bounds of the page of operation. The JSON has more.
const (
	shownWorkers = 50
	shownWaiting = 30
	lookedAt     = 2000 // hosts, in the order of their names
	shownRules   = 100
	maxWhy       = 1000 // bytes of a reason
)

// operatePage is the data of the page of operation.
type operatePage struct {
	Now      *crawlNow
	Workers  []dispatch.WorkerInfo
	Unshown  int                  // workers beyond them
	Waiting  []crawler.HostStatus // hosts that the crawler waits for
	Looked   bool                 // not all hosts were looked at
	Space    *Space
	Fixity   Fixity
	Errors   []errorRow // of the last day
	Rules    []scope.Listed
	Stored   []string // rules that can be removed
	Rest     bool     // there are more rules
	Scoped   bool     // there can be rules
	Tested   string   // the URL that was asked about
	Answer   string   // what the scope says of it
	May      bool     // orders are accepted from those who have the token
	Signed   bool     // the browser has signed in
	Form     url.Values
	Done     string
	Error    string
	Clock    time.Time
	HasSigns bool // there is something to see at all
}

// operate answers GET /operation: the queue, what it waits for, errors, the disk, fixity, and the rules of the scope.
// ?test=URL asks whether a URL is in scope.
func (u *UI) operate(w http.ResponseWriter, r *http.Request) error {
	page := operatePage{Tested: strings.TrimSpace(r.URL.Query().Get("test"))}
	if u.operation != nil && u.operation.Scope != nil && page.Tested != "" {
		q, err := scope.ParseQuestion(page.Tested, string(scope.Crawl), "", "")
		if err != nil {
			page.Error = err.Error()
			return u.renderOperate(w, r, http.StatusBadRequest, page)
		}
		page.Answer = "It is in scope: the crawler may fetch it."
		if why := u.operation.Scope.Test(q); why != "" {
			page.Answer = "It is not fetched: " + why + "."
		}
	}
	return u.renderOperate(w, r, http.StatusOK, page)
}

// operateForm answers POST /operation: it pauses or resumes the crawl, or changes rules of the scope.
func (u *UI) operateForm(w http.ResponseWriter, r *http.Request) error {
	status, why := u.orderedBy(w, r)
	if status != 0 {
		return u.renderOperate(w, r, status, operatePage{Form: r.PostForm, Error: why})
	}
	done, err := u.orderOperation(context.WithoutCancel(r.Context()), r.PostForm)
	switch {
	case errors.Is(err, scope.ErrBad), errors.Is(err, scope.ErrTooMany):
		return u.renderOperate(w, r, http.StatusBadRequest, operatePage{Form: r.PostForm, Error: err.Error()})
	case err != nil:
		return err
	}
	return u.renderOperate(w, r, http.StatusOK, operatePage{Done: done})
}

// orderOperation carries out an order and says what it did.
func (u *UI) orderOperation(ctx context.Context, form url.Values) (done string, err error) {
	order, why, rule := form.Get("order"), strings.TrimSpace(form.Get("why")), strings.TrimSpace(form.Get("rule"))
	if len(why) > maxWhy {
		return "", fmt.Errorf("%w: the reason has %d bytes, and at most %d are allowed", scope.ErrBad, len(why), maxWhy)
	}
	switch {
	case u.operation == nil:
	case order == "pause" && u.operation.Crawling != nil:
		return "The crawl is paused until it is resumed, also after a restart.", u.operation.Crawling.Pause(ctx, why)
	case order == "resume" && u.operation.Crawling != nil:
		return "The crawl goes on.", u.operation.Crawling.Resume(ctx)
	case (order == "allow" || order == "deny" || order == "remove") && u.operation.Scope != nil:
		parsed, err := scope.ParseChange(order, rule)
		if err != nil {
			return "", err
		}
		n, err := u.operation.Scope.Change(ctx, order != "remove", why, parsed)
		switch {
		case err == nil && n == 0 && order == "remove":
			return "", fmt.Errorf("%w: there is no rule %q that was ordered; those of the settings are removed there", scope.ErrBad, parsed)
		case n == 0:
			return fmt.Sprintf("The rule %q was there already.", parsed), err
		case order == "remove":
			return fmt.Sprintf("The rule %q is removed.", parsed), err
		}
		return fmt.Sprintf("The rule %q holds from now on.", parsed), err
	}
	return "", fmt.Errorf("%w: there is no order %.40q", scope.ErrBad, order)
}

func (u *UI) renderOperate(w http.ResponseWriter, r *http.Request, status int, page operatePage) (err error) {
	page.May, page.Signed, page.Clock = u.may() && u.operation != nil, signed(r, access.Crawl), u.now()
	if page.Now, err = u.crawlNow(); err != nil {
		return err
	}
	if page.Now != nil && page.Now.Workers != nil {
		workers := page.Now.Workers
		if caller, _ := access.Of(r.Context()); !caller.Rights.Has(access.Crawl) {
			workers = workers.Unnamed()
		}
		all := workers.Workers
		page.Workers = all[:min(len(all), shownWorkers)]
		page.Unshown = len(all) - len(page.Workers)
	}
	page.Fixity, page.HasSigns = u.fixityNow(), u.fixity != nil
	if o := u.operation; o != nil {
		if err := page.read(o, u.now()); err != nil {
			return err
		}
	}
	return u.render(w, r, status, "operation", view{Title: "Operation", Section: "/crawls", Page: page})
}

// read adds what is known of the operation.
func (p *operatePage) read(o *Operation, now time.Time) error {
	after := ""
	for looked := 0; o.Hosts != nil && len(p.Waiting) < shownWaiting; {
		some, err := o.Hosts(after, 500)
		if err != nil {
			return err
		}
		for _, h := range some {
			if after = h.Host; (h.State == "waiting" || len(h.Closed) > 0) && len(p.Waiting) < shownWaiting {
				p.Waiting = append(p.Waiting, h)
			}
		}
		looked += len(some)
		p.Looked = len(some) == 500
		if len(some) < 500 || looked >= lookedAt {
			break
		}
	}
	if o.Series != nil {
		slots, err := o.Series(now.Add(-24*time.Hour), now.Add(time.Second), 24*time.Hour)
		if err != nil {
			return err
		}
		var sums operation
		sums.draw(slots, "day", "15:04")
		p.Errors = sums.Errors
	}
	if o.Space != nil {
		s, err := o.Space()
		if err != nil {
			return err
		}
		p.Space = &s
	}
	if o.Scope == nil {
		return nil
	}
	rules, next, err := o.Scope.List("", shownRules)
	if err != nil {
		return err
	}
	p.Scoped, p.Rules, p.Rest = true, rules, next != ""
	for _, rule := range rules {
		if !rule.Settings {
			p.Stored = append(p.Stored, rule.Action+" "+rule.Rule)
		}
	}
	return nil
}

// Unmended reports whether something that is stored is damaged.
func (p operatePage) Unmended() bool { return p.Fixity.Unmended > 0 || p.Fixity.Lost > 0 }
