package crawler

import (
	"context"
	"maps"
	"slices"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/hints"
	"odarchive/triplestore/kv"
)

// noteSitemaps notes the sitemaps that the robots.txt of a URL's host names.
func (p *Pipeline) noteSitemaps(ctx context.Context, url string, sitemaps []string) error {
	if p.Hints == nil || len(sitemaps) == 0 {
		return nil
	}
	host, err := address.Host(url)
	if err != nil {
		return nil // the fetch reports it
	}
	return p.Hints.Note(ctx, host, sitemaps)
}

// hintIn takes what portals say of when their files changed as hints, in the transaction that registers them.
func (in *Intake) hintIn(txn *kv.Txn, seeds []catalog.Seed, fresh []bool) error {
	if in.Hints == nil {
		return nil
	}
	said := map[string][]hints.Hint{} // by portal
	for i, s := range seeds {
		at := hints.NotAfter(s.Modified, in.Clock())
		if fresh[i] || at.IsZero() {
			continue
		}
		said[s.Portal] = append(said[s.Portal], hints.Hint{URL: s.URL, Modified: at})
	}
	for _, portal := range slices.Sorted(maps.Keys(said)) {
		if err := in.Hints.GiveIn(txn, "the catalog of "+portal, said[portal]); err != nil {
			return err
		}
	}
	return nil
}
