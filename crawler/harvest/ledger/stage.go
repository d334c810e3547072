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

// source is the record of what is harvested.
type source struct {
	Mark     string
	Campaign int64 // of the harvest under way; 0: the last one reached its end
}

func sourceKey(name string) []byte { return append([]byte{tableSource}, name...) }

// Begin a harvest of a source, or go on with one that was cut off, unless fresh forgets it. It gives the mark to go on
// from, "" for the beginning.
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

// Mark is where a harvest that is cut off from now on begins again.
func (l *Ledger) Mark(txn *kv.Txn, name, mark string) error {
	s, _, err := getRecord[source](txn, sourceKey(name))
	if err != nil {
		return err
	}
	s.Mark = mark
	return setRecord(txn, sourceKey(name), s)
}

// End of a harvest that came to its end; next is where the next one begins.
func (l *Ledger) End(txn *kv.Txn, name, next string) error {
	return setRecord(txn, sourceKey(name), source{Mark: next})
}

// Open a portal for a source, as harvest.Keeper has it.
func (l *Ledger) Open(name, portalIRI string, whole, take bool) error {
	record, err := l.record(idOf(portalIRI))
	if err != nil || record.Harvest == "" || take || kindOf(record.Source) == kindOf(name) || !whole && !record.Owned {
		return err
	}
	return fmt.Errorf("the portal %s %w by the harvest of %s: give this one another name (--portal), or let it take that one's place (--fresh)", portalIRI, harvest.ErrTaken, record.Source)
}

// kindOf a source is its name's first word.
func kindOf(source string) string {
	kind, _, _ := strings.Cut(source, " ")
	return kind
}

// Stage keeps what a source's harvest under way brought of a portal. What it brought before of the same dataset is
// replaced; of another subject, added to.
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
		record.IRI, record.Source, record.Campaign, record.Quads, record.Nameless = portalIRI, name, s.Campaign, 0, nil
	}
	for _, e := range entries {
		if e.Kept {
			if e.Dataset == "" {
				record.faults.add(e.Fault)
			} else if err := keep(txn, p, record, e); err != nil {
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

// keep an entry as it is, as if the harvest had brought it.
func keep(txn *kv.Txn, p portalID, in portal, e harvest.Entry) error {
	id := entryID(short(nameOf(e)))
	current, known, err := getRecord[row](txn, rowKey(tableCurrent, p, id))
	if err != nil || !known {
		return err
	}
	staged, isStaged, err := getRecord[row](txn, rowKey(tableStaged, p, id))
	if err != nil || current.Gone || isStaged && staged.Campaign == in.Campaign {
		return err // it is there after all, or was not listed before
	}
	current.Campaign = in.Campaign
	return setRecord(txn, rowKey(tableCurrent, p, id), current)
}

// stage one entry; n is how many statements it has.
func (l *Ledger) stage(txn *kv.Txn, p portalID, in portal, e harvest.Entry) (n int, err error) {
	r := row{Name: nameOf(e), Campaign: in.Campaign, Resources: e.Resources, Gone: e.Gone}
	id := entryID(short(r.Name))
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
			if err := setSaid(txn, p, id, r.foreign(in.IRI, quads)); err != nil {
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

// setSaid notes under which subjects an entry must be found.
func setSaid(txn *kv.Txn, p portalID, id entryID, subjects []term.Key) error {
	for _, subject := range subjects {
		s := short(string(subject))
		if err := txn.Set(kv.SpaceHarvest, key(tableSaid, p, s[:], id[:]), nil); err != nil {
			return err
		}
	}
	return nil
}
