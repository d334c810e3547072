package campaign

import (
	"fmt"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/frontier"
	"odarchive/triplestore/kv"
)

// URLs of campaigns may be listed by sources, too: by a portal, or with the command add. What campaigns forbid does not
// hold for these: the archive visits them even if their campaigns are paused or stopped, and wherever they redirect to.

// NoteListedIn notes, in the transaction that registers them, that a source lists seeds. fresh tells which of them no
// one had registered before. Those that campaigns had so far are made due, since a campaign may have put them off.
func NoteListedIn(txn *kv.Txn, f *frontier.Frontier, seeds []catalog.Seed, fresh []bool) error {
	if any, err := exists(txn, []byte{tableReverse}); err != nil || !any {
		return err
	}
	var due []string
	for i, seed := range seeds {
		one := found{URL: seed.URL}
		if fresh[i] || !one.identify() {
			continue
		}
		if listed, err := isListed(txn, one.resource); err != nil || listed {
			if err != nil {
				return err
			}
			continue
		}
		had, err := exists(txn, key(tableReverse, resourceKey(one.resource)))
		if err != nil {
			return err
		}
		if !had {
			continue
		}
		if err := setListed(txn, one.resource); err != nil {
			return err
		}
		due = append(due, seed.URL)
	}
	if len(due) == 0 {
		return nil
	}
	return f.MakeDueIn(txn, due...)
}

// noteKnown notes that a source listed those of a campaign's new URLs that were registered before, unless it was
// another campaign that found them.
func noteKnown(txn *kv.Txn, id campaignID, urls []string, fresh []bool) error {
	for i, url := range urls {
		one := found{URL: url}
		if fresh[i] || !one.identify() {
			continue
		}
		prefix := key(tableReverse, resourceKey(one.resource))
		other := false
		err := txn.Scan(kv.SpaceCampaigns, prefix, nil, func(k, _ []byte) (bool, error) {
			other = campaignID(k[len(prefix):]) != id
			return !other, nil
		})
		if err == nil && !other {
			err = setListed(txn, one.resource)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func setListed(txn *kv.Txn, resource string) error {
	return txn.Set(kv.SpaceCampaigns, key(tableListed, resourceKey(resource)), nil)
}

// isListed reports whether a source lists a resource of campaigns.
func isListed(txn *kv.Txn, resource string) (bool, error) {
	_, listed, err := txn.Get(kv.SpaceCampaigns, key(tableListed, resourceKey(resource)))
	return listed, err
}

// exists reports whether there is a record whose key begins with prefix.
func exists(txn *kv.Txn, prefix []byte) (any bool, err error) {
	err = txn.Scan(kv.SpaceCampaigns, prefix, nil, func(_, _ []byte) (bool, error) {
		any = true
		return false, nil
	})
	if err != nil {
		return false, fmt.Errorf("campaign: %w", err)
	}
	return any, nil
}
