package ledger

import (
	"context"
	"slices"

	"odarchive/crawler/archive"
	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

const batchSize = 400 // entries per transaction

// promote makes staged entries current, after the triple store has the change. It may be interrupted and repeated,
// because entries that are done are no longer staged.
func (l *Ledger) promote(ctx context.Context, p portalID, record portal) error {
	for {
		batch, err := l.nextBatch(ctx, tableStaged, p, nil, func(row) bool { return true })
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
		if err := l.promoteBatch(ctx, p, record, batch, l.promoteStaged); err != nil {
			return err
		}
	}
	for after := []byte(nil); record.Whole; {
		batch, err := l.nextBatch(ctx, tableCurrent, p, after, func(r row) bool { return !r.Gone && record.missed(r) })
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
		if err := l.promoteBatch(ctx, p, record, batch, l.withdrawMissed); err != nil {
			return err
		}
		after = rowKey(tableCurrent, p, batch[len(batch)-1])
	}
	return l.db.Update(ctx, func(txn *kv.Txn) error {
		record.Phase, record.Whole, record.Quads, record.Before, record.Changes = staging, false, 0, "", harvest.Changes{}
		return setRecord(txn, key(tablePortal, p), record)
	})
}

// nextBatch returns the next entries of a table that which accepts.
func (l *Ledger) nextBatch(ctx context.Context, table byte, p portalID, after []byte, which func(row) bool) (ids []entryID, err error) {
	err = l.db.View(func(txn *kv.Txn) error {
		return eachRow(ctx, txn, table, p, after, func(id entryID, r row) (bool, error) {
			if which(r) {
				ids = append(ids, id)
			}
			return len(ids) < batchSize, nil
		})
	})
	return ids, err
}

type promoter func(txn *kv.Txn, p portalID, record portal, id entryID) error

// promoteBatch promotes entries in one transaction, after delisting the resources that they no longer list.
func (l *Ledger) promoteBatch(ctx context.Context, p portalID, record portal, batch []entryID, promote promoter) error {
	var list []archive.Delisting
	err := l.db.View(func(txn *kv.Txn) error {
		for _, id := range batch {
			d, err := delisted(txn, p, record, id)
			if err != nil {
				return err
			}
			list = append(list, d...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(list) > 0 {
		if err := l.delist.Delist(ctx, list); err != nil {
			return err
		}
	}
	return l.db.Update(ctx, func(txn *kv.Txn) error {
		for _, id := range batch {
			if err := promote(txn, p, record, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// delisted returns the resources that the dataset of an entry no longer lists.
func delisted(txn *kv.Txn, p portalID, record portal, id entryID) ([]archive.Delisting, error) {
	current, known, err := getRecord[row](txn, rowKey(tableCurrent, p, id))
	if err != nil || !known || current.Gone || current.dataset() == "" {
		return nil, err
	}
	d := archive.Delisting{Portal: record.IRI, Dataset: current.dataset(), At: record.At}
	staged, isStaged, err := getRecord[row](txn, rowKey(tableStaged, p, id))
	if err != nil {
		return nil, err
	}
	isStaged = isStaged && staged.Campaign == record.Campaign
	if isStaged && staged.Gone || !isStaged && record.missed(current) {
		return []archive.Delisting{d}, nil
	}
	for _, resource := range current.Resources {
		if isStaged && !slices.Contains(staged.Resources, resource) {
			d.Resources = append(d.Resources, resource)
		}
	}
	if d.Resources == nil {
		return nil, nil
	}
	return []archive.Delisting{d}, nil
}

func (l *Ledger) promoteStaged(txn *kv.Txn, p portalID, record portal, id entryID) error {
	staged, _, err := getRecord[row](txn, rowKey(tableStaged, p, id))
	if err != nil {
		return err
	}
	current, known, err := getRecord[row](txn, rowKey(tableCurrent, p, id))
	if err != nil {
		return err
	}
	dropped := current // its statements are no longer needed
	switch {
	case staged.Campaign != record.Campaign:
		dropped, staged = staged, current
	case staged.Gone && known:
		staged, dropped = withdrawn(current, record), row{}
	case staged.Gone:
		known, staged, dropped = false, row{}, row{}
	default:
		staged.Times, known = current.Times, true
	}
	if err := l.drop(txn, p, record, id, dropped, staged); err != nil {
		return err
	}
	if known {
		if err := setRecord(txn, rowKey(tableCurrent, p, id), staged); err != nil {
			return err
		}
	}
	return txn.Delete(kv.SpaceHarvest, rowKey(tableStaged, p, id))
}

func (l *Ledger) withdrawMissed(txn *kv.Txn, p portalID, record portal, id entryID) error {
	current, _, err := getRecord[row](txn, rowKey(tableCurrent, p, id))
	if err != nil {
		return err
	}
	return setRecord(txn, rowKey(tableCurrent, p, id), withdrawn(current, record))
}

// withdrawn returns the current row of an entry withdrawn by a commit.
func withdrawn(r row, by portal) row {
	if !r.Gone {
		r.Gone, r.Since, r.By = true, by.At, by.Harvest
		r.Times++
	}
	return r
}

// drop deletes the statements of a row, unless now has the same.
func (l *Ledger) drop(txn *kv.Txn, p portalID, record portal, id entryID, before, now row) error {
	if before.Digest == "" || before.Digest == now.Digest {
		return nil
	}
	old, err := l.content(txn, p, before)
	if err != nil {
		return err
	}
	quads, err := l.content(txn, p, now)
	if err != nil {
		return err
	}
	var stays []term.Key
	if now.Name != "" {
		stays = now.foreign(record.IRI, quads)
	}
	for _, subject := range before.foreign(record.IRI, old) {
		if slices.Contains(stays, subject) {
			continue
		}
		s := hash16(string(subject))
		if err := txn.Delete(kv.SpaceHarvest, key(tableForeign, p, s[:], id[:])); err != nil {
			return err
		}
	}
	return dropContent(txn, p, id, before.Digest)
}
