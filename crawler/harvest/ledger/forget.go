package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

const (
	// KeptReports is how many reports of each source Forget keeps whatever their age: the last ones say when a source
	// was read, and event streams are read again because of them.
	KeptReports = 20

	forgetLook  = 5000 // reports that one look reads, at most
	forgetBatch = 100  // reports that one transaction drops, at most
)

// changedNothing reports whether a harvest left everything as it was. Of one that was cut off nobody knows.
func changedNothing(r harvest.Report) bool {
	return !r.Ended.IsZero() && r.Added == 0 && r.Inserted.N()+r.Updated.N()+r.Withdrawn.N()+r.Returned.N() == 0
}

// Forget drops the reports of harvests that began before a time and changed nothing, and their PROV activities, and
// returns their number. It keeps the last KeptReports of each source, those of harvests that run or were cut off, and
// those that another statement names. Each report goes together with its statements; Forget may be interrupted, and
// called again.
func (l *Ledger) Forget(ctx context.Context, before time.Time) (dropped int, err error) {
	seen := map[string]int{} // reports of each source, up to KeptReports; there are as many sources as somebody has named
	from := []byte{tableActivity}
	for from != nil {
		var old [][]byte
		if old, from, err = l.oldReports(ctx, before, from, seen); err != nil {
			return dropped, err
		}
		for len(old) > 0 {
			batch := old[:min(forgetBatch, len(old))]
			old = old[len(batch):]
			some := 0
			err := l.triples.Update(ctx, func(txn *triplestore.Txn) error {
				some = 0
				for _, k := range batch {
					gone, err := l.forgetReport(ctx, txn, k)
					if err != nil {
						return err
					}
					if gone {
						some++
					}
				}
				return nil
			})
			if err != nil {
				return dropped, fmt.Errorf("ledger: forget reports: %w", err)
			}
			dropped += some
		}
	}
	return dropped, nil
}

// oldReports looks at some reports from a key on, the newest first, and returns the keys of those that may go, and
// where to go on: nil at the end. A record that cannot be read stays: a check tells of it.
func (l *Ledger) oldReports(ctx context.Context, before time.Time, from []byte, seen map[string]int) (old [][]byte, next []byte,
	err error) {
	looked := 0
	err = l.db.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceHarvest, []byte{tableActivity}, from, func(k, raw []byte) (bool, error) {
			if looked == forgetLook {
				next = bytes.Clone(k)
				return false, nil
			}
			looked++
			var r harvest.Report
			if json.Unmarshal(raw, &r) != nil {
				return true, ctx.Err()
			}
			if seen[r.Source] < KeptReports {
				seen[r.Source]++
			} else if r.Started.Before(before) && changedNothing(r) {
				old = append(old, bytes.Clone(k))
			}
			return true, ctx.Err()
		})
	})
	if err != nil {
		return nil, nil, fmt.Errorf("ledger: forget reports: %w", err)
	}
	return old, next, nil
}

// forgetReport drops a report and all that is said of its activity, unless something else names the activity: the graph
// of a portal that this harvest wrote last, or what somebody has added.
func (l *Ledger) forgetReport(ctx context.Context, txn *triplestore.Txn, key []byte) (bool, error) {
	r, known, err := getRecord[harvest.Report](txn.KV(), key)
	if err != nil || !known || !changedNothing(r) {
		return false, err
	}
	sn := txn.Snapshot()
	activity, named, err := sn.Lookup(term.IRI(l.mint.Activity(r.ID)))
	if err != nil {
		return false, err
	}
	if named {
		if used, err := isObject(sn, activity); err != nil || used {
			return false, err
		}
		// An older program may have said something else than Quads says today.
		err := sn.Dump(ctx, term.Pattern{S: activity, G: term.DefaultGraph}, txn.Delete)
		if err != nil {
			return false, err
		}
	}
	return true, txn.KV().Delete(kv.SpaceHarvest, key)
}

// isObject reports whether a statement of any graph has a term as its object.
func isObject(sn *triplestore.Snapshot, id term.ID) (bool, error) {
	c := sn.Scan(term.Pattern{O: id}, term.OSP)
	defer c.Close()
	rows, err := c.Next()
	return len(rows) > 0, err
}
