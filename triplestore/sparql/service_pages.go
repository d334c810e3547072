package sparql

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/internal/algebra"
	"odarchive/triplestore/sparql/internal/exec"
	"odarchive/triplestore/term"
)

// Many public endpoints cut answers off after a number of rows, with status 200 and without saying so. If the length of
// an answer looks like such a limit, the endpoint is asked for the rows that follow.
//
// Each page begins with the last row of the page before. If that row differs, the endpoint does not keep its solutions
// in a fixed order; then all solutions are requested again with ORDER BY, and those that were passed on already are
// skipped.

// pager reads one answer, page by page.
type pager struct {
	f    *Federation
	ctx  context.Context
	ep   *endpoint
	text string // the query for all solutions
	vars []algebra.Var
	out  chan<- []term.Key

	passed int64      // rows passed on
	some   *bool      // is set before the first row is passed on
	last   []term.Key // the last row passed on
	blanks bool       // a row has a blank node
	broken bool       // a row has a term that is not RDF
	seed   maphash.Seed
	sums   []uint64 // hashes of the rows passed on
}

// read requests an answer and passes its solutions on to out. It sets *some before the first one.
func (f *Federation) read(ctx context.Context, req exec.ServiceRequest, form rowForm, ep *endpoint, out chan<- []term.Key,
	some *bool) error {
	p := &pager{f: f, ctx: ctx, ep: ep, text: serviceQuery(req, form), vars: req.Vars, out: out, some: some, seed: maphash.MakeSeed()}
	first, err := p.page(nil, 0, p.pass)
	switch {
	case err != nil:
		return err
	case first.partial:
		return ep.incomplete("the endpoint says that its answer is not complete")
	case !ep.mayBeCut(first.rows, first.max), req.Rows == nil && int64(first.rows) == ownLimit(req.Op.In):
		return nil
	}
	p.sums = slices.Clip(p.sums)
	err = p.follow(first.rows)
	if errors.Is(err, errUnordered) {
		err = p.inOrder(first.rows)
	}
	refused, _ := errors.AsType[*refusal](err)
	switch {
	case refused != nil:
		return ep.incomplete(fmt.Sprintf("it sent exactly %d rows, which may be its limit, and no further page (%v)", first.rows, refused))
	case errors.Is(err, errUnordered):
		return ep.incomplete(fmt.Sprintf("it sent exactly %d rows, which may be its limit, and its pages do not fit together", first.rows))
	case err == nil && p.blanks && p.passed > int64(first.rows):
		ep.warn(fmt.Sprintf("SERVICE <%s>: the answer came in pages, so a blank node that is on several of them counts as several",
			ep.address))
	}
	return err
}

// follow requests the pages after the first one, which had n rows. The error is errUnordered if a page does not
// continue the one before.
func (p *pager) follow(n int) error {
	for total := n; ; {
		next, err := p.page(nil, total-1, func(i int, row []term.Key) error {
			if i > 0 {
				return p.pass(i, row)
			}
			if !p.same(row, p.last) {
				return errUnordered
			}
			return nil
		})
		switch {
		case err != nil:
			return err
		case next.rows == 0:
			return errUnordered
		case next.partial:
			return p.ep.incomplete("the endpoint says that its answer is not complete")
		case next.rows == 1:
			return nil
		}
		p.ep.wasCut(n)
		if total += next.rows - 1; next.rows < n {
			return nil
		}
	}
}

// errUnordered is the error of pages that do not continue each other.
var errUnordered = errors.New("the pages are not parts of one answer")

// inOrder requests all pages with ORDER BY, and passes on the rows that were not passed on before. n is the number of
// rows of an answer that was cut off.
func (p *pager) inOrder(n int) error {
	order := slices.DeleteFunc(slices.Clone(p.vars), func(v algebra.Var) bool { return strings.HasPrefix(string(v), ".") })
	if len(order) == 0 {
		return errUnordered
	}
	came := make(map[uint64]int, len(p.sums))
	for _, s := range p.sums {
		came[s]++
	}
	left := len(p.sums)
	p.sums = nil
	var last []term.Key
	for total := 0; ; {
		from := max(total-1, 0)
		next, err := p.page(order, from, func(i int, row []term.Key) error {
			if i == 0 && total > 0 {
				if !p.same(row, last) {
					return errUnordered
				}
				return nil
			}
			last = append(last[:0], row...)
			if sum := p.sum(row); came[sum] > 0 {
				came[sum]--
				left--
				return nil
			}
			return p.send(row)
		})
		if err != nil {
			return err
		}
		total = from + next.rows
		if next.rows < n || next.rows <= 1 {
			break
		}
		p.ep.wasCut(n)
	}
	if left > 0 {
		return errUnordered
	}
	return nil
}

// page describes the answer to one request.
type page struct {
	rows    int
	max     int  // limit of rows that the endpoint names; 0 if it names none
	partial bool // the endpoint says that the answer is not complete
}

// page sends one request and calls each with its rows, which are valid during the call.
func (p *pager) page(order []algebra.Var, offset int, each func(i int, row []term.Key) error) (page, error) {
	in, err := p.f.ask(p.ctx, p.ep.address, pageQuery(p.text, order, offset), p.vars)
	if err != nil {
		return page{}, err
	}
	defer in.Close()
	for n := 0; ; n++ {
		row, err := in.Next()
		if err != nil {
			return page{}, err
		}
		if row == nil {
			return page{rows: n, max: in.max, partial: in.partial}, nil
		}
		if err := each(n, row); err != nil {
			return page{}, err
		}
	}
}

// pass passes a row on and remembers it for follow and inOrder.
func (p *pager) pass(_ int, row []term.Key) error {
	p.last = append(p.last[:0], row...)
	p.sums = append(p.sums, p.sum(row))
	return p.send(row)
}

// send passes a row on.
func (p *pager) send(row []term.Key) error {
	limit := p.f.MaxRows
	if limit <= 0 {
		limit = defaultServiceRows
	}
	if p.passed++; p.passed > limit {
		return fmt.Errorf("more than %d rows: %w", limit, ErrTooLarge)
	}
	if !p.broken {
		p.warnOfBroken(row)
	}
	p.blanks = p.blanks || slices.ContainsFunc(row, func(k term.Key) bool { return k.Kind() == term.KindBlank })
	*p.some = true
	select {
	case p.out <- slices.Clone(row):
		return nil
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	}
}

// warnOfBroken adds a warning if a row has a term that is not RDF. Some endpoints have such terms, for example IRIs
// with spaces. They can be in a result, but not in a graph (see filler).
func (p *pager) warnOfBroken(row []term.Key) {
	for _, k := range row {
		if err := rdfio.Check(term.Quad{S: term.IRI("s:s"), P: term.IRI("p:p"), O: k}); k != "" && err != nil {
			p.broken = true
			p.ep.warn(fmt.Sprintf("SERVICE <%s>: the answer has terms that are not RDF; triples with them are left out: %v", p.ep.address,
				err))
			return
		}
	}
}

// sum returns a hash of a row. All blank nodes count as equal, since their labels may differ from page to page.
func (p *pager) sum(row []term.Key) uint64 {
	var h maphash.Hash
	h.SetSeed(p.seed)
	for _, k := range row {
		if k.Kind() == term.KindBlank {
			k = "_"
		}
		h.WriteString(string(k))
		h.WriteByte(0xff) // ends the term: no term contains this byte
	}
	return h.Sum64()
}

// same reports whether two rows may be the same one.
func (p *pager) same(a, b []term.Key) bool { return p.sum(a) == p.sum(b) }

// wasCut records that an answer of n rows was not complete.
func (e *endpoint) wasCut(n int) { e.cut.CompareAndSwap(0, int64(n)) }

// mayBeCut reports whether an answer of n rows may be cut off there. max is the limit that the endpoint has named, or
// 0.
func (e *endpoint) mayBeCut(n, max int) bool {
	if max > 0 {
		return n >= max
	}
	cut := int(e.cut.Load())
	return cut > 0 && n >= cut || isRound(n)
}

// leastCut is the smallest number of rows that isRound takes for a limit.
const leastCut = 100

// isRound reports whether n looks like a limit that a person has set, such as 100, 250, 2000, 10000 or 1024.
func isRound(n int) bool {
	if n < leastCut {
		return false
	}
	if n&(n-1) == 0 {
		return true
	}
	for n%10 == 0 {
		n /= 10
	}
	return n < 10 || n < 100 && n%10 == 5
}

// declaredMax returns the limit of rows that an endpoint names in its answer, or 0. Virtuoso names its limit when it
// has applied it.
func declaredMax(h http.Header) int {
	n, err := strconv.Atoi(h.Get("X-SPARQL-MaxRows"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// declaredPartial reports whether an endpoint says that it has ended the query before it found all rows. Virtuoso says
// so when the query's time is over.
func declaredPartial(h http.Header) bool {
	return h.Get("X-SQL-State") == "S1TAT"
}
