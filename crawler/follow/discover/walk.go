package discover

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/address"
	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/follow/software"
	"odarchive/crawler/harvest"
)

// walk is one discovery: what is known of the site, and what could be asked for next. Everything in it but the queue's
// order is kept with the marks.
type walk struct {
	opts     Options
	ask      *asker
	helper   *software.Helper
	scorer   *relevance.Scorer
	site     software.Site
	host     string // authority of the site: its pages are of this host
	pages    []page
	queue    queue
	model    *model
	seen     map[uint64]*link   // URLs met, by key; nil for those that are done
	files    map[uint64]bool    // found
	waiting  map[uint64][]*link // links that are taken when their group is trusted
	groups   map[uint64]tally   // answers of links that seemed to be files, by group
	older    map[uint64]bool    // URLs of the mark that this discovery began with, by key without keyShift bits
	known    []knownFile        // found, with where
	byFile   map[uint64]int     // index in known, by key
	again    []int32            // pages to be asked again in the next round: those that led to files
	round    int
	roundSeq int32 // links from this number on are new in this round
	read_    int   // pages read
	experts  [numExperts]expert
	past     []outcome         // the latest pages, to correct what they taught
	content  map[uint64]int    // pages by content
	pace     pace              // files per request of late
	lists    map[uint64]string // sitemaps and feeds: hosts' declared lists that were queued, by key
	seq      int32
	random   uint64
	abouts   []about
	home     string // the site's first page
	name     string // of the site
	listings []listing
	catalogs func(kind, url string, doer harvest.Doer) harvest.Harvester // may be nil
	found    func(finding) error
	mark     func(now bool) error
	skip     func(why string)
}

// expert chooses links. Its share of the requests follows its yield.
type expert struct {
	Yield float64 `json:"yield"` // worth of its latest links, an average that forgets
	Asked int     `json:"asked"`
}

// The experts.
const (
	byWorth = iota
	byWords
	byChance
	numExperts
)

// tally counts the answers of links of one group.
type tally struct{ Data, Other int }

// outcome is what a page brought, and the links on it that promised most.
type outcome struct {
	traits []int32
	place  float64
	files  int
	links  []*link
}

const (
	discount    = 0.75 // of the worth of what a page only leads to
	maxChildren = 12   // links of a page that count for its worth
	maxPast     = 1500 // pages of which the outcome is looked at again
	maxBranch   = 24   // pages on the way to a link that count as its branches
	belief      = 8.0  // links that must be looked at before a branch is believed as much as the one around it
	usual       = 0.2  // worth of a link of which nothing is known
	replays     = 3    // such pages for each page
	replayRate  = 0.15
	forget      = 0.04 // of an expert's yield, with each of its requests
	scarce      = 0.05 // yield below which experts count alike
	leastShare  = 0.02 // of the requests of each expert
)

func newWalk(opts Options, ask *asker, helper *software.Helper, scorer *relevance.Scorer) *walk {
	w := &walk{opts: opts, ask: ask, helper: helper, scorer: scorer, model: newModel(), seen: map[uint64]*link{}, files: map[uint64]bool{},
		groups: map[uint64]tally{}, waiting: map[uint64][]*link{}, older: map[uint64]bool{}, byFile: map[uint64]int{},
		content: map[uint64]int{}, lists: map[uint64]string{}, random: hash(opts.URL)}
	w.queue.model, w.queue.place = w.model, w.placeOf
	w.experts = [numExperts]expert{{Yield: 0.4}, {Yield: 0.3}, {}}
	return w
}

// keyOf returns the key of a URL: equal for all spellings of it.
func keyOf(raw string) uint64 {
	u, err := address.Parse(raw)
	if err != nil {
		return hash(raw)
	}
	if u.Scheme == "https" { // a page is the same over both
		u.Scheme = "http"
	}
	return hash(u.Key())
}

// follow requests a link and learns from the answer.
func (w *walk) follow(ctx context.Context, l *link, by int) error {
	l.done = true
	w.seen[l.key] = nil
	files := len(w.known)
	if _, err := w.request(ctx, l); err != nil {
		return err
	}
	e := &w.experts[by]
	e.Asked++
	e.Yield += forget * (worthOf(float64(len(w.known)-files)) - e.Yield)
	return nil
}

// request requests a link, takes what it finds, and returns what it was worth.
func (w *walk) request(ctx context.Context, l *link) (float64, error) {
	if l.list {
		return w.readList(ctx, l)
	}
	a, err := w.ask.ask(ctx, l.url, "", w.fresh)
	for _, hop := range a.Hops {
		if key := keyOf(hop); w.seen[key] == nil {
			w.seen[key] = nil
		}
	}
	switch {
	case errors.Is(err, errBudget), errors.Is(err, errDown), ctx.Err() != nil:
		return 0, err
	case err != nil || a.Status != 200:
		w.brought(l, 0)
		w.model.learn(l.traits, float64(l.place), 0)
		return 0, w.judged(l, false)
	case !a.Page:
		data := isData(ctx, a)
		worth := 0.0
		if data {
			worth = worthOf(1)
			if err := w.take(l, l.from, "its answer is a file of data"); err != nil {
				return 0, err
			}
		}
		w.brought(l, worth)
		w.model.learn(l.traits, float64(l.place), worth)
		return worth, w.judged(l, data)
	}
	if l.file > 0 {
		if err := w.judged(l, false); err != nil {
			return 0, err
		}
	}
	return w.read(ctx, l, a)
}

// fresh reports whether the target of a redirect is worth a request.
func (w *walk) fresh(target string) bool {
	u, err := url.Parse(target)
	if err != nil || !w.ask.scope(u) {
		return false
	}
	l, met := w.seen[keyOf(target)]
	if met && l == nil || w.older[keyOf(target)>>keyShift] {
		return false
	}
	hint := w.helper.Link(&w.site, &software.Page{URL: target}, software.Link{URL: target})
	return hint.Avoid == ""
}

// read takes what a page says: its files, and its links for the queue.
func (w *walk) read(ctx context.Context, l *link, a answer) (float64, error) {
	view := readPage(a.URL, a.Header.Get("Content-Type"), a.Body)
	if view == nil {
		w.model.learn(l.traits, float64(l.place), 0)
		return 0, nil
	}
	seen := &software.Page{URL: a.URL, Status: a.Status, Header: a.Header, Root: view.root}
	level := w.helper.See(&w.site, seen)
	at := int32(len(w.pages))
	p := page{url: a.URL, text: cut(l.text, maxText), key: l.key, from: l.from, path: l.path, template: view.template, hops: l.hops,
		level: level, score: l.mean, why: w.reason(l)}
	if l.from != noPage {
		p.depth = min(w.pages[l.from].depth+1, 200)
	}
	w.pages = append(w.pages, p)
	w.abouts = append(w.abouts, aboutOf(view, a))
	if w.name == "" {
		w.name = view.site
	}
	w.read_++
	w.content[view.content]++
	repeated := w.content[view.content] > 1 && len(view.anchors) > 0
	fresh, err := w.links(ctx, at, view, a, seen)
	if err != nil {
		return 0, err
	}
	files := int(w.pages[at].files)
	if repeated {
		fresh = nil
	}
	slices.SortFunc(fresh, func(a, b *link) int { return int(math.Copysign(1, float64(b.mean-a.mean))) })
	o := outcome{traits: l.traits, place: float64(l.place), files: files, links: fresh[:min(len(fresh), maxChildren)]}
	w.brought(l, worthOf(float64(files)))
	worth := w.worthOf(o)
	w.model.learn(l.traits, float64(l.place), worth)
	w.remember(o)
	return worth, nil
}

// links takes the files that a page names, queues its new links and returns them.
func (w *walk) links(ctx context.Context, at int32, view *pageView, a answer, seen *software.Page) (fresh []*link, err error) {
	files, err := w.declared(ctx, at, view, a)
	if err != nil {
		return nil, err
	}
	for i := range view.anchors {
		n, next, err := w.consider(ctx, at, view, seen, &view.anchors[i])
		if err != nil {
			return nil, err
		}
		files += n
		if next != nil {
			fresh = append(fresh, next)
		}
	}
	w.pages[at].files += int32(files)
	for _, next := range fresh {
		w.enqueue(next)
	}
	if view.noIndex {
		fresh = nil
	}
	return fresh, nil
}

// consider looks at one link of a page. It takes files and returns a link for the queue, or nil.
func (w *walk) consider(ctx context.Context, at int32, view *pageView, seen *software.Page, x *anchor) (files int, next *link, err error) {
	u, err := url.Parse(x.url)
	if err != nil || view.noIndex {
		return 0, nil, nil
	}
	inside := w.ask.scope(u)
	if !inside && !w.near(u.Hostname()) {
		return 0, nil, nil
	}
	hint := w.helper.Link(&w.site, seen,
		software.Link{URL: x.url, Text: x.text, Rel: x.rel, Path: x.path, Type: x.kind, Download: x.download})
	if hint.Avoid != "" || hint.URL == "" {
		return 0, nil, nil
	}
	key := keyOf(hint.URL)
	if w.files[key] {
		w.meet(key, at)
		return 0, nil, nil
	}
	old, met := w.seen[key]
	if met && old == nil || !met && w.older[key>>keyShift] || hint.Document && hint.File == 0 {
		return 0, nil, nil
	}
	if root := interfaceOf(hint.URL); root != "" && inside {
		n, err := w.readListing(ctx, listing{Kind: "ckan", URL: root, Why: "a page links to its interface"})
		return n, nil, err
	}
	v, err := w.ask.allowed(ctx, hint.URL)
	if err != nil {
		return 0, nil, err
	}
	if !v.Allowed {
		w.seen[key] = nil
		return 0, nil, nil
	}
	l := &link{url: hint.URL, key: key, from: at, path: x.path, text: x.text, level: hint.Level, format: hint.Format,
		file: float32(hint.File), seq: w.seq}
	l.context = x.context
	if l.context == "" {
		l.context = x.heading
	}
	if from := &w.pages[at]; from.path == l.path {
		l.hops = min(from.hops+1, 9)
	}
	if why := w.certain(l); why != "" {
		if old != nil {
			old.done = true
		}
		w.seen[key] = nil
		w.describe(l, hint)
		mean, _ := w.model.worth(l.traits, w.placeOf(at))
		l.mean = float32(mean)
		return 1, nil, w.take(l, at, why)
	}
	if !inside {
		return 0, nil, nil
	}
	w.describe(l, hint)
	if old != nil { // known from another page: the better of the two places counts
		mean, _ := w.model.worth(l.traits, w.placeOf(at))
		if was, _ := w.model.worth(old.traits, w.placeOf(old.from)); mean > was+0.05 && !old.done {
			l.seq = old.seq
			old.done = true
			w.enqueue(l)
		}
		return 0, nil, nil
	}
	w.seq++
	w.seen[key] = l
	if l.file >= sureEnough {
		w.wait(l)
	}
	return 0, l, nil
}

// enqueue adds a link to the queue.
func (w *walk) enqueue(l *link) {
	w.seen[l.key] = l
	for _, dropped := range w.queue.push(l) {
		delete(w.seen, dropped.key) // it may come back
	}
}

// near reports whether a host belongs to the same organisation: files may be there, but its pages are not asked.
func (w *walk) near(name string) bool {
	own := w.host
	if i := strings.LastIndexByte(own, ':'); i > 0 {
		own = own[:i]
	}
	return name == own || registered(name) == registered(own)
}

// reason says in one phrase why a link was worth following.
func (w *walk) reason(l *link) string {
	switch {
	case l.list:
		return "the site lists it"
	case l.from == noPage:
		return ""
	}
	if word := w.scorer.Word(l.text); word != "" {
		return fmt.Sprintf("its anchor says %q", word)
	}
	return fmt.Sprintf("links like it led to %.1f files per request", filesOf(float64(l.mean)))
}
