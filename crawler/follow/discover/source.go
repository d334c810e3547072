package discover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/follow/software"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Source is a web site of which the data files are to be found. Options, HTTP and Robots are required.
type Source struct {
	Options Options
	HTTP    harvest.Doer // must not follow redirects by itself: each one is judged by robots.txt and counted
	Robots  Judge
	Portal  string // IRI of the portal; "" means the site
	// Catalog returns the harvester of a catalog that a page names, nil if there is none of that kind. It may be nil.
	Catalog func(kind, url string, doer harvest.Doer) harvest.Harvester
	Rules   string           // an operator's rules for software, as software.Options has them
	Tracker *Tracker         // receives the progress; may be nil
	Found   func(Find)       // called for each file after it was kept; may be nil
	Explain bool             // gives finds the path that led to them
	Now     func() time.Time // nil means time.Now
}

// Requests between two marks: few enough that a crash costs less than markRequests, with all redirects and repetitions
// of the last request.
const (
	markEvery    = 25
	markRequests = 50
	markTime     = 5 * time.Second // between two marks, if there are finds that nobody has seen yet
	nextQueue    = 3000            // links that the next round begins with
)

// run is a discovery in progress.
type run struct {
	*walk
	src     Source
	out     harvest.Sink
	ctx     context.Context
	portal  harvest.Portal
	pending []Find    // found, but not kept yet
	marked  int       // requests at the last mark
	at      time.Time // of the last mark
	began   time.Time
	state   string
	checked int // requests at the last estimate
	expects float64
}

// Harvest implements harvest.Harvester. It ends without an error when the budget is spent, when nothing is left, or
// when hardly a file is expected any more. The next harvest then begins another round: it asks for the pages that led
// to files, unless they are unchanged, and follows what is new.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	opts, err := s.Options.Normalise()
	if err != nil {
		return fmt.Errorf("discover: %w", err)
	}
	helper, err := software.New(software.Options{Rules: s.Rules})
	if err != nil {
		return fmt.Errorf("discover: %w", err)
	}
	scorer, err := relevance.New(opts.Relevance())
	if err != nil {
		return fmt.Errorf("discover: %w", err)
	}
	start, err := url.Parse(opts.URL)
	if err != nil {
		return fmt.Errorf("discover: %w", err)
	}
	before, resumed, err := parseMark(from)
	if err != nil {
		out.Skip(err.Error() + "; the discovery begins anew")
	}
	a := &asker{doer: s.HTTP, judge: s.Robots, budget: opts.Budget, met: map[string]bool{}}
	r := &run{walk: newWalk(opts, a, helper, scorer), src: s, out: out, ctx: ctx, began: harvest.Now(s.Now), expects: -1}
	r.host, r.home = start.Host, start.Scheme+"://"+start.Host+"/"
	a.scope = func(u *url.URL) bool {
		return strings.EqualFold(u.Host, r.host) && (u.Scheme == "http" || u.Scheme == "https")
	}
	r.found, r.mark, r.skip, r.catalogs = r.emit, r.keep, out.Skip, s.Catalog
	if resumed {
		r.restore(before)
		r.marked = r.ask.spent
	}
	r.portal = harvest.Portal{IRI: s.Portal, Homepage: r.home, Title: r.name}
	r.describeSoftware()
	if r.portal.IRI == "" {
		r.portal.IRI = start.Scheme + "://" + start.Host + "/"
	}
	if err := out.Portal(r.portal, false); err != nil {
		return err
	}
	err = r.discover(resumed)
	switch {
	case errors.Is(err, errBudget):
		r.state, err = "the budget is spent", nil
	case err != nil:
		r.state = err.Error()
	}
	r.report(true)
	if err != nil {
		return err
	}
	return r.end()
}

// discover goes through a site.
func (r *run) discover(resumed bool) error {
	v, err := r.ask.allowed(r.ctx, r.opts.URL)
	switch {
	case err != nil:
		return err
	case v.Temporary:
		return fmt.Errorf("discover: %s", v.Reason)
	case !v.Allowed:
		return fmt.Errorf("discover: %s: nothing of the site may be asked for", v.Reason)
	}
	if !resumed {
		if err := r.first(); err != nil {
			return err
		}
		for _, s := range v.Sitemaps {
			r.list(s, "sitemap")
		}
	}
	for _, l := range r.listings { // interrupted ones, and those of an earlier round
		if _, err := r.readListing(r.ctx, l); err != nil {
			return err
		}
	}
	for len(r.again) > 0 {
		p := r.again[0]
		r.state = "asks again for the pages that led to files"
		if err := r.reread(r.ctx, p); err != nil {
			return err
		}
		r.again = r.again[1:]
		if err := r.keep(false); err != nil {
			return err
		}
	}
	for {
		l, by := r.choose()
		if l == nil {
			r.state = "every link was followed"
			return nil
		}
		r.state = "follows links"
		spent, files := r.ask.spent, len(r.known)
		promised := filesOf(float64(l.mean))
		if err := r.follow(r.ctx, l, by); err != nil {
			return err
		}
		if r.round == 0 || l.seq < r.roundSeq { // new links say nothing about those that were left
			r.pace.note(r.ask.spent-spent, len(r.known)-files, promised)
		}
		if err := r.keep(false); err != nil {
			return err
		}
		if r.hopeless() {
			r.state = "100 more requests are expected to bring less than one file"
			return nil
		}
	}
}

// first requests the first page. Its redirect may lead to another host of the same organisation, which is the site
// then.
func (r *run) first() error {
	scope := r.ask.scope
	l := &link{url: r.opts.URL, key: keyOf(r.opts.URL), from: noPage, path: "start"}
	r.describe(l, software.Hint{})
	r.seen[l.key] = nil
	r.ask.scope = func(u *url.URL) bool { return scope(u) || registered(u.Hostname()) == registered(hostname(r.host)) }
	a, err := r.ask.ask(r.ctx, r.opts.URL, "", nil)
	r.ask.scope = scope
	switch {
	case err != nil:
		return fmt.Errorf("discover: %w", err)
	case a.Status != 200:
		return fmt.Errorf("discover: %s answered %d", a.URL, a.Status)
	case !a.Page:
		return fmt.Errorf("discover: %s is not a page", a.URL)
	}
	if u, err := url.Parse(a.URL); err == nil {
		r.host, r.home = u.Host, u.Scheme+"://"+u.Host+"/"
		r.seen[keyOf(a.URL)] = nil
	}
	if err := r.recognise(a); err != nil {
		return err
	}
	_, err = r.read(r.ctx, l, a)
	return err
}

func hostname(host string) string {
	u := url.URL{Host: host}
	return u.Hostname()
}

// hopeless reports whether the next 100 requests are expected to bring less than one file.
func (r *run) hopeless() bool {
	if r.ask.spent-r.checked < 25 && r.expects >= 0 && r.round == 0 {
		return false
	}
	r.checked = r.ask.spent
	r.expects = r.pace.expected(r.queue.expected(100))
	switch best := r.queue.best(); {
	case r.opts.Whole || r.expects >= leastYield || best == nil:
		return false
	case r.round > 0: // what was there before has been judged before
		return best.seq < r.roundSeq || filesOf(float64(best.mean)) < leastWorth
	}
	return r.ask.spent >= patience && r.pace.Since >= drought
}

// describeSoftware says of the portal what is known of the site's software, and what gives it away.
func (r *run) describeSoftware() {
	r.portal.Software, r.portal.Statements = r.site.Name(), nil
	iri, ok := harvest.AsIRI(r.portal.IRI)
	if !ok || r.portal.Software == "" {
		return
	}
	for _, sign := range r.site.Systems[0].Because {
		r.portal.Statements = append(r.portal.Statements,
			term.Quad{S: term.IRI(iri), P: term.IRI(vocab.ArcSoftwareSign), O: term.String(sign)})
	}
}

// keep makes a mark if one is due, and then hands out what was found.
func (r *run) keep(now bool) error {
	since := r.ask.spent - r.marked
	if !now && since < markEvery && (len(r.pending) == 0 || since == 0 || time.Since(r.at) < markTime) {
		r.report(false)
		return r.ctx.Err()
	}
	if r.portal.Title == "" && r.name != "" || r.portal.Software != r.site.Name() {
		r.portal.Title = cmp.Or(r.portal.Title, r.name)
		r.describeSoftware()
		if err := r.out.Portal(r.portal, false); err != nil {
			return err
		}
	}
	if err := r.out.Mark(r.save(markRequests)); err != nil {
		return err
	}
	r.marked, r.at = r.ask.spent, time.Now()
	for _, f := range r.pending {
		r.src.Tracker.found(f)
		if r.src.Found != nil {
			r.src.Found(f)
		}
	}
	r.pending = r.pending[:0]
	r.report(false)
	return r.ctx.Err()
}

// report hands out the progress.
func (r *run) report(done bool) {
	r.src.Tracker.set(Progress{State: r.state, Done: done, Requests: r.ask.spent, Budget: r.ask.budget, Pages: r.read_, Files: len(r.known),
		Queued:   r.queue.len(),
		Software: names(r.site), Expected: r.expects, Began: r.began, Changed: harvest.Now(r.src.Now)})
}

func names(s software.Site) []string {
	if name := s.Software(); name != "" {
		return []string{name}
	}
	return nil
}

// emit hands over a file that was found.
func (r *run) emit(f finding) error {
	x := r.find(f)
	if r.src.Explain {
		x.Path = r.pathTo(f.page)
	}
	r.remind(f)
	r.pending = append(r.pending, x)
	if f.given != nil && !f.first {
		return nil
	}
	return r.out.Dataset(r.dataset(f, x))
}

// metAll reports whether the files of earlier rounds that are not lost were all met again.
func (r *run) metAll() bool {
	return r.round > 0 && !slices.ContainsFunc(r.known, func(f knownFile) bool { return f.Met != r.round })
}

// end says what is gone and where the next round begins.
func (r *run) end() error {
	kept := r.known[:0]
	for _, f := range r.known {
		if !f.Lost {
			kept = append(kept, f)
			continue
		}
		delete(r.files, keyOf(f.URL))
		if err := r.out.Gone(f.dataset()); err != nil {
			return err
		}
	}
	r.known = kept
	r.portal.TellsGone = r.metAll()
	if err := r.out.Portal(r.portal, false); err != nil {
		return err
	}
	if err := r.keep(true); err != nil {
		return err
	}
	r.out.Next(r.nextRound())
	return nil
}
