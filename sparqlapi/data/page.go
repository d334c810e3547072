package data

import (
	"net/http"

	"odarchive/crawler/archive"
	"odarchive/sparqlapi/problem"
)

// page collects the rows of an answer.
type page struct {
	request RowsRequest
	answer  *RowsAnswer
	columns []column
	where   []clause
	sorted  *sorter // nil if the rows keep the table's order
	read    int64   // rows of the table so far
	fit     int64   // of them, those that fulfil the condition
	size    int     // bytes of the page's cells
	facets  []facetCount
	full    bool // the page holds as many bytes as it may
}

func newPage(r RowsRequest, t archive.Table) (*page, error) {
	if r.Limit == 0 {
		r.Limit = usualLimit
	}
	if r.Bytes <= 0 {
		r.Bytes = maxBytes
	}
	p := &page{request: r, answer: &RowsAnswer{Table: nameOf(t), Offset: r.Offset, Columns: []Column{}, Rows: [][]any{},
		Total: t.Profile.Rows, Truncated: t.Profile.Truncated, Omitted: t.Profile.Omitted, Profile: t.Profile}}
	for _, c := range t.Profile.Columns {
		p.columns = append(p.columns, newColumn(c))
		p.answer.Columns = append(p.answer.Columns, Column{c.Name, c.Datatype, c.Format})
	}
	var err error
	if p.where, err = parseWhere(r.Where, p.columns); err != nil {
		return nil, problem.Wrap(http.StatusBadRequest, "Bad condition", err)
	}
	for _, c := range p.where {
		p.answer.Where = append(p.answer.Where, Comparison{p.columns[c.at].name, c.op, c.text})
	}
	if r.Facets && len(p.where) > 0 {
		for _, i := range facetColumns(t.Profile) {
			p.facets = append(p.facets, facetCount{at: i, counts: map[string]int64{}})
		}
	}
	order, err := parseOrder(r.Order, p.columns)
	if err != nil {
		return nil, problem.Wrap(http.StatusBadRequest, "Bad order", err)
	}
	if len(order) > 0 {
		if r.Offset+r.Limit > maxSorted {
			return nil, problem.Newf(http.StatusBadRequest, "Too many rows to order",
				"with an order, offset and limit together are at most %d", maxSorted)
		}
		p.sorted = &sorter{columns: p.columns, order: order, keep: r.Offset + r.Limit}
	}
	return p, nil
}

// wantsAny reports whether the table has to be read for the page.
func (p *page) wantsAny() bool {
	return len(p.where) > 0 || p.answer.Total > int64(p.request.Offset)
}

// add takes the next row of the table. It returns errEnough when no more are needed.
func (p *page) add(cells [][]byte) error {
	number := p.read
	p.read++
	if len(p.where) == 0 && p.sorted == nil && number < int64(p.request.Offset) {
		return nil
	}
	if !holdAll(p.where, p.columns, cells) {
		return nil
	}
	p.fit++
	for i := range p.facets {
		p.facets[i].add(cells)
	}
	switch {
	case p.sorted != nil:
		return p.sorted.offer(number, cells)
	case len(p.where) > 0 && p.fit <= int64(p.request.Offset):
		return nil
	case len(p.where) > 0 && (p.full || len(p.answer.Rows) == p.request.Limit):
		return nil // the rest is counted
	}
	p.put(row{number: number, cells: textsOf(cells, len(p.columns))})
	if len(p.where) > 0 {
		return nil
	}
	if p.full || len(p.answer.Rows) == p.request.Limit {
		return errEnough
	}
	return nil
}

// put adds a row to the answer, if there is room.
func (p *page) put(r row) {
	size := rowBytes
	for _, c := range r.cells {
		size += len(c) + 16
	}
	if p.full || len(p.answer.Rows) == p.request.Limit || len(p.answer.Rows) > 0 && p.size+size > p.request.Bytes {
		p.full = true
		return
	}
	p.size += size
	cells := make([]any, len(r.cells))
	for i, c := range r.cells {
		if cells[i] = c; p.request.Typed {
			cells[i] = p.columns[i].typed(c)
		}
	}
	p.answer.Rows = append(p.answer.Rows, cells)
	if len(p.where) > 0 || p.sorted != nil {
		p.answer.Numbers = append(p.answer.Numbers, r.number)
	}
}

// finish returns the answer.
func (p *page) finish() (*RowsAnswer, error) {
	if s := p.sorted; s != nil {
		s.trim()
		for _, r := range s.rows[min(p.request.Offset, len(s.rows)):] {
			p.put(r)
		}
	}
	if len(p.where) > 0 {
		p.answer.Total = p.fit
	}
	if p.request.Facets {
		if len(p.where) == 0 {
			p.answer.Facets = knownFacets(p.answer.Profile)
		}
		for i := range p.facets {
			p.answer.Facets = append(p.answer.Facets, p.facets[i].result(&p.columns[p.facets[i].at]))
		}
	}
	if next := p.request.Offset + len(p.answer.Rows); len(p.answer.Rows) > 0 && int64(next) < p.answer.Total {
		p.answer.Next = next
	}
	return p.answer, nil
}
