package app

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"odarchive/crawler/address"
	"odarchive/crawler/harvest"
	"odarchive/crawler/web/politeness"
)

// HarvestSource is what is to be harvested.
type HarvestSource struct {
	Kind    string
	Address string
	Portal  string       // only this one of the list, or the IRI that the portal goes by; "" = as the source says
	HTTP    harvest.Doer // set by Harvest
}

// name tells one source from others: a harvest goes on where the last one of the same name was cut off.
func (s HarvestSource) name(part harvest.Selection) string {
	name := s.Kind + " " + s.Address
	if s.Portal != "" {
		name += " " + s.Portal
	}
	if !part.IsZero() { // a part has marks of its own
		name += " " + part.String()
	}
	return name
}

// HarvestKinds are the names of the kinds of sources.
func HarvestKinds() []string {
	var kinds []string
	for _, h := range harvesters() {
		kinds = append(kinds, h.kind)
	}
	return kinds
}

// KnowsHarvest tells whether there is a harvester of that kind.
func KnowsHarvest(kind string) bool {
	return kind == Recognised || slices.Contains(HarvestKinds(), kind)
}

// Harvest runs the harvester of a source's kind, which must be known, through the crawler's gate.
func (n *Node) Harvest(ctx context.Context, s HarvestSource, opts harvest.Options) (harvest.Report, error) {
	for _, link := range []*string{&s.Address, &s.Portal} {
		public, secret := address.WithoutSecret(*link)
		if *link = public; secret {
			n.Log.Warn("the user and the password of the address are not sent: everything that a harvest records is public", "address", public)
		}
	}
	if s.Kind == Recognised {
		found, err := n.Recognise(ctx, s.Address)
		if err != nil {
			return harvest.Report{Source: s.name(opts.Part), Error: err.Error()}, err
		}
		s.Kind, s.Address = found.Kind, found.URL
	}
	polite := &politeness.Transport{Gate: n.Gate, Base: n.Fetcher.Client().Transport, UserAgent: n.Fetcher.UserAgent()}
	s.HTTP = &http.Client{Transport: polite}
	opts.Kind, opts.Address, opts.Meter = s.Kind, s.Address, polite.Traffic
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
		return harvest.Run(ctx, report.Source, h, measuring{n.Intake, n}, opts)
	}
	return report, fmt.Errorf("there is no harvester for %q", s.Kind)
}

// HarvestList harvests many sources of a kind, some at a time and never two of one host, and calls done behind each.
func (n *Node) HarvestList(ctx context.Context, kind string, addresses []string, parallel int, opts harvest.Options, done func(harvest.Report, error)) []harvest.Report {
	reports := make([]harvest.Report, len(addresses))
	opts.Progress = nil // they would talk at once
	var mu sync.Mutex   // around done
	harvest.Each(ctx, addresses, parallel, func(ctx context.Context, i int) {
		report, err := n.Harvest(ctx, HarvestSource{Kind: kind, Address: addresses[i]}, opts)
		reports[i] = report
		mu.Lock()
		defer mu.Unlock()
		done(report, err)
	})
	return slices.DeleteFunc(reports, func(r harvest.Report) bool { return r.Source == "" }) // those that never began
}
