package ledger

import (
	"context"
	"slices"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/search"
	"odarchive/crawler/harvest"
	"odarchive/ns"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

const batchSize = 400 // entries per transaction

// promote makes staged entries current, after the triple store has the change. It may be interrupted and repeated,
// because entries that are done are no longer staged.
func (l *Ledger) promote(ctx context.Context, p portalID, record portal) error {
	for record.Answer == "" {
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
	for after := []byte(nil); record.Whole || record.Answer != ""; {
		batch, err := l.nextBatch(ctx, tableCurrent, p, after, func(r row) bool {
			return !r.Gone && (record.withdraws(r, false) || record.marks(r, false))
		})
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			break
		}
		if err := l.promoteBatch(ctx, p, record, batch, l.promoteLost); err != nil {
			return err
		}
		after = rowKey(tableCurrent, p, batch[len(batch)-1])
	}
	left, err := l.askedRows(ctx, p, record)
	if err != nil {
		return err
	}
	return l.db.Update(ctx, func(txn *kv.Txn) error {
		return changePortal(txn, p, func(r *portal) {
			r.question.end(left)
			if r.Phase, r.Changes = staging, (harvest.Changes{}); record.Answer == "" {
				r.Whole, r.Taken, r.Quads, r.Before = false, false, 0, ""
			}
		})
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
	staged, isStaged, err := stagedRow(txn, p, record, id)
	if err != nil {
		return nil, err
	}
	if (staged.Gone || !isStaged) && record.withdraws(current, isStaged) {
		return []archive.Delisting{d}, nil
	}
	for _, resource := range current.Resources {
		if isStaged && !staged.Gone && !slices.Contains(staged.Resources, resource) {
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
		staged, dropped = lose(current, record, true), row{}
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
	if current.Digest != staged.Digest || current.Gone != staged.Gone {
		if err := reindex(txn, current, staged); err != nil {
			return err
		}
	}
	return txn.Delete(kv.SpaceHarvest, rowKey(tableStaged, p, id))
}

func (l *Ledger) promoteLost(txn *kv.Txn, p portalID, record portal, id entryID) error {
	current, _, err := getRecord[row](txn, rowKey(tableCurrent, p, id))
	if err != nil {
		return err
	}
	if err := reindex(txn, current); err != nil {
		return err
	}
	return setRecord(txn, rowKey(tableCurrent, p, id), lose(current, record, false))
}

// reindex has the search index read again what is said of the resources of datasets.
func reindex(txn *kv.Txn, datasets ...row) error {
	for _, d := range datasets {
		for _, id := range d.Resources {
			if !ns.IsResourceID(id) {
				continue
			}
			if err := search.Mark(txn, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// lose returns the current row of an entry that a commit withdraws or asks about, or that was refused. gone is that of
// portal.lost.
func lose(r row, by portal, gone bool) row {
	switch {
	case r.Gone:
	case by.withdraws(r, gone):
		r.Gone, r.Since, r.By, r.Asked = true, by.At, by.Harvest, ""
		r.Times++
	case by.marks(r, gone):
		r.Asked = waiting
		if by.Answer == Keep {
			r.Asked = refused
		}
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
