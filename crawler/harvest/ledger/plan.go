package ledger

import (
	"context"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
)

// plan lists the entries that a commit changes.
type plan struct {
	entries []entryID
	sizes   []int    // numbers of statements per entry, before and after together
	quads   int      // their sum
	first   bool     // the portal has no entries yet
	listed  int      // datasets before the commit
	lost    []string // datasets that are withdrawn, or whose withdrawal waits, at most maxExamples
	changes harvest.Changes
}

// plan compares staged and current entries and counts the changes.
func (l *Ledger) plan(ctx context.Context, p portalID, record portal) (*plan, error) {
	todo, gone := &plan{first: true}, map[entryID]bool{}
	err := l.db.View(func(txn *kv.Txn) error {
		if record.Answer == "" {
			err := eachRow(ctx, txn, tableStaged, p, nil, func(id entryID, staged row) (bool, error) {
				if staged.Campaign != record.Campaign {
					return true, nil // staged by an abandoned harvest
				}
				if staged.Gone {
					gone[id] = true
					return true, nil
				}
				current, known, err := getRecord[row](txn, rowKey(tableCurrent, p, id))
				todo.bring(id, current, staged, known)
				return true, err
			})
			if err != nil {
				return err
			}
		}
		return eachRow(ctx, txn, tableCurrent, p, nil, func(id entryID, current row) (bool, error) {
			todo.first = false
			if current.Gone {
				return true, nil
			}
			if current.dataset() != "" {
				todo.listed++
			}
			if !gone[id] && record.lost(current, false) {
				if _, isStaged, err := stagedRow(txn, p, record, id); isStaged || err != nil {
					return true, err
				}
			}
			switch {
			case record.withdraws(current, gone[id]):
				todo.withdraw(id, current)
			case !record.Hold && record.Answer == "" && current.Asked == waiting && current.dataset() != "":
				_, isStaged, err := stagedRow(txn, p, record, id)
				if !isStaged && !gone[id] {
					todo.changes.Waiting++
				}
				return true, err
			case record.Hold && record.lost(current, gone[id]) && current.Asked != refused && current.dataset() != "":
				todo.changes.Waiting++
			}
			return true, nil
		})
	})
	return todo, err
}

// bring adds an entry that the harvest brought.
func (t *plan) bring(id entryID, current, next row, known bool) {
	count := &t.changes.Updated
	switch {
	case !known:
		count = &t.changes.Inserted
	case current.Gone:
		count = &t.changes.Returned
	case current.Digest == next.Digest:
		if next.dataset() != "" {
			t.changes.Unchanged++
		}
		return
	}
	if next.dataset() != "" {
		*count++
	}
	t.add(id, current.Quads+next.Quads)
}

// withdraw adds an entry that is current and is withdrawn.
func (t *plan) withdraw(id entryID, current row) {
	if dataset := current.dataset(); dataset != "" {
		t.changes.Withdrawn++
		if len(t.lost) < maxExamples {
			t.lost = append(t.lost, dataset)
		}
	}
	t.add(id, 2*current.Quads)
}

func (t *plan) add(id entryID, quads int) {
	t.entries = append(t.entries, id)
	t.sizes = append(t.sizes, quads)
	t.quads += quads
}
