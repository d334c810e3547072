package ledger

import (
	"context"

	"odarchive/crawler/catalog"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
)

// Listed returns the number of datasets that a portal can be expected to list, as harvest.Keeper specifies. Portals may
// count others than they return; the difference is known from the last harvest that was whole because of it.
func (l *Ledger) Listed(ctx context.Context, portalIRI string) (n int, err error) {
	p := idOf(portalIRI)
	record, err := l.record(p)
	if err != nil {
		return 0, err
	}
	err = l.db.View(func(txn *kv.Txn) error {
		err := eachRow(ctx, txn, tableCurrent, p, nil, func(_ entryID, r row) (bool, error) {
			if r.listed() {
				n++
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		return eachRow(ctx, txn, tableStaged, p, nil, func(id entryID, staged row) (bool, error) {
			if staged.dataset() == "" || staged.Campaign != record.Campaign {
				return true, nil
			}
			current, _, err := getRecord[row](txn, rowKey(tableCurrent, p, id))
			switch {
			case staged.Gone && current.listed():
				n--
			case !staged.Gone && !current.listed():
				n++
			}
			return true, err
		})
	})
	return n + record.Beyond, err
}

// listed reports whether a portal lists the dataset of a current row: it is neither withdrawn nor missing there.
func (r row) listed() bool { return r.dataset() != "" && !r.Gone && r.Asked == "" }

// Lacking implements harvest.Keeper.Lacking. A dataset that was removed is known, and its name is not in the list.
// Names that are not known do not count: some portals also name things that are not datasets.
func (l *Ledger) Lacking(ctx context.Context, portalIRI string, names []string) (catalog.Figure, error) {
	record, err := l.record(idOf(portalIRI))
	if err != nil {
		return catalog.Figure{}, err
	}
	lacking, known, err := l.unnamed(ctx, portalIRI, names, record.Campaign)
	if lacking > known/2 || lacking > 0 && lacking <= record.Unnamed { // other names, such as numbers; or as before
		return catalog.Figure{}, err
	}
	return catalog.Counted(lacking), err
}

// unnamed returns how many datasets are known to be listed, and how many of them are not among names, without those
// that the campaign has staged: 0 for no campaign.
func (l *Ledger) unnamed(ctx context.Context, portalIRI string, names []string, campaign int64) (lacking, known int, err error) {
	named := make(map[entryID]struct{}, len(names))
	for _, name := range names {
		named[hash16("d"+name)] = struct{}{}
	}
	p := idOf(portalIRI)
	err = l.db.View(func(txn *kv.Txn) error {
		return eachRow(ctx, txn, tableCurrent, p, nil, func(id entryID, r row) (bool, error) {
			if !r.listed() {
				return true, nil
			}
			known++
			if _, found := named[id]; found {
				return true, nil
			}
			staged, ok, err := getRecord[row](txn, rowKey(tableStaged, p, id))
			if !ok || campaign == 0 || staged.Campaign != campaign {
				lacking++
			}
			return true, err
		})
	})
	return lacking, known, err
}

// came returns the number of datasets that a campaign has staged.
func (l *Ledger) came(ctx context.Context, p portalID, campaign int64) (n int, err error) {
	err = l.db.View(func(txn *kv.Txn) error {
		return eachRow(ctx, txn, tableStaged, p, nil, func(_ entryID, r row) (bool, error) {
			if r.dataset() != "" && !r.Gone && r.Campaign == campaign {
				n++
			}
			return true, nil
		})
	})
	return n, err
}

// noteListed notes how a portal's own count and names differ from what a whole harvest brought.
func (l *Ledger) noteListed(ctx context.Context, portalIRI string, e harvest.Ending) error {
	if !e.Total.Known() && e.Names == nil {
		return nil
	}
	n, err := l.Listed(ctx, portalIRI)
	if err != nil {
		return err
	}
	unnamed, _, err := l.unnamed(ctx, portalIRI, e.Names, 0)
	if err != nil {
		return err
	}
	return l.db.Update(ctx, func(txn *kv.Txn) error {
		return changePortal(txn, idOf(portalIRI), func(r *portal) {
			if e.Total.Known() {
				r.Beyond += e.Total.N() - n
			}
			if e.Names != nil {
				r.Unnamed = unnamed
			}
		})
	})
}
