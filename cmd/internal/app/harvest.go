package app

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ckan"
	"odarchive/crawler/harvest/datajson"
	"odarchive/crawler/harvest/oai"
	"odarchive/crawler/harvest/portalwatch"
)

// harvester makes the harvester of one kind.
type harvester struct {
	kind string
	make func(n *Node, address, portal string) harvest.Harvester
}

// harvesters are all kinds there are.
func harvesters() []harvester {
	return []harvester{
		{"portalwatch", func(n *Node, address, portal string) harvest.Harvester {
			return portalwatch.Source{Endpoint: address, HTTP: n.Fetcher.Client(), Portal: portal, GraphOf: n.Mint.Graph}
		}},
		{"ckan", func(n *Node, address, portal string) harvest.Harvester {
			return ckan.Source{URL: address, Portal: portal, HTTP: n.Fetcher.Client()}
		}},
		{"datajson", func(n *Node, address, portal string) harvest.Harvester {
			return datajson.Source{URL: address, Portal: portal, HTTP: n.Fetcher.Client()}
		}},
		{"oai", func(n *Node, address, portal string) harvest.Harvester {
			return oai.Source{URL: address, HTTP: n.Fetcher.Client(), Portal: portal, Stats: &harvest.Traffic{}}
		}},
	}
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
func KnowsHarvest(kind string) bool { return slices.Contains(HarvestKinds(), kind) }

// Harvest runs the harvester of a kind, which must be known.
func (n *Node) Harvest(ctx context.Context, kind, address, portal string, opts harvest.Options) (harvest.Report, error) {
	source := kind + " " + address
	if portal != "" {
		source += " " + portal
	}
	if !opts.Part.IsZero() { // a part has marks of its own
		source += " " + opts.Part.String()
	}
	report := harvest.Report{Source: source}
	for _, k := range harvesters() {
		if k.kind != kind {
			continue
		}
		h, err := harvest.Select(k.make(n, address, portal), opts.Part)
		if err != nil {
			report.Error = err.Error()
			return report, fmt.Errorf("harvest %s: %w", source, err)
		}
		report, err = harvest.Run(ctx, source, h, n.Intake, opts)
		if m, ok := h.(harvest.Metered); ok {
			report.Traffic = m.Counted()
		}
		return report, err
	}
	return report, nil
}

// HarvestList harvests many sources of a kind, some at a time and never two of one host, and calls done behind each.
func (n *Node) HarvestList(ctx context.Context, kind string, addresses []string, parallel int, opts harvest.Options, done func(harvest.Report, error)) []harvest.Report {
	reports := make([]harvest.Report, len(addresses))
	opts.Progress = nil // they would talk at once
	var mu sync.Mutex   // around done
	harvest.Each(ctx, addresses, parallel, func(ctx context.Context, i int) {
		report, err := n.Harvest(ctx, kind, addresses[i], "", opts)
		reports[i] = report
		mu.Lock()
		defer mu.Unlock()
		done(report, err)
	})
	return slices.DeleteFunc(reports, func(r harvest.Report) bool { return r.Source == "" }) // those that never began
}
