package crawl

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/campaign"
	"odarchive/crawler/catalog"
	"odarchive/crawler/graphs"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ckan"
	"odarchive/crawler/harvest/portalapi"
	"odarchive/crawler/harvest/sparql"
	"odarchive/crawler/links"
	"odarchive/crawler/scope"
	"odarchive/crawler/supervise"
	"odarchive/crawler/web/politeness"
	"odarchive/triplestore"
	"odarchive/triplestore/rdfio"

	"golang.org/x/sync/errgroup"
)

// Follow runs a campaign until nothing within its scope is left that can be visited. What is due besides is visited too.
// It returns the campaign as it then stands.
func (c *Crawl) Follow(ctx context.Context, name string, opts crawler.RunOptions) (campaign.Campaign, crawler.Summary, error) {
	if err := c.Campaigns.Prepare(ctx, name); err != nil {
		return campaign.Campaign{}, crawler.Summary{}, err
	}
	beside, stop := context.WithCancel(ctx)
	var tasks sync.WaitGroup
	tasks.Go(func() {
		_ = c.Jobs.Run(beside, "campaigns", func(ctx context.Context) error { return c.keepCampaigns(ctx, name) })
	}) // Jobs reports its failure
	opts.Until = func(idle bool) bool {
		now, err := c.Campaigns.Get(ctx, name)
		if err != nil || now.State != campaign.Running {
			return true
		}
		if !idle || now.Queuing || now.Counts.Spilled > 0 {
			return false
		}
		open, err := c.Campaigns.Open(ctx)
		return err != nil || !slices.ContainsFunc(open, func(t campaign.Task) bool { return t.Campaign == name })
	}
	summary, err := c.Run(ctx, opts)
	stop()
	tasks.Wait()
	if err != nil {
		return campaign.Campaign{}, summary, err
	}
	now, err := c.Campaigns.Get(ctx, name)
	if err == nil && now.State == campaign.Running {
		now, err = c.Campaigns.GiveUp(ctx, name)
	}
	if err == nil {
		err = c.Campaigns.DescribeSites(ctx, name)
	}
	return now, summary, err
}

const (
	tasksAtOnce = 16
	taskTime    = time.Hour // for one endpoint or portal
)

// KeepCampaigns does what campaigns need besides visits, until ctx ends: queueing their rounds, and reading the endpoints
// and portals that they found.
func (c *Crawl) KeepCampaigns(ctx context.Context) error { return c.keepCampaigns(ctx, "") }

// keepCampaigns is KeepCampaigns. If only is not "", no rounds begin by themselves, and of the campaigns that are harvests
// only that one is run.
func (c *Crawl) keepCampaigns(ctx context.Context, only string) error {
	var mu sync.Mutex // guards what follows
	busy := map[string]bool{}
	harvests := 0 // tasks that are harvests
	count := func(t campaign.Task) int {
		if t.IsHarvest() {
			return 1
		}
		return 0
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(tasksAtOnce + 1)
	contained := func(f func() error) { // a panic ends this job, not the program
		group.Go(func() error { return supervise.Contain(f) })
	}
	contained(func() error {
		for {
			changed := c.Campaigns.Changed()
			if err := c.prepareCampaigns(ctx, only == ""); err != nil {
				return err
			}
			open, err := c.Campaigns.Open(ctx)
			if err != nil {
				return err
			}
			if c.Frontier.Held() != "" {
				open = nil
			}
			for _, t := range open {
				id := t.Campaign + " " + t.Kind + " " + t.Address
				if t.IsHarvest() { // two harvests of one source would take each other's marks
					id = t.Kind + " " + t.Address
				}
				mu.Lock()
				begun := busy[id] || t.IsHarvest() && (harvests == harvestsAtOnce || only != "" && only != t.Campaign)
				if !begun {
					busy[id] = true
					harvests += count(t)
				}
				mu.Unlock()
				if begun {
					continue
				}
				contained(func() error {
					err := c.task(ctx, t)
					mu.Lock()
					delete(busy, id)
					harvests -= count(t)
					mu.Unlock()
					return err
				})
			}
			timer := time.NewTimer(time.Second)
			select {
			case <-changed:
				timer.Reset(100 * time.Millisecond) // visits change campaigns all the time
				select {
				case <-timer.C:
				case <-ctx.Done():
				}
			case <-timer.C:
			case <-ctx.Done():
			}
			timer.Stop()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	})
	return group.Wait()
}

// prepareCampaigns goes on with rounds that an earlier process, or an order, has begun to queue. If begin is true, it begins
// those that are due.
func (c *Crawl) prepareCampaigns(ctx context.Context, begin bool) error {
	if begin {
		overdue, err := c.Campaigns.Overdue(ctx)
		for _, one := range overdue {
			if err == nil {
				_, err = c.Campaigns.Run(ctx, one.Document)
			}
		}
		if err != nil {
			return err
		}
	}
	all, err := c.Campaigns.List(ctx)
	for _, one := range all {
		if err == nil && one.State == campaign.Running && (one.Queuing || one.Rescoring) {
			err = c.Campaigns.Prepare(ctx, one.Document.Name)
		}
		if err == nil {
			err = c.Campaigns.DescribeSites(ctx, one.Document.Name)
		}
	}
	return err
}

// task carries out one task and records its result. The error is one of the archive, or that of ctx.
func (c *Crawl) task(ctx context.Context, t campaign.Task) error {
	if t.IsHarvest() {
		return c.harvestCampaign(ctx, t)
	}
	limited, cancel := context.WithTimeout(ctx, taskTime)
	defer cancel()
	var result string
	var quads, changed int
	err := supervise.Contain(func() (err error) {
		if t.Kind == campaign.TaskEndpoint {
			result, quads, changed, err = c.readEndpoint(limited, t)
		} else {
			result, err = c.readPortal(limited, t)
		}
		return err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		c.store.Log.Warn("an endpoint or portal of a campaign could not be read", "campaign", t.Campaign, "address", t.Address, "error", err)
		if errors.Is(err, errNoEndpoint) { // many services that are called endpoints answer no queries
			t.Tries = campaign.MaxTaskTries
		} else if t.Tries > 0 {
			pause := time.NewTimer(time.Duration(t.Tries) * 5 * time.Second)
			defer pause.Stop()
			select {
			case <-pause.C:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return c.Campaigns.Done(ctx, t, result, quads, changed, err)
}

// errNoEndpoint means that an address was called a SPARQL endpoint and is none.
var errNoEndpoint = errors.New("does not answer SPARQL queries")

// readEndpoint makes content graphs of all graphs of a SPARQL endpoint.
func (c *Crawl) readEndpoint(ctx context.Context, t campaign.Task) (result string, quads, changed int, err error) {
	e := sparql.Endpoint{URL: t.Address, HTTP: c.scopedClient(t.Campaign)}
	now, err := c.Campaigns.Get(ctx, t.Campaign)
	if err != nil {
		return "", 0, 0, err
	}
	if !now.Document.Graphs {
		return "not read: the campaign keeps no graphs", 0, 0, nil
	}
	if _, err := e.Select(ctx, "SELECT ?s WHERE { ?s ?p ?o } LIMIT 1"); err != nil {
		return "", 0, 0, fmt.Errorf("%s %w: %w", t.Address, errNoEndpoint, err)
	}
	var kept []string
	read := func(graph string) error {
		at := graphOf(t.Address, graph)
		leave := func() {}
		defer func() { leave() }()
		all, err := sparql.Whole(ctx, e, graph, graphs.MaxQuads, func() (err error) {
			leave, err = c.Graphs.EnterLarge(ctx)
			if err != nil {
				leave = func() {}
			}
			return err
		})
		var content *graphs.Content
		switch {
		case errors.Is(err, sparql.ErrTooLarge):
			content = graphs.Omit(at, err.Error())
		case err != nil:
			return err
		default:
			found, _ := links.Of(at, all, links.Options{Vocabularies: now.Document.Vocabularies})
			if err := c.Campaigns.AddLinks(ctx, t, found); err != nil {
				return err
			}
			if content, err = c.Graphs.Prepare(ctx, at, all); err != nil {
				return err
			}
		}
		content.Source = t.Address
		quads += len(all)
		kept = append(kept, at)
		n := 0
		err = c.store.Triples.Update(ctx, func(txn *triplestore.Txn) (err error) {
			n, err = c.Graphs.Put(txn, content, "", "")
			return err
		})
		changed += n
		return err
	}
	if err := read(""); err != nil {
		return "", 0, changed, err
	}
	inDefault := quads
	names, err := sparql.NamedGraphs(ctx, e)
	if err != nil {
		return "", 0, changed, err
	}
	for _, name := range names {
		if inDefault > 0 {
			adds, err := sparql.Adds(ctx, e, name)
			if err != nil {
				return "", 0, changed, err
			}
			if !adds {
				continue
			}
		}
		if err := read(name); err != nil {
			return "", 0, changed, err
		}
	}
	err = c.store.Triples.Update(ctx, func(txn *triplestore.Txn) error {
		n, err := c.Graphs.DropOthers(txn, t.Address, kept)
		changed += n
		return err
	})
	return fmt.Sprintf("%d statements in %d graphs", quads, len(kept)), quads, changed, err
}

// graphOf returns the address of one graph of an endpoint, as the Graph Store Protocol writes it.
func graphOf(endpoint, graph string) string {
	separator := "?"
	if strings.Contains(endpoint, "?") {
		separator = "&"
	}
	if graph == "" {
		return endpoint + separator + "default"
	}
	return endpoint + separator + "graph=" + url.QueryEscape(graph)
}

// readPortal adds the RDF files of a CKAN portal to the campaign.
func (c *Crawl) readPortal(ctx context.Context, t campaign.Task) (string, error) {
	keeper := &filesOnly{c: c, task: t}
	h := ckan.New(portalapi.Source{URL: t.Address, HTTP: c.scopedClient(t.Campaign)})
	report, err := harvest.Run(ctx, "campaign "+t.Campaign+" "+t.Address, h, keeper, harvest.Options{Clock: c.store.Clock, Kind: t.Kind, Address: t.Address})
	return fmt.Sprintf("%d data sets, %d files of RDF, %d of them new", report.Datasets, keeper.files, keeper.added), err
}

// filesOnly is a harvest.Keeper that adds files of RDF to a campaign, and keeps nothing else.
type filesOnly struct {
	c            *Crawl
	task         campaign.Task
	files, added int
}

func (k *filesOnly) Begin(context.Context, harvest.Report, bool) (string, error) { return "", nil }

func (k *filesOnly) Open(context.Context, harvest.Report, string, bool, bool) error { return nil }

func (k *filesOnly) Keep(ctx context.Context, step harvest.Step) (int, error) {
	var list []catalog.Seed
	for _, s := range step.Seeds {
		if s, err := crawler.CleanSeed(s); err == nil && mayBeRDF(s) {
			list = append(list, s)
		}
	}
	k.files += len(list)
	added, err := k.c.Campaigns.AddFiles(ctx, k.task, list)
	k.added += added
	return added, err
}

func (k *filesOnly) Commit(context.Context, harvest.Report, string, bool) (harvest.Changes, error) {
	return harvest.Changes{}, nil
}

func (k *filesOnly) End(context.Context, harvest.Report, bool, string) error { return nil }

// mayBeRDF reports whether a file is listed, or named, as RDF or as an archive that may contain some.
func mayBeRDF(s catalog.Seed) bool {
	link, _, _ := strings.Cut(s.URL, "?")
	for _, name := range []string{s.Format, s.MediaType} {
		if _, ok := rdfio.ByName(name); ok && name != "" {
			return true
		}
		switch strings.ToLower(strings.TrimPrefix(name, ".")) {
		case "zip", "gz", "gzip", "bz2", "xz", "tar", "tar.gz", "tgz", "7z", "zst", "application/zip", "application/gzip", "application/x-gzip", "application/x-tar":
			return true
		}
		if strings.Contains(strings.ToLower(name), "rdf") {
			return true
		}
	}
	_, ok := rdfio.ByExtension(path.Base(link))
	return ok
}

// scopedClient returns a client for the requests of a campaign that are not visits: they wait for the host's turn, stay
// within the scope, and obey robots.txt, because nobody has named these addresses.
func (c *Crawl) scopedClient(name string) *http.Client {
	return &http.Client{Transport: &scoped{c: c, campaign: name, next: c.politeTransport(scope.Campaign)}}
}

type scoped struct {
	c        *Crawl
	campaign string
	next     *politeness.Transport
}

// RoundTrip implements http.RoundTripper.
func (s *scoped) RoundTrip(r *http.Request) (*http.Response, error) {
	link := r.URL.String()
	if !s.c.Campaigns.Allows(r.Context(), s.campaign, link) {
		return nil, fmt.Errorf("%s is out of the scope of campaign %s", link, s.campaign)
	}
	if !s.c.Campaigns.Running(r.Context(), s.campaign) {
		return nil, fmt.Errorf("campaign %s does not run any more", s.campaign)
	}
	for {
		verdict, err := s.c.Gate.Robots.Allowed(r.Context(), link)
		var wait *politeness.Wait
		switch {
		case errors.As(err, &wait) && time.Until(wait.Until) < time.Minute:
			timer := time.NewTimer(max(time.Until(wait.Until), time.Millisecond))
			select {
			case <-timer.C:
				continue
			case <-r.Context().Done():
				timer.Stop()
				return nil, context.Cause(r.Context())
			}
		case err != nil:
			return nil, err
		case !verdict.Allowed:
			return nil, fmt.Errorf("%s: robots.txt: %s", link, verdict.Reason)
		}
		return s.next.RoundTrip(r)
	}
}
