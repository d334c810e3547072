package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"odarchive/crawler/address"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/queue/scope"
)

// HarvestSource names what to harvest.
type HarvestSource struct {
	Kind    string
	Address string
	Portal  string       // only this one of a list, or the IRI of the portal; empty means what the source says
	HTTP    harvest.Doer // set by Harvest
}

// name identifies the source: an interrupted harvest is resumed by the next one with the same name.
func (s HarvestSource) name(part harvest.Selection) string {
	name := s.Kind + " " + s.Address
	if s.Portal != "" {
		name += " " + s.Portal
	}
	if !part.IsZero() { // a part is resumed separately
		name += " " + part.String()
	}
	return name
}

// HarvestKinds returns the names of the kinds of sources.
func HarvestKinds() []string {
	var kinds []string
	for _, h := range harvesters() {
		kinds = append(kinds, h.kind)
	}
	return kinds
}

// KnowsHarvest reports whether there is a harvester of that kind.
func KnowsHarvest(kind string) bool {
	return kind == Recognised || slices.Contains(HarvestKinds(), kind)
}

// Harvest runs the harvester of the source's kind. Its requests wait at the crawler's gate.
func (c *Crawl) Harvest(ctx context.Context, s HarvestSource, opts harvest.Options) (harvest.Report, error) {
	for _, link := range []*string{&s.Address, &s.Portal} {
		public, secret := address.WithoutSecret(*link)
		if *link = public; secret {
			c.store.Log.Warn("user and password of the address are not sent, because everything that a harvest records is public",
				"address", public)
		}
	}
	if s.Kind == Recognised {
		found, err := c.Recognise(ctx, s.Address, nil)
		if err != nil {
			return harvest.Report{Source: s.name(opts.Part), Error: err.Error()}, err
		}
		s.Kind, s.Address = found.Kind, found.URL
	}
	end, err := c.harvesting.take(ctx, s.Address)
	if err != nil {
		return harvest.Report{Source: s.name(opts.Part), Error: err.Error()}, err
	}
	defer end()
	polite := c.politeTransport(scope.Harvest)
	asked := &harvest.Asked{Doer: harvest.Reaching(&http.Client{Transport: polite})}
	s.HTTP = asked
	opts.Kind, opts.Address, opts.Meter, opts.Asked = s.Kind, s.Address, polite.Traffic, asked.String
	report := harvest.Report{Source: s.name(opts.Part)}
	for _, k := range harvesters() {
		if k.kind != s.Kind {
			continue
		}
		h, err := harvest.Select(k.make(s), opts.Part)
		if err != nil {
			report.Error = err.Error()
			return report, fmt.Errorf("harvest %s: %w", report.Source, err)
		}
		report, err = harvest.Run(ctx, report.Source, h, measuring{c.Intake, c}, opts)
		if report.Waiting.N() > 0 {
			c.store.Log.Warn("a portal suddenly lists much less: the withdrawal of these datasets waits for an answer", "source",
				report.Source, "datasets", report.Waiting, "portals", report.Asks)
		}
		if err == nil {
			err = c.Pipeline.IndexAll(ctx) // so that what it brought is found
		}
		return report, err
	}
	return report, fmt.Errorf("no harvester for %q", s.Kind)
}

// HarvestList harvests many sources of a kind, at most parallel at a time and one per host. Those that nothing answers
// for are tried once more when all others have been read. It calls done after each, from one goroutine at a time, and
// returns the reports of those that began.
func (c *Crawl) HarvestList(ctx context.Context, kind string, addresses []string, parallel int, opts harvest.Options,
	done func(harvest.Report, error)) []harvest.Report {
	reports := make([]harvest.Report, len(addresses))
	opts.Progress = nil // of several harvests at once
	var mu sync.Mutex   // guards calls of done, and again
	var again []int     // indexes of the sources that are tried once more
	read := func(ctx context.Context, i int, last bool) {
		report, err := c.Harvest(ctx, HarvestSource{Kind: kind, Address: addresses[i]}, opts)
		reports[i] = report
		mu.Lock()
		defer mu.Unlock()
		if !last && errors.Is(err, harvest.ErrUnreached) {
			again = append(again, i)
			return
		}
		done(report, err)
	}
	harvest.Each(ctx, addresses, parallel, func(ctx context.Context, i int) { read(ctx, i, false) })
	slices.Sort(again)
	var left []string
	for _, i := range again {
		left = append(left, addresses[i])
	}
	harvest.Each(ctx, left, parallel, func(ctx context.Context, i int) { read(ctx, again[i], true) })
	return slices.DeleteFunc(reports, func(r harvest.Report) bool { return r.Source == "" }) // not begun
}

// AnswerQuestion answers the question about datasets that a portal has suddenly ceased to list, and returns it as it
// was.
func (c *Crawl) AnswerQuestion(ctx context.Context, portal string, a ledger.Answer) (ledger.Question, error) {
	q, err := c.Ledger.Answer(ctx, portal, a, c.store.Clock())
	if err != nil {
		return q, err
	}
	c.store.Log.Info("a question about a portal is answered", "portal", portal, "answer", a, "waiting", q.Waiting, "kept", q.Refused)
	if a == ledger.Withdraw {
		_, err = c.qualities().Measure(ctx, portal)
	}
	return q, err
}
