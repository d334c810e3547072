package ledger

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

func activityKey(r harvest.Report) []byte {
	k := binary.BigEndian.AppendUint64([]byte{tableActivity}, ^uint64(r.Started.UnixMilli())) // the newest comes first
	return append(k, r.ID...)
}

// Record stores the report of a harvest, which may still run, and its PROV activity. also, if not nil, runs in the same
// transaction.
func (l *Ledger) Record(ctx context.Context, r harvest.Report, also func(*kv.Txn) error) error {
	err := l.triples.Update(ctx, func(txn *triplestore.Txn) error {
		before, known, err := getRecord[harvest.Report](txn.KV(), activityKey(r))
		if err != nil {
			return err
		}
		now := r.Quads(l.mint)
		if known {
			if err := l.forget(txn, before.Quads(l.mint), now); err != nil {
				return err
			}
		}
		if err := l.insert(txn, now); err != nil {
			return err
		}
		if also != nil {
			if err := also(txn.KV()); err != nil {
				return err
			}
		}
		return setRecord(txn.KV(), activityKey(r), r)
	})
	if err != nil {
		return fmt.Errorf("ledger: record of harvest %s: %w", r.ID, err)
	}
	return nil
}

// forget deletes the statements of before that are not in now.
func (l *Ledger) forget(txn *triplestore.Txn, before, now []term.Quad) error {
	stays := make(map[term.Quad]bool, len(now))
	for _, q := range now {
		stays[q] = true
	}
	for _, q := range before {
		if !stays[q] {
			if err := txn.Delete(q); err != nil {
				return err
			}
		}
	}
	return nil
}

// Harvests returns the last harvests that began before a time, the newest first, at most limit. A zero time means now.
func (l *Ledger) Harvests(ctx context.Context, before time.Time, limit int) ([]harvest.Report, error) {
	from := []byte{tableActivity}
	if !before.IsZero() {
		from = binary.BigEndian.AppendUint64(from, ^uint64(before.UnixMilli())+1)
	}
	var all []harvest.Report
	err := l.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHarvest, []byte{tableActivity}, from, func(k, raw []byte) (bool, error) {
			var r harvest.Report
			if err := json.Unmarshal(raw, &r); err != nil {
				return false, fmt.Errorf("ledger: record %q: %w", k, err)
			}
			all = append(all, r)
			return len(all) < limit && ctx.Err() == nil, ctx.Err()
		})
	})
	return all, err
}
