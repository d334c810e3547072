package ledger

import (
	"slices"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// overlap finds out, while a change is written, whether a statement that one entry drops is still made by another
// entry.
type overlap struct {
	l      *Ledger
	txn    *kv.Txn
	p      portalID
	record portal
	known  map[term.Quad]bool // by statement, whose G is the graph
}

const maxAnswers = 100_000 // cached

func (l *Ledger) overlap(txn *kv.Txn, p portalID, record portal) *overlap {
	return &overlap{l: l, txn: txn, p: p, record: record, known: map[term.Quad]bool{}}
}

// stated reports whether an entry other than e makes the statement q after the change, in the portal's graph or in that
// of withdrawn datasets. The answer is the same for all entries that drop q, so that it is cached.
func (s *overlap) stated(q term.Quad, withdrawn bool, e row) (bool, error) {
	if dataset := e.dataset(); dataset != "" && private(q, harvest.NodePrefix(s.record.IRI, dataset)) {
		return false, nil
	}
	asked := term.Quad{S: q.S, P: q.P, O: q.O}
	if withdrawn {
		asked.G = "w"
	}
	if answer, ok := s.known[asked]; ok {
		return answer, nil
	}
	answer, err := s.find(q, withdrawn, entryID(hash16(e.Name)))
	if len(s.known) >= maxAnswers {
		clear(s.known)
	}
	s.known[asked] = answer
	return answer, err
}

func (s *overlap) find(q term.Quad, withdrawn bool, except entryID) (bool, error) {
	candidates := []entryID{hash16("s" + string(q.S))}
	if q.S.Kind() == term.KindIRI {
		candidates = append(candidates, hash16("d"+q.S.Value()))
	}
	for _, id := range candidates {
		if id == except {
			continue
		}
		if found, err := s.states(id, q, withdrawn); found || err != nil {
			return found, err
		}
	}
	found := false
	subject := hash16(string(q.S))
	err := s.txn.Scan(kv.SpaceHarvest, key(tableForeign, s.p, subject[:]), nil, func(k, _ []byte) (bool, error) {
		id := entryID(k[len(k)-len(entryID{}):])
		if id == except {
			return true, nil
		}
		var err error
		found, err = s.states(id, q, withdrawn)
		return !found, err
	})
	return found, err
}

// states reports whether an entry makes the statement q after the change.
func (s *overlap) states(id entryID, q term.Quad, withdrawn bool) (bool, error) {
	r, gone, ok, err := s.after(id)
	if err != nil || !ok || gone != withdrawn {
		return false, err
	}
	quads, err := s.l.content(s.txn, s.p, r)
	_, found := slices.BinarySearchFunc(quads, q, compare)
	return found, err
}

// after returns an entry as it is after the change.
func (s *overlap) after(id entryID) (r row, withdrawn, ok bool, err error) {
	staged, isStaged, err := stagedRow(s.txn, s.p, s.record, id)
	if err != nil {
		return row{}, false, false, err
	}
	if isStaged && !staged.Gone {
		return staged, false, true, nil
	}
	current, ok, err := getRecord[row](s.txn, rowKey(tableCurrent, s.p, id))
	return current, current.Gone || s.record.withdraws(current, isStaged), ok, err
}

// stagedRow returns what the harvest that is committed has staged of an entry.
func stagedRow(txn *kv.Txn, p portalID, record portal, id entryID) (r row, ok bool, err error) {
	if record.Answer != "" {
		return row{}, false, nil // what a harvest stages meanwhile is its own
	}
	r, ok, err = getRecord[row](txn, rowKey(tableStaged, p, id))
	return r, ok && r.Campaign == record.Campaign, err
}

// lost reports whether a harvest lost an entry that is current: the source says that it was deleted (gone), or the
// harvest was whole and neither met nor staged it.
func (p portal) lost(current row, gone bool) bool {
	return gone || p.Whole && current.Campaign != p.Campaign && !p.excuse(current.Campaign)
}

// withdraws reports whether a commit withdraws an entry that is current and not staged, or staged as deleted (gone).
func (p portal) withdraws(current row, gone bool) bool {
	if p.Answer != "" {
		return p.Answer == Withdraw && current.Asked != ""
	}
	return p.lost(current, gone) && !p.Hold && (current.Asked != refused || p.Sure || p.Question == nil)
}
