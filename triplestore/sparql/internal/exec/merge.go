package exec

import (
	"cmp"

	"odarchive/triplestore/sparql/internal/plan"
	"odarchive/triplestore/term"
)

// merge joins two inputs that ascend by the same keys.
type merge struct {
	q            *query
	kind         plan.JoinKind
	l, r         op
	lkeys, rkeys []int
	p            *pairs
	lb           *batch
	li           int
	rb           *batch
	ri           int
	rdone        bool
	run          *block // right rows of one key that crossed the end of a right batch
	inRun        bool
	rj           int // next right row for the left row li; -1: the first
	all          []int
	ended        bool
}

func (q *query) openMerge(n *plan.MergeJoin) (op, error) {
	l, err := q.open(n.L)
	if err != nil {
		return nil, err
	}
	r, err := q.open(n.R)
	if err != nil {
		l.close()
		return nil, err
	}
	lcols, rcols := n.L.Info().Cols, n.R.Info().Cols
	m := &merge{q: q, kind: n.Kind, l: l, r: r, rj: -1}
	m.lkeys, m.rkeys = indexes(lcols, n.Keys), indexes(rcols, n.Keys)
	m.p = q.newJoinPairs(n.Kind, n.Cols, lcols, rcols, n.L.Info().Sure)
	m.run = newBlock(len(rcols), q.budget)
	m.all = identity(len(rcols))
	return m, nil
}

func (m *merge) next() (*batch, error) {
	if m.ended {
		return nil, nil
	}
	for {
		if m.lb == nil || m.li >= m.lb.n {
			if !m.p.empty() {
				return m.flush(), nil
			}
			if err := m.q.check(); err != nil {
				return nil, err
			}
			b, err := m.l.next()
			if err != nil {
				return nil, err
			}
			if b == nil {
				m.ended = true
				return nil, nil
			}
			m.lb, m.li, m.rj = b, 0, -1
		}
		if m.inRun {
			if done := m.emitRun(m.run.cols, 0, m.run.n); !done {
				return m.flush(), nil
			}
			if m.li < m.lb.n { // the left side is past the run's key
				if !m.p.empty() {
					return m.flush(), nil
				}
				m.inRun = false
				m.run.reset()
			}
			continue
		}
		if !m.rdone && (m.rb == nil || m.ri >= m.rb.n) {
			if !m.p.empty() {
				return m.flush(), nil
			}
			b, err := m.r.next()
			if err != nil {
				return nil, err
			}
			m.rb, m.ri = b, 0
			m.rdone = b == nil
		}
		if m.rdone {
			if m.kind == plan.Inner || m.kind == plan.Semi {
				if !m.p.empty() {
					return m.flush(), nil
				}
				m.ended = true
				return nil, nil
			}
			for m.li < m.lb.n && !m.p.full() {
				m.emitAlone()
			}
			if m.p.full() {
				return m.flush(), nil
			}
			continue
		}
		if full := m.align(); full {
			return m.flush(), nil
		}
		if m.li >= m.lb.n || m.ri >= m.rb.n {
			continue
		}
		// The keys are equal: find the end of the right run.
		end := m.ri + 1
		for end < m.rb.n && m.sameRight(end) {
			end++
		}
		if end == m.rb.n {
			if !m.p.empty() {
				return m.flush(), nil
			}
			if err := m.spill(); err != nil {
				return nil, err
			}
			continue
		}
		if done := m.emitRun(m.rb.cols, m.ri, end); !done {
			return m.flush(), nil
		}
		if m.li < m.lb.n {
			m.ri = end
		}
	}
}

// flush returns the pairs gathered from the current batches.
func (m *merge) flush() *batch {
	var right [][]term.ID
	switch {
	case m.inRun:
		right = m.run.cols
	case m.rb != nil:
		right = m.rb.cols
	default:
		right = make([][]term.ID, len(m.all)) // only rows without a partner
	}
	return m.p.flush(m.lb.cols, right)
}

// emitAlone moves past a left row that has no partner.
func (m *merge) emitAlone() {
	if m.kind == plan.Outer || m.kind == plan.Anti {
		m.p.add(int32(m.li), -1)
	}
	m.li++
}

// align advances both sides until their keys are equal or a batch ends. It pairs left rows with a single partner
// itself. It returns true if the output is full.
func (m *merge) align() bool {
	if len(m.lkeys) == 1 {
		pairs := m.kind == plan.Inner || m.kind == plan.Outer
		lk, rk := m.lb.cols[m.lkeys[0]][:m.lb.n], m.rb.cols[m.rkeys[0]][:m.rb.n]
		for m.li < len(lk) && m.ri < len(rk) {
			a, b := lk[m.li], rk[m.ri]
			switch {
			case a < b:
				if m.p.full() {
					return true
				}
				m.emitAlone()
			case a > b:
				m.ri++
			case pairs && m.rj < 0 && m.ri+1 < len(rk) && rk[m.ri+1] != b: // one right row, which needs no run
				if m.p.full() {
					return true
				}
				m.p.add(int32(m.li), int32(m.ri))
				m.li++
			default:
				return false
			}
		}
		return false
	}
	for m.li < m.lb.n && m.ri < m.rb.n {
		c := m.compare(m.rb.cols, m.ri)
		switch {
		case c < 0:
			if m.p.full() {
				return true
			}
			m.emitAlone()
		case c > 0:
			m.ri++
		default:
			return false
		}
	}
	return false
}

// compare compares the key of the current left row with that of a right row.
func (m *merge) compare(right [][]term.ID, r int) int {
	for i, k := range m.lkeys {
		a, b := m.lb.cols[k][m.li], right[m.rkeys[i]][r]
		if a != b {
			return cmp.Compare(a, b)
		}
	}
	return 0
}

func (m *merge) sameRight(i int) bool {
	for _, k := range m.rkeys {
		if m.rb.cols[k][i] != m.rb.cols[k][m.ri] {
			return false
		}
	}
	return true
}

// emitRun pairs the left rows that have the key of right[from:to] with those rows. It returns false if the output is
// full before the end. Otherwise li is the first left row with another key, or the end of the batch.
func (m *merge) emitRun(right [][]term.ID, from, to int) bool {
	for m.li < m.lb.n && m.compare(right, from) == 0 {
		switch m.kind {
		case plan.Semi:
			if m.p.full() {
				return false
			}
			m.p.add(int32(m.li), -1)
		case plan.Anti:
		default:
			if m.rj < 0 {
				m.rj = from
			}
			for m.rj < to {
				if m.p.full() {
					return false
				}
				m.p.add(int32(m.li), int32(m.rj))
				m.rj++
			}
			m.rj = -1
		}
		m.li++
	}
	return true
}

// spill copies the right rows of the current key, which reach the end of the batch, and those that follow.
func (m *merge) spill() error {
	m.run.reset()
	rows := func(b *batch, from, to int) error {
		part := &batch{n: to - from}
		for _, c := range b.cols {
			part.cols = append(part.cols, c[from:to])
		}
		return m.run.add(part, m.all)
	}
	if err := rows(m.rb, m.ri, m.rb.n); err != nil {
		return err
	}
	for {
		if err := m.q.check(); err != nil {
			return err
		}
		b, err := m.r.next()
		if err != nil {
			return err
		}
		if m.rb, m.ri = b, 0; b == nil {
			m.rdone = true
			break
		}
		end := 0
		for end < b.n && m.inRunKey(b, end) {
			end++
		}
		if err := rows(b, 0, end); err != nil {
			return err
		}
		if m.ri = end; end < b.n {
			break
		}
	}
	m.inRun, m.rj = true, -1
	return nil
}

func (m *merge) inRunKey(b *batch, i int) bool {
	for _, k := range m.rkeys {
		if b.cols[k][i] != m.run.cols[k][0] {
			return false
		}
	}
	return true
}

func (m *merge) close() {
	m.ended = true
	m.l.close()
	m.r.close()
	m.run.free()
	m.p.free()
}
