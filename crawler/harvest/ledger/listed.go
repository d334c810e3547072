package ledger

import (
	"context"

	"odarchive/crawler/catalog"
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

// noteTotal notes by how many datasets a portal's own count differs from what a whole harvest brought.
func (l *Ledger) noteTotal(ctx context.Context, portalIRI string, total catalog.Figure) error {
	if !total.Known() {
		return nil
	}
	n, err := l.Listed(ctx, portalIRI)
	if err != nil {
		return err
	}
	return l.db.Update(ctx, func(txn *kv.Txn) error {
		return changePortal(txn, idOf(portalIRI), func(r *portal) { r.Beyond += total.N() - n })
	})
}
