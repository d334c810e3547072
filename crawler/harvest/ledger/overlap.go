package ledger

import (
	"slices"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// overlap finds out, while a change is written, whether a statement that one entry drops is still made by another entry.
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
	staged, isStaged, err := getRecord[row](s.txn, rowKey(tableStaged, s.p, id))
	if err != nil {
		return row{}, false, false, err
	}
	isStaged = isStaged && staged.Campaign == s.record.Campaign
	if isStaged && !staged.Gone {
		return staged, false, true, nil
	}
	current, ok, err := getRecord[row](s.txn, rowKey(tableCurrent, s.p, id))
	return current, current.Gone || isStaged || s.record.missed(current), ok, err
}

// missed reports whether a whole harvest did not meet a current entry that it has not staged.
func (p portal) missed(current row) bool {
	return p.Whole && current.Campaign != p.Campaign && !p.excuse(current.Campaign)
}
