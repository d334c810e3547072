package crawl

import (
	"context"
	"net/http"

	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/discover"
	"odarchive/crawler/harvest"
	"odarchive/crawler/queue/scope"
	"odarchive/crawler/web/politeness"
)

// Discovery is what Discover looks for, and who hears of it.
type Discovery struct {
	Options discover.Options
	Found   func(discover.Find) // called for each file after it was kept; may be nil
	Explain bool                // finds have the path that led to them
	Tracker *discover.Tracker   // receives the progress; may be nil
	Dry     bool                // keeps nothing
}

// Discover finds the data files of a web site and registers them as datasets of it. Unlike a harvest, it obeys all of
// robots.txt, since nobody has named the addresses that it asks for. An interrupted one is continued; a finished one is
// followed by a round that asks for what may have changed.
func (c *Crawl) Discover(ctx context.Context, d Discovery, opts harvest.Options) (harvest.Report, error) {
	options, err := d.Options.Normalise()
	if err != nil {
		return harvest.Report{}, err
	}
	source, polite := c.discoverer(d)
	source.Options = options
	opts.Kind, opts.Address, opts.Meter, opts.Search = DiscoverKind, options.URL, polite.Traffic, true
	name := HarvestSource{Kind: DiscoverKind, Address: options.URL}.name(harvest.Selection{})
	var keeper harvest.Keeper = measuring{c.Intake, c}
	if d.Dry {
		keeper = forgetful{}
	}
	return harvest.Run(ctx, name, source, keeper, opts)
}

// discoverer returns the Harvester of a discovery, and what its requests go through. They obey robots.txt and the rules
// of what may be fetched.
func (c *Crawl) discoverer(d Discovery) (discover.Source, *politeness.Transport) {
	polite := c.politeTransport(scope.Campaign)
	return discover.Source{
		Options: d.Options, Rules: c.softwareRules, Found: d.Found, Explain: d.Explain, Tracker: d.Tracker, Now: c.store.Clock,
		Robots: judge{c.Gate.Robots, c.inScope(scope.Campaign)},
		HTTP: &http.Client{Transport: polite,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		Catalog: func(kind, url string, doer harvest.Doer) harvest.Harvester {
			for _, h := range harvesters() {
				if h.kind == kind {
					return h.make(HarvestSource{Kind: kind, Address: url, HTTP: doer})
				}
			}
			return nil
		},
	}, polite
}

// judge is a discover.Judge: robots.txt, and the rules of what may be fetched.
type judge struct {
	robots *politeness.Robots
	check  func(url string) error
}

// Allowed implements discover.Judge.
func (j judge) Allowed(ctx context.Context, url string) (politeness.Verdict, error) {
	if err := j.check(url); err != nil {
		return politeness.Verdict{Reason: err.Error()}, nil
	}
	return j.robots.Allowed(ctx, url)
}

// DiscoverKind is the kind of a source whose files were found by Discover.
const DiscoverKind = "discover"

// forgetful is a Keeper that keeps nothing.
type forgetful struct{}

func (forgetful) Begin(context.Context, harvest.Report, bool) (string, error) { return "", nil }

func (forgetful) Open(context.Context, harvest.Report, string, bool, bool) error { return nil }

func (forgetful) Listed(context.Context, harvest.Report, string) (int, error) { return 0, nil }

func (forgetful) Lacking(context.Context, harvest.Report, string, []string) (catalog.Figure, error) {
	return catalog.Figure{}, nil
}

func (forgetful) Keep(_ context.Context, s harvest.Step) (int, error) { return len(s.Seeds), nil }

func (forgetful) Commit(context.Context, harvest.Report, string, harvest.Ending) (harvest.Changes, error) {
	return harvest.Changes{}, nil
}

func (forgetful) End(context.Context, harvest.Report, bool, string) error { return nil }
