package app

import (
	"context"
	"slices"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ckan"
	"odarchive/crawler/harvest/datajson"
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
	for _, h := range harvesters() {
		if h.kind == kind {
			return harvest.Run(ctx, source, h.make(n, address, portal), n.Intake, opts)
		}
	}
	return harvest.Report{Source: source}, nil
}
