package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// source is the record of a source.
type source struct {
	Mark     string
	Campaign int64 // number of the current harvest; 0 if the last one has completed
}

func sourceKey(name string) []byte { return append([]byte{tableSource}, name...) }

// Begin begins a harvest of a source or, unless fresh is true, continues an interrupted one. It returns the mark to
// continue from, "" for the beginning.
func (l *Ledger) Begin(ctx context.Context, name string, fresh bool, now time.Time) (mark string, err error) {
	err = l.db.Update(ctx, func(txn *kv.Txn) error {
		s, _, err := getRecord[source](txn, sourceKey(name))
		if err != nil {
			return err
		}
		if fresh {
			s = source{}
		}
		if s.Campaign == 0 || s.Mark == "" {
			s.Campaign = now.UnixMilli()
		}
		mark = s.Mark
		return setRecord(txn, sourceKey(name), s)
	})
	return mark, err
}

// Mark sets the mark from which an interrupted harvest continues.
func (l *Ledger) Mark(txn *kv.Txn, name, mark string) error {
	s, _, err := getRecord[source](txn, sourceKey(name))
	if err != nil {
		return err
	}
	s.Mark = mark
	return setRecord(txn, sourceKey(name), s)
}

// End ends a completed harvest. The next one starts at the mark next.
func (l *Ledger) End(txn *kv.Txn, name, next string) error {
	return setRecord(txn, sourceKey(name), source{Mark: next})
}

// Open opens a portal for a source, as harvest.Keeper specifies.
func (l *Ledger) Open(name, portalIRI string, whole, take bool) error {
	record, err := l.record(idOf(portalIRI))
	if err != nil || record.Harvest == "" || take || kindOf(record.Source) == kindOf(name) || !whole && !record.Owned {
		return err
	}
	return fmt.Errorf(
		"the portal %s %w by the harvest of %s: name this portal differently (--portal), or replace that harvest by this one (--fresh)",
		portalIRI, harvest.ErrTaken, record.Source)
}

// kindOf returns the kind of a source, the first word of its name.
func kindOf(source string) string {
	kind, _, _ := strings.Cut(source, " ")
	return kind
}

// Stage keeps what the current harvest of a source brought of a portal. An entry about a dataset replaces an earlier
// one of the harvest; one about another subject adds to it.
func (l *Ledger) Stage(txn *kv.Txn, name, portalIRI string, entries []harvest.Entry) error {
	s, _, err := getRecord[source](txn, sourceKey(name))
	if err != nil {
		return err
	}
	p := idOf(portalIRI)
	record, _, err := getRecord[portal](txn, key(tablePortal, p))
	if err != nil {
		return err
	}
	if record.Campaign != s.Campaign || record.Source != name {
		record.Taken = record.Harvest != "" && kindOf(record.Source) != kindOf(name)
		record.IRI, record.Source, record.Campaign, record.Quads, record.Nameless = portalIRI, name, s.Campaign, 0, nil
	}
	for _, e := range entries {
		if e.Kept {
			if e.Dataset == "" {
				record.faults.add(e.Fault)
			} else if err := keepCurrent(txn, p, record, e); err != nil {
				return err
			}
			continue
		}
		n, err := l.stage(txn, p, record, e)
		if err != nil {
			return err
		}
		record.Quads += n
	}
	return setRecord(txn, key(tablePortal, p), record)
}

// keepCurrent leaves an entry as it is, as if the harvest had brought it.
func keepCurrent(txn *kv.Txn, p portalID, in portal, e harvest.Entry) error {
	id := entryID(hash16(nameOf(e)))
	current, known, err := getRecord[row](txn, rowKey(tableCurrent, p, id))
	if err != nil || !known {
		return err
	}
	staged, isStaged, err := getRecord[row](txn, rowKey(tableStaged, p, id))
	if err != nil || current.Gone || isStaged && staged.Campaign == in.Campaign {
		return err // the harvest brought it, or it was not listed
	}
	current.Campaign = in.Campaign
	return setRecord(txn, rowKey(tableCurrent, p, id), current)
}

// stage stages one entry and returns its number of statements.
func (l *Ledger) stage(txn *kv.Txn, p portalID, in portal, e harvest.Entry) (n int, err error) {
	r := row{Name: nameOf(e), Campaign: in.Campaign, Resources: e.Resources, Gone: e.Gone}
	id := entryID(hash16(r.Name))
	before, known, err := getRecord[row](txn, rowKey(tableStaged, p, id))
	if err != nil {
		return 0, err
	}
	current, _, err := getRecord[row](txn, rowKey(tableCurrent, p, id))
	if err != nil {
		return 0, err
	}
	quads := e.Quads
	if known && before.Campaign == r.Campaign && e.Dataset == "" {
		more, err := l.content(txn, p, before)
		if err != nil {
			return 0, err
		}
		quads = append(slices.Clone(quads), more...)
	}
	if !e.Gone {
		var raw []byte
		raw, r.Digest = encode(quads)
		r.Quads = len(quads)
		if r.Digest != current.Digest && r.Digest != before.Digest {
			if err := l.setContent(txn, p, id, r.Digest, raw); err != nil {
				return 0, err
			}
			if err := setForeign(txn, p, id, r.foreign(in.IRI, quads)); err != nil {
				return 0, err
			}
		}
	}
	if known && before.Digest != r.Digest && before.Digest != current.Digest {
		if err := dropContent(txn, p, id, before.Digest); err != nil {
			return 0, err
		}
	}
	return r.Quads, setRecord(txn, rowKey(tableStaged, p, id), r)
}

// setForeign adds an entry to the index of subjects.
func setForeign(txn *kv.Txn, p portalID, id entryID, subjects []term.Key) error {
	for _, subject := range subjects {
		s := hash16(string(subject))
		if err := txn.Set(kv.SpaceHarvest, key(tableForeign, p, s[:], id[:]), nil); err != nil {
			return err
		}
	}
	return nil
}
