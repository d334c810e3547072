package campaign

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/graphs"
	"odarchive/crawler/follow/links"
	"odarchive/crawler/follow/relevance"
	"odarchive/crawler/follow/scrape"
	"odarchive/crawler/inspect/detect"
	"odarchive/crawler/web/fetch"
	"odarchive/triplestore/kv"
)

// Visit is one visit of a URL of campaigns, from before the fetch to the commit. Close it.
type Visit struct {
	s        *Store
	resource string
	url      string
	in       []membership
	listed   bool   // by a source, too
	leave    func() // of the lock for large documents; may be nil

	portal bool // a portal lists the URL whose files have graphs
	seen   bool // its document was read for that before

	document *links.Document
	looked   *looked // of the first page, if a campaign scores
	content  *graphs.Content
}

// membership is what a visit has to know of one campaign.
type membership struct {
	id     campaignID
	c      Campaign // as of the beginning of the visit
	scope  *scope
	rules  *scrape.Rules // for pages; nil for none
	scorer *relevance.Scorer
	seen   *seenPage // what the visit adds to the record of the site; nil for nothing
	member member
	ruled  []links.Link // that the rules have found, each once
	links  []found      // to be added, identified
	spill  []found      // too many for the transaction
	tasks  []Task
	counts Counts // of the links of the document
}

// Begin returns the visit of a resource. It is nil if the resource is in no campaign, and no portal that lists it has
// the setting that its files have graphs.
func (s *Store) Begin(ctx context.Context, resource, url string) (v *Visit, err error) {
	err = s.view(ctx, func(txn *kv.Txn) error {
		prefix := key(tableReverse, resourceKey(resource))
		err := txn.Scan(kv.SpaceCampaigns, prefix, nil, func(k, _ []byte) (bool, error) {
			id := campaignID(k[len(prefix):])
			c, known, err := load(txn, id)
			if err != nil || !known {
				return true, err
			}
			m, known, err := getMember(txn, id, resource)
			if err != nil || !known {
				return true, err
			}
			made, err := s.compiledOf(id, c)
			if err != nil {
				return false, err
			}
			if v == nil {
				v = &Visit{s: s, resource: resource, url: url}
			}
			v.in = append(v.in, membership{id: id, c: c, scope: made.scope, rules: made.rules, scorer: made.scorer, member: m})
			return true, nil
		})
		if err == nil && v != nil {
			v.listed, err = isListed(txn, resource)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("campaign: begin the visit of %s: %w", url, err)
	}
	wanted, seen, err := s.wantedByPortal(ctx, resource)
	if err != nil {
		return nil, fmt.Errorf("graphs of portals: begin the visit of %s: %w", url, err)
	}
	if wanted {
		if v == nil {
			v = &Visit{s: s, resource: resource, url: url}
		}
		v.portal, v.seen = true, seen
	}
	return v, nil
}

// Close releases what the visit holds. It may be called on nil, and twice.
func (v *Visit) Close() {
	if v != nil && v.leave != nil {
		v.leave()
	}
}

// active reports whether links are followed on behalf of a campaign.
func (m membership) active() bool { return m.c.State == Running || m.c.State == Finished }

// Held returns why the URL must not be visited at present: all its campaigns are paused, or were stopped before they
// visited it, and no source lists it. forever reports that it is not put off but given up. "" if it may be visited.
func (v *Visit) Held() (why string, forever bool) {
	if v == nil || v.listed {
		return "", false
	}
	forever = true
	for _, m := range v.in {
		switch {
		case m.active(), m.c.State == Stopped && m.member.edition > 0:
			return "", false
		case m.c.State == Paused:
			forever = false
		}
		why = fmt.Sprintf("campaign %s is %s", m.c.Document.Name, m.c.State)
	}
	return why, forever
}

// Check is for redirects of the fetch: it refuses targets that are in the scope of no campaign, unless a source lists
// the URL.
func (v *Visit) Check(target string) error {
	if v == nil || v.listed || len(v.in) == 0 || v.inScope(target) {
		return nil
	}
	return &fetch.Refused{Outcome: catalog.Blocked, Class: catalog.ErrForbiddenTarget,
		Why: "redirect to " + target + ": out of the scope of campaign " + v.in[0].c.Document.Name}
}

// inScope reports whether a campaign may request a URL.
func (v *Visit) inScope(url string) bool {
	return slices.ContainsFunc(v.in, func(m membership) bool { return m.scope.allows(url) })
}

// Fresh reports whether the document is to be read even if it has not changed, because a campaign has not looked at it
// since its own document changed, or its portal got the setting after the last visit.
func (v *Visit) Fresh() bool {
	return v != nil && (v.portal && !v.seen ||
		slices.ContainsFunc(v.in, func(m membership) bool { return m.active() && m.member.edition < m.c.Edition }))
}

// wantsGraph reports whether a campaign or a portal keeps statements. Those of a campaign follow the versions after it
// was stopped, too.
func (v *Visit) wantsGraph() bool {
	return v.portal || slices.ContainsFunc(v.in, func(m membership) bool { return m.c.Document.Graphs })
}

// maxInTxn is how many links of a document its visit registers itself. Further ones are registered right after it.
const maxInTxn = 300

// Read finds the links and statements of a document that was fetched. found and the rest describe it; final is the URL
// that answered.
func (v *Visit) Read(ctx context.Context, final string, kind detect.Detection, name string, h http.Header, size int64, body interface {
	ReadAt(p []byte, off int64) (int, error)
}) error {
	if v == nil {
		return nil
	}
	if v.listed && !v.portal && !v.inScope(final) { // it has nothing for campaigns
		v.document = &links.Document{}
		return nil
	}
	o := links.Options{BlankPrefix: graphs.BlankPrefix(final), Context: v.s.Context}
	o.Vocabularies = slices.ContainsFunc(v.in, func(m membership) bool { return m.c.Document.Vocabularies })
	if v.wantsGraph() {
		o.Quads = graphs.MaxQuads
		o.Many = func(ctx context.Context) (err error) {
			if v.leave == nil { // a visit may read two answers
				v.leave, err = v.s.Graphs.EnterLarge(ctx)
			}
			return err
		}
	}
	o.Page = v.onPage(final, h)
	var err error
	v.document, err = links.Read(ctx, links.Input{URL: final, Name: name, Found: kind, Header: h, Size: size, Body: body}, o)
	if err != nil {
		return fmt.Errorf("campaign: links of %s: %w", v.url, err)
	}
	if v.wantsGraph() {
		if v.document.Statements > 0 && v.document.Quads == nil {
			v.content = graphs.Omit(final, fmt.Sprintf("the document has more than %d statements", graphs.MaxQuads))
		} else if v.content, err = v.s.Graphs.Prepare(ctx, final, v.document.Quads); err != nil {
			return err
		}
		v.document.Quads = nil
	}
	err = v.s.view(ctx, func(txn *kv.Txn) error {
		for i := range v.in {
			if err := v.choose(txn, &v.in[i], final); err != nil {
				return err
			}
		}
		return nil
	})
	v.looked = nil // the page is large
	return err
}

// choose selects the links that a campaign follows.
func (v *Visit) choose(txn *kv.Txn, m *membership, final string) error {
	m.links, m.spill, m.tasks, m.counts, m.member.cut, m.seen = nil, nil, nil, Counts{}, false, nil
	if !m.active() {
		return nil
	}
	deep := m.member.depth >= m.c.Document.Depth
	scoring, err := v.score(txn, m, final)
	if err != nil {
		return err
	}
	var fresh []found
	for _, l := range m.withRuled(v.document.Links) {
		m.counts.Links++
		if !m.c.Document.follows(l.Kind) {
			continue
		}
		if !m.scope.allows(l.URL) {
			m.counts.OutOfScope++
			continue
		}
		if deep {
			m.counts.TooDeep++
			m.member.cut = true
			continue
		}
		if l.Kind == links.Endpoint {
			m.tasks = append(m.tasks, Task{Kind: TaskEndpoint, Address: l.URL, Depth: m.member.depth + 1})
		}
		f := found{URL: l.URL, Kind: l.Kind}
		if !f.identify() || f.resource == v.resource {
			continue
		}
		known, isKnown, err := getMember(txn, m.id, f.resource)
		if err != nil {
			return err
		}
		scoring.link(&f, l)
		if !isKnown || known.depth > m.member.depth+1 || known.round < m.c.Round && f.Score >= known.score+raise {
			fresh = append(fresh, f)
		}
	}
	if portal, ok := portalOf(v.document.Generator, final); ok && m.scope.allows(portal) && !deep {
		m.tasks = append(m.tasks, Task{Kind: TaskPortal, Address: portal, Depth: m.member.depth + 1})
	}
	m.links = fresh[:min(len(fresh), maxInTxn)]
	m.spill = fresh[len(m.links):]
	return nil
}

// Record adds what the visit found, in its transaction. again reports that the URL is visited again soon, because it
// failed in a way that may pass.
func (v *Visit) Record(ctx context.Context, txn archive.Txn, act catalog.Activity, again bool) error {
	if v == nil {
		return nil
	}
	changed, withdrawn := 0, false
	if v.content != nil && act.Version != "" { // it may have been withdrawn after the document was read
		var err error
		if withdrawn, err = txn.IsWithdrawn(act.Version); err != nil {
			return err
		}
	}
	if v.content != nil && act.Version != "" && !withdrawn {
		var err error
		if changed, err = v.s.Graphs.Put(txn.Triples(), v.content, v.resource, act.Version); err != nil {
			return err
		}
	} else if v.portal && act.Version != "" {
		if err := v.s.Graphs.Skip(txn.KV(), v.resource); err != nil {
			return err
		}
	}
	for _, m := range v.in {
		if err := v.record(ctx, txn, m, act, again, changed); err != nil {
			return fmt.Errorf("campaign %s: %w", m.c.Document.Name, err)
		}
	}
	return nil
}

// Reduce leaves out of the visit what may have made its transaction fail: first the statements, then the links.
func (v *Visit) Reduce() {
	switch {
	case v == nil:
	case v.content != nil && v.content.Omitted == "":
		v.content = graphs.Omit(v.content.URL, "the statements could not be stored")
	default:
		v.document, v.content = nil, nil
		for i := range v.in {
			v.in[i].links, v.in[i].spill, v.in[i].tasks = nil, nil, nil
		}
	}
}

// maxTries is how often a URL is visited again within a round because of a failure that may pass.
const maxTries = 2

// record adds the visit to one campaign.
func (v *Visit) record(ctx context.Context, txn archive.Txn, at membership, act catalog.Activity, again bool, changed int) error {
	c, known, err := load(txn.KV(), at.id)
	if err != nil || !known || c.Edition != at.c.Edition || c.State == Paused || c.State == Stopped {
		return err // its orders have changed meanwhile: the URL stays open
	}
	m, known, err := getMember(txn.KV(), at.id, v.resource)
	if err != nil || !known {
		return err
	}
	open := m.round < c.Round
	before := m.edition
	read := v.document != nil
	if again && !read && open && m.tries < maxTries {
		m.tries++
		return setMember(txn.KV(), at.id, v.resource, m)
	}
	deeper := m.depth < at.member.depth // found to be nearer since the links were chosen: they are chosen again
	if read && !deeper {
		m.edition, m.cut = c.Edition, at.member.cut
	}
	if act.Outcome == catalog.Unchanged && !read && m.edition < c.Edition {
		deeper = true // a 304 although the request was not conditional
	}
	if !deeper || m.tries >= maxTries {
		m.round, m.tries = c.Round, 0
	} else {
		m.tries++
	}
	if err := setMember(txn.KV(), at.id, v.resource, m); err != nil {
		return err
	}
	if open && m.round == c.Round {
		c.Counts.Pending = max(0, c.Counts.Pending-1)
		c.Counts.Visited++
		if act.Outcome != catalog.Archived && act.Outcome != catalog.Unchanged {
			c.Counts.Failed++
		}
	}
	c.Counts.Changed += changed
	a := &adding{s: v.s, ctx: ctx, txn: txn, id: at.id, c: &c, scope: at.scope, scorer: at.scorer}
	if deeper && m.round < c.Round {
		a.again = append(a.again, m.url)
	}
	if read {
		if at.seen != nil {
			added, err := seePage(txn.KV(), at.id, c.Edition, *at.seen, before == c.Edition)
			if err != nil {
				return err
			}
			if added {
				c.Counts.Pages++
			}
		}
		c.Counts.Links += at.counts.Links
		c.Counts.OutOfScope += at.counts.OutOfScope
		c.Counts.TooDeep += at.counts.TooDeep
		if v.document.Statements > 0 {
			c.Counts.Documents++
		}
		for _, f := range at.links {
			if err := a.add(f, v.resource, m.depth+1); err != nil {
				return err
			}
		}
		for _, t := range at.tasks {
			if err := addTask(txn.KV(), at.id, &c, t); err != nil {
				return err
			}
		}
		if err := v.spill(txn.KV(), at, &c, m.depth+1); err != nil {
			return err
		}
	}
	return a.finish()
}

// Has reports whether a visit of a resource is more than a visit: the resource is in a campaign, or a portal lists it
// whose files have graphs.
func (s *Store) Has(resource string) (has bool, err error) {
	v, err := s.Begin(context.Background(), resource, "")
	v.Close()
	return v != nil, err
}
