package crawler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/archive"
	"odarchive/crawler/catalog"
	"odarchive/crawler/follow/campaign"
	"odarchive/crawler/follow/graphs"
	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/ledger"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/queue/hints"
	"odarchive/triplestore/kv"
)

// Intake registers URLs, in the archive and the frontier by the same transaction, and carries out orders about them.
type Intake struct {
	Archive  *archive.Archive
	Frontier *frontier.Frontier
	Ledger   *ledger.Ledger                         // used by the methods of harvest.Keeper only
	Graphs   *graphs.Store                          // of documents; may be nil
	Hints    *hints.Hints                           // from portals; may be nil
	Forgive  func(ctx context.Context, host string) // if not nil, ends a host's back-off: politeness.Gate.Forgive
	Clock    func() time.Time
}

// SeedsPerTxn is the maximum number of seeds that Intake.Add registers in one transaction. What URLs of one host,
// portal or dataset share is read and written once in it. Two thousand seeds take about half of what a transaction can
// hold, and a visit waits some tenths of a second for them.
const SeedsPerTxn = 2000

// CleanSeed returns a seed as it is registered: without credentials in its URL, and with texts cut to what records
// hold. The error wraps address.ErrBad or archive.ErrBadIRI if the URL, or the IRI of its portal or dataset, is
// malformed.
func CleanSeed(s catalog.Seed) (catalog.Seed, error) {
	s.URL, _ = address.WithoutSecret(s.URL)
	if _, err := address.Parse(s.URL); err != nil {
		return s, err
	}
	return archive.BoundSeed(s)
}

func cleanSeeds(seeds []catalog.Seed) ([]catalog.Seed, error) {
	clean := make([]catalog.Seed, len(seeds))
	for i, s := range seeds {
		var err error
		if clean[i], err = CleanSeed(s); err != nil {
			return nil, fmt.Errorf("register: %w", err)
		}
	}
	return clean, nil
}

// Add registers URLs. fresh[i] reports whether seeds[i] was new. If CleanSeed rejects a seed, none is registered. After
// another error, the transactions before the failed one stay: fresh has an element for each seed that is registered, in
// no particular order.
func (in *Intake) Add(ctx context.Context, seeds []catalog.Seed) (fresh []bool, err error) {
	if seeds, err = cleanSeeds(seeds); err != nil {
		return nil, err
	}
	sorted, order := SortSeeds(seeds)
	if fresh, err = in.AddSorted(ctx, sorted); err != nil {
		return fresh, err
	}
	unsorted := make([]bool, len(seeds))
	for i, isNew := range fresh {
		unsorted[order[i]] = isNew
	}
	return unsorted, nil
}

// AddSorted does what Add does for seeds that CleanSeed returned, in the order of SortSeeds. After an error, fresh has
// the elements of the first seeds, which are registered.
func (in *Intake) AddSorted(ctx context.Context, seeds []catalog.Seed) (fresh []bool, err error) {
	for part := range slices.Chunk(seeds, SeedsPerTxn) {
		isNew, err := in.keepSeeds(ctx, part)
		fresh = append(fresh, isNew...)
		if err != nil {
			return fresh, err
		}
	}
	return fresh, nil
}

// SortSeeds returns seeds whose URLs are valid in the order of their keys, so that neighbours share hosts, words and
// pages of the database. sorted[i] is seeds[order[i]]. Spellings of one URL keep their order.
func SortSeeds(seeds []catalog.Seed) (sorted []catalog.Seed, order []int) {
	keys := make([]string, len(seeds))
	order = make([]int, len(seeds))
	for i, s := range seeds {
		keys[i], _ = address.Key(s.URL) // the caller parsed it
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(keys[i], keys[j]) })
	sorted = make([]catalog.Seed, len(seeds))
	for i, at := range order {
		sorted[i] = seeds[at]
	}
	return sorted, order
}

// keepSeeds registers seeds in one transaction, or in several if one cannot hold them.
func (in *Intake) keepSeeds(ctx context.Context, seeds []catalog.Seed) (fresh []bool, err error) {
	fresh, err = in.keep(ctx, archive.Listing{Seeds: seeds}, nil)
	half := len(seeds) / 2
	if half == 0 || !errors.Is(err, kv.ErrTooBig) {
		return fresh, err
	}
	if fresh, err = in.keepSeeds(ctx, seeds[:half]); err != nil {
		return fresh, err
	}
	rest, err := in.keepSeeds(ctx, seeds[half:])
	return append(fresh, rest...), err
}

// Begin implements harvest.Keeper.
func (in *Intake) Begin(ctx context.Context, r harvest.Report, fresh bool) (mark string, err error) {
	if err := in.Ledger.Recover(ctx); err != nil {
		return "", err
	}
	if mark, err = in.Ledger.Begin(ctx, r.Source, fresh, r.Started); err != nil {
		return "", err
	}
	return mark, in.Ledger.Record(ctx, r, nil)
}

// Open implements harvest.Keeper.
func (in *Intake) Open(_ context.Context, r harvest.Report, portal string, whole, take bool) error {
	return in.Ledger.Open(r.Source, portal, whole, take)
}

// Listed implements harvest.Keeper.
func (in *Intake) Listed(ctx context.Context, _ harvest.Report, portal string) (int, error) {
	return in.Ledger.Listed(ctx, portal)
}

// Lacking implements harvest.Keeper.
func (in *Intake) Lacking(ctx context.Context, _ harvest.Report, portal string, names []string) (catalog.Figure, error) {
	return in.Ledger.Lacking(ctx, portal, names)
}

// Keep implements harvest.Keeper.
func (in *Intake) Keep(ctx context.Context, step harvest.Step) (added int, err error) {
	for i := range step.Seeds { // a malformed name must not stop the other datasets
		s := &step.Seeds[i]
		s.Portal, s.Dataset = archive.CleanName(s.Portal), archive.CleanName(s.Dataset)
	}
	seeds, err := cleanSeeds(step.Seeds)
	if err != nil {
		return 0, err
	}
	wanted := func(*kv.Txn) error { return nil }
	if step.Graphs && in.Graphs != nil {
		if wanted, err = in.wantGraphs(ctx, step.Portal, seeds); err != nil {
			return 0, err
		}
	}
	also := func(txn *kv.Txn) error {
		if err := wanted(txn); err != nil {
			return err
		}
		if step.Portal != "" {
			if err := in.Ledger.Stage(txn, step.Source, step.Portal, step.Entries); err != nil {
				return err
			}
		}
		return in.Ledger.Mark(txn, step.Source, step.Mark)
	}
	fresh, err := in.keep(ctx, archive.Listing{Seeds: seeds, Quads: step.Quads}, also)
	if errors.Is(err, kv.ErrTooBig) && len(seeds) > 0 { // the URLs first: without the mark, they are harvested again after a crash
		if fresh, err = in.keepSeeds(ctx, seeds); err == nil {
			_, err = in.keep(ctx, archive.Listing{Quads: step.Quads}, also)
		}
	}
	for _, isNew := range fresh {
		if isNew {
			added++
		}
	}
	return added, err
}

// wantGraphs returns what makes it a setting of portals that their files have graphs. It makes those of seeds due that
// are archived and have not been read for that.
func (in *Intake) wantGraphs(ctx context.Context, portal string, seeds []catalog.Seed) (func(*kv.Txn) error, error) {
	portals := map[string]bool{archive.CleanName(portal): true}
	archived := map[string]string{} // resource -> URL
	for _, s := range seeds {
		portals[s.Portal] = true
		r, err := in.Archive.Resource(ctx, s.URL)
		if errors.Is(err, archive.ErrNotFound) || errors.Is(err, archive.ErrBadRecord) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("graphs of portals: %w", err)
		}
		if r.Versions > 0 {
			archived[r.ID] = s.URL
		}
	}
	delete(portals, "")
	return func(txn *kv.Txn) error {
		for _, iri := range slices.Sorted(maps.Keys(portals)) {
			if err := in.Graphs.Want(txn, iri); err != nil {
				return err
			}
		}
		var due []string
		for _, id := range slices.Sorted(maps.Keys(archived)) {
			read, err := in.Graphs.HasRead(txn, id)
			if err != nil {
				return err
			}
			if !read {
				due = append(due, archived[id])
			}
		}
		return in.Frontier.MakeDueIn(txn, due...)
	}, nil
}

// Commit implements harvest.Keeper.
//
// A document at the portal's address that has a content graph loses it, since the ledger keeps what the portal says in
// the graph of that name. The document's next version has a graph of another name.
func (in *Intake) Commit(ctx context.Context, r harvest.Report, portal string, e harvest.Ending) (harvest.Changes, error) {
	if in.Graphs != nil {
		if err := in.Archive.Update(ctx, func(txn archive.Txn) error { return in.Graphs.Clear(txn.Triples(), portal) }); err != nil {
			return harvest.Changes{}, err
		}
	}
	return in.Ledger.Commit(ctx, r.ID, portal, e, in.Clock())
}

// End implements harvest.Keeper.
func (in *Intake) End(ctx context.Context, r harvest.Report, done bool, next string) error {
	return in.Ledger.Record(ctx, r, func(txn *kv.Txn) error {
		if !done {
			return nil
		}
		return in.Ledger.End(txn, r.Source, next)
	})
}

// keep registers a listing of clean seeds in archive and frontier, and runs also, if not nil, in the same transaction.
func (in *Intake) keep(ctx context.Context, listing archive.Listing, also func(*kv.Txn) error) ([]bool, error) {
	var fresh []bool
	err := in.Archive.Update(ctx, func(txn archive.Txn) (err error) {
		if fresh, err = txn.Register(ctx, in.Clock(), listing); err != nil {
			return err
		}
		if err := in.Frontier.AddIn(txn.KV(), listing.Seeds...); err != nil {
			return err
		}
		if err := in.hintIn(txn.KV(), listing.Seeds, fresh); err != nil {
			return err
		}
		if err := campaign.NoteListedIn(txn.KV(), in.Frontier, listing.Seeds, fresh); err != nil {
			return err
		}
		if also != nil {
			return also(txn.KV())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	return fresh, nil
}

// CrawlNow makes the resource with an id, or all resources of a host, due now. It returns their number.
func (in *Intake) CrawlNow(ctx context.Context, id, host string) (int, error) {
	if host != "" {
		return in.Frontier.MakeGroupDue(ctx, address.HostGroup(host))
	}
	r, err := in.Archive.Resource(ctx, id)
	if err != nil {
		return 0, err
	}
	return 1, in.Frontier.MakeDue(ctx, r.URL)
}

// Inject sets the priority of URLs or blacklists them. It registers new URLs first, except those that it blacklists. It
// returns the number of new URLs.
func (in *Intake) Inject(ctx context.Context, list []frontier.Injection) (added int, err error) {
	var seeds []catalog.Seed
	for _, order := range list {
		if order.Blacklisted == nil || !*order.Blacklisted {
			seeds = append(seeds, catalog.Seed{URL: order.URL})
		}
	}
	fresh, err := in.Add(ctx, seeds)
	if err != nil {
		return 0, err
	}
	for _, isNew := range fresh {
		if isNew {
			added++
		}
	}
	_, err = in.Frontier.Inject(ctx, list...)
	return added, err
}

// Order carries out an order about URLs, hosts or patterns, as frontier.Order says. A requeue also registers URLs that
// were dropped before they were known, and ends the back-offs of the hosts of its URLs.
func (in *Intake) Order(ctx context.Context, o frontier.Order) (frontier.Ordered, error) {
	if o.Kind == frontier.OrderInject && !o.DryRun {
		list := make([]frontier.Injection, len(o.Targets))
		for i, url := range o.Targets {
			list[i] = frontier.Injection{URL: url, Score: o.Score}
		}
		_, err := in.Inject(ctx, list)
		return frontier.Ordered{URLs: len(list), Unknown: []string{}}, err
	}
	done, err := in.Frontier.Order(ctx, o)
	if err != nil || o.DryRun || o.Kind != frontier.OrderRequeue {
		return done, err
	}
	unknown := map[string]bool{}
	for _, target := range done.Unknown {
		unknown[target] = true
	}
	var seeds []catalog.Seed
	hosts := maps.Clone(done.Hosts)
	for _, target := range o.Targets { // a URL may have been dropped before it was registered
		if strings.HasPrefix(target, "pattern:") {
			continue
		}
		host, err := address.Host(target)
		if err != nil {
			host = address.HostGroup(target)
		}
		hosts[host] = true
		if public, _ := address.WithoutSecret(target); !strings.Contains(target, "://") || unknown[public] {
			continue
		}
		if _, err := in.Archive.Resource(ctx, target); errors.Is(err, archive.ErrNotFound) {
			seeds = append(seeds, catalog.Seed{URL: target})
		}
	}
	if _, err := in.Add(ctx, seeds); err != nil {
		return done, err
	}
	if in.Forgive != nil {
		for host := range hosts {
			in.Forgive(ctx, host)
		}
	}
	return done, nil
}

// Requeue makes URLs, and all URLs of hosts, due now. It ends back-offs, resets counts of failures and cancels drops.
func (in *Intake) Requeue(ctx context.Context, targets ...string) (frontier.Ordered, error) {
	return in.Order(ctx, frontier.Order{Kind: frontier.OrderRequeue, Targets: targets})
}

// Drop removes URLs, and all URLs of hosts, from the crawl. Archived versions stay.
func (in *Intake) Drop(ctx context.Context, why string, targets ...string) (frontier.Ordered, error) {
	return in.Order(ctx, frontier.Order{Kind: frontier.OrderDrop, Targets: targets, Why: why})
}

// Orders returns the latest orders, newest first, at most limit.
func (in *Intake) Orders(limit int) ([]frontier.Note, error) { return in.Frontier.Notes(limit) }

// Pause stops the crawl until Resume, across restarts. Visits under way are finished.
func (in *Intake) Pause(ctx context.Context, why string) error { return in.Frontier.Pause(ctx, why) }

// Resume ends a pause.
func (in *Intake) Resume(ctx context.Context) error { return in.Frontier.Resume(ctx) }

// Held returns why no leases are granted, "" if they are.
func (in *Intake) Held() string { return in.Frontier.Held() }
