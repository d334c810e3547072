package ledger

import (
	"slices"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// sayers finds out, while a change is being written, whether a statement that one entry no longer makes is made by
// another one once the change is done.
type sayers struct {
	l      *Ledger
	txn    *kv.Txn
	p      portalID
	record portal
	known  map[term.Quad]bool // answers; their G is the graph
}

const maxAnswers = 100_000 // remembered

func (l *Ledger) sayers(txn *kv.Txn, p portalID, record portal) *sayers {
	return &sayers{l: l, txn: txn, p: p, record: record, known: map[term.Quad]bool{}}
}

// said tells whether another entry than the given one will say q, of the portal's graph or of what is withdrawn.
// The answer is the same for all entries that no longer say it, so each statement is looked for once.
func (s *sayers) said(q term.Quad, withdrawn bool, e row) (bool, error) {
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
	answer, err := s.find(q, withdrawn, entryID(short(e.Name)))
	if len(s.known) >= maxAnswers {
		clear(s.known)
	}
	s.known[asked] = answer
	return answer, err
}

func (s *sayers) find(q term.Quad, withdrawn bool, except entryID) (bool, error) {
	candidates := []entryID{short("s" + string(q.S))}
	if q.S.Kind() == term.KindIRI {
		candidates = append(candidates, short("d"+q.S.Value()))
	}
	for _, id := range candidates {
		if id == except {
			continue
		}
		if says, err := s.says(id, q, withdrawn); says || err != nil {
			return says, err
		}
	}
	found := false
	subject := short(string(q.S))
	err := s.txn.Scan(kv.SpaceHarvest, key(tableSaid, s.p, subject[:]), nil, func(k, _ []byte) (bool, error) {
		id := entryID(k[len(k)-len(entryID{}):])
		if id == except {
			return true, nil
		}
		var err error
		found, err = s.says(id, q, withdrawn)
		return !found, err
	})
	return found, err
}

// says tells whether an entry will say q when the change is done.
func (s *sayers) says(id entryID, q term.Quad, withdrawn bool) (bool, error) {
	r, gone, ok, err := s.after(id)
	if err != nil || !ok || gone != withdrawn {
		return false, err
	}
	quads, err := s.l.content(s.txn, s.p, r)
	_, found := slices.BinarySearchFunc(quads, q, compare)
	return found, err
}

// after is an entry as it will be.
func (s *sayers) after(id entryID) (r row, withdrawn, ok bool, err error) {
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

// missed tells whether a whole harvest did not meet a current entry that it has not staged.
func (p portal) missed(current row) bool {
	return p.Whole && current.Campaign != p.Campaign && !p.excuse(current.Campaign)
}
