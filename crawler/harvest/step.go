package harvest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"

	"github.com/dustin/go-humanize/english"
)

// step is the Sink of a Run. It collects until a mark.
type step struct {
	ctx    context.Context // of the Run
	keeper Keeper
	opts   Options
	report Report

	seeds   []catalog.Seed
	entries []Entry
	subject map[term.Key]int // indexes of the entries about other subjects
	quads   []term.Quad
	size    int // approximate bytes of statements

	mark   string // of the last step kept
	next   string // mark of the next harvest
	portal Portal // current one; without an IRI there is none
	whole  bool
	again  bool           // the source was read again (read)
	agreed catalog.Figure // datasets that the portal lists, as many as are known
	total  catalog.Figure // of Ending
	names  []string       // of Ending
	short  int            // of Ending
	namer  Namer          // the Harvester, if it is one
	named  bool           // the portal names all datasets that are known, so that none was removed
	blind  string         // why nobody can tell what the portal no longer lists
	found  found
	broken error // the keeper's
}

const (
	maxStepBytes  = 1500 << 10 // of statements kept at once, approximately
	maxStatements = 250_000    // per dataset: 20,000 distributions
	maxStatement  = 64 << 10   // bytes per statement
	maxResources  = 20_000     // recorded as a dataset's own
	maxSkipped    = 20         // sentences per report
	maxAsks       = 20         // portals that a report names
)

func (s *step) Portal(p Portal, whole bool) error {
	iri, ok := AsIRI(p.IRI)
	if !ok {
		return fmt.Errorf("the portal's name %q is not an IRI", p.IRI)
	}
	if p.IRI = iri; s.portal.IRI != p.IRI {
		if err := s.endPortal(s.whole); err != nil {
			return err
		}
		if err := s.keeper.Open(s.ctx, s.report, p.IRI, whole, s.opts.Fresh); err != nil {
			return err
		}
		s.report.Portals.Add(1)
	}
	s.portal, s.whole = p, whole
	for _, q := range p.Quads() {
		s.addStatement(q)
	}
	return s.ctx.Err()
}

// endPortal commits what was found of the portal. A portal of which nothing ever came is as if it had not been opened:
// otherwise it would belong to this kind of source, and the one that a person tries next would be refused.
func (s *step) endPortal(whole bool) error {
	never, err := s.neverListed()
	if err != nil {
		s.broken = err
		return err
	}
	if never {
		s.entries = s.entries[:0]
		s.leavePortal()
		clear(s.subject)
		return s.keep(s.mark)
	}
	if err := s.keep(s.mark); err != nil || s.portal.IRI == "" {
		return err
	}
	ending := Ending{Whole: whole, Sure: s.opts.Sure, Total: s.total, Names: s.names, Short: s.short}
	if s.short > 0 && s.namer != nil {
		names, _ := s.namer.Names(s.ctx)
		ending.Named = len(names)
	}
	changes, err := s.keeper.Commit(s.ctx, s.report, s.portal.IRI, ending)
	if err != nil {
		s.broken = err
		return err
	}
	if whole && s.found.begun && changes == (Changes{}) && s.report.Unknown == 0 {
		left, err := s.keeper.Listed(s.ctx, s.report, s.portal.IRI) // all that is listed came before the interruption
		if err != nil {
			s.broken = err
			return err
		}
		s.found.brought += left
	}
	if !s.report.NotModified {
		s.report.add(changes, whole && !changes.Blind || s.named || s.portal.TellsGone)
	}
	if changes.Blind {
		s.report.Blind = cmp.Or(s.report.Blind, s.blind)
	}
	s.settle(whole && !changes.Blind)
	if came := changes.Inserted + changes.Updated + changes.Unchanged + changes.Returned; s.again && came > s.report.Datasets.N() {
		s.report.Datasets = catalog.Counted(came) // both readings brought some
	}
	s.report.Agreed = s.report.Agreed.Plus(s.agreed)
	s.found.brought += changes.Inserted + changes.Updated + changes.Unchanged + changes.Returned
	if changes.Waiting > 0 && len(s.report.Asks) < maxAsks {
		s.report.Asks = append(s.report.Asks, s.portal.IRI)
	}
	s.leavePortal()
	s.found.ofPortal = 0
	return nil
}

// settle decides what becomes of datasets that the portal counts and did not return. If a whole harvest missed as many
// before, and the portal does not name more than came, then it counts what it does not show. Otherwise the harvest is
// not complete, and the next one begins anew.
func (s *step) settle(known bool) {
	switch {
	case s.short == 0:
	case known:
		s.report.Unknown -= s.short
		s.report.Missing -= s.short
		s.note(fmt.Sprintf("the portal %s again counts %s more than it shows: they are taken as hidden", s.portal.IRI,
			english.Plural(s.short, "dataset", "")))
	default:
		s.next = ""
	}
}

func (s *step) leavePortal() {
	s.portal, s.blind, s.short = Portal{}, "", 0
	s.agreed, s.total, s.names, s.named = catalog.Figure{}, catalog.Figure{}, nil, false
}

// neverListed reports whether neither this harvest nor an earlier one has found anything in the current portal.
func (s *step) neverListed() (bool, error) {
	if s.portal.IRI == "" || s.found.ofPortal > 0 || s.found.begun || s.report.NotModified {
		return false, nil
	}
	n, err := s.keeper.Listed(s.ctx, s.report, s.portal.IRI)
	return n == 0 && err == nil, err
}

func (s *step) Dataset(d Dataset) error {
	if s.full() {
		return errLimit
	}
	iri, ok := AsIRI(d.IRI)
	if !ok || s.portal.IRI == "" {
		s.Skip(fmt.Sprintf("dataset %q has no IRI, or no portal", d.IRI))
		return s.ctx.Err()
	}
	d.IRI = iri
	d.Distributions = slices.Clone(d.Distributions)
	for i := range d.Distributions {
		d.Distributions[i].URL = withScheme(d.Distributions[i].URL)
	}
	s.report.Datasets.Add(1)
	s.found.ofPortal++
	e := Entry{Dataset: d.IRI, Quads: d.Quads(s.portal.IRI)}
	for i, q := range e.Quads {
		e.Quads[i] = withoutSecrets(q)
	}
	e.Quads = slices.DeleteFunc(e.Quads, s.tooLong)
	if len(e.Quads) > maxStatements {
		s.Skip(fmt.Sprintf("dataset %s has %d statements; the first %d were kept", d.IRI, len(e.Quads), maxStatements))
		e.Quads = e.Quads[:maxStatements]
	}
	for _, dist := range d.Distributions {
		if !dist.Service {
			s.found.listed++
		}
	}
	s.found.listed += d.Unaddressed
	seeds := d.Seeds(s.portal)
	for i := range seeds {
		var secret bool
		if seeds[i].URL, secret = address.WithoutSecret(seeds[i].URL); secret {
			s.note(fmt.Sprintf("a user or password was taken out of %s in dataset %s", seeds[i].URL, d.IRI))
		}
	}
	for _, seed := range seeds {
		if key, err := address.Key(seed.URL); err == nil && len(e.Resources) < maxResources {
			e.Resources = append(e.Resources, ns.ResourceID(key))
		}
	}
	s.entries = append(s.entries, e)
	s.count(e.Quads)
	for _, seed := range seeds {
		if s.limit() {
			return errLimit
		}
		if err := s.Seed(seed); err != nil {
			return err
		}
	}
	s.progress()
	return s.keepIfFull()
}

func (s *step) Gone(dataset string) error {
	if iri, ok := AsIRI(dataset); ok && s.portal.IRI != "" {
		s.entries = append(s.entries, Entry{Dataset: iri, Gone: true})
	}
	return s.ctx.Err()
}

func (s *step) Unknown(dataset, why string) error {
	n, counted := missing(dataset)
	s.report.Unknown += n
	if counted {
		s.report.Missing += n
		s.short += n
	}
	s.note(why)
	s.progress()
	if s.portal.IRI != "" {
		e := Entry{Kept: true, Fault: dataset}
		if iri, ok := AsIRI(dataset); ok {
			e = Entry{Kept: true, Dataset: iri}
		} else {
			s.blind = cmp.Or(s.blind, address.Redact(why))
		}
		s.entries = append(s.entries, e)
	}
	return s.keepIfFull()
}

// full reports whether the limit excludes another dataset; limit, whether it excludes another seed.
func (s *step) full() bool {
	return s.limit() || s.opts.Limit > 0 && s.report.Datasets.N() >= s.opts.Limit
}

func (s *step) limit() bool { return s.opts.Limit > 0 && s.report.Seeds.N() >= s.opts.Limit }

func (s *step) Seed(seed catalog.Seed) error {
	if s.limit() {
		return errLimit
	}
	seed.URL, _ = address.WithoutSecret(withScheme(seed.URL))
	s.report.Seeds.Add(1)
	s.found.ofPortal++
	s.found.listed = max(s.found.listed, s.report.Seeds.N())
	if _, err := address.Parse(seed.URL); err != nil {
		s.report.Invalid.Add(1)
		s.note(fmt.Sprintf("in dataset %s: %v", seed.Dataset, err))
		return nil
	}
	s.found.taken++
	s.seeds = append(s.seeds, seed)
	return s.keepIfFull()
}

func (s *step) Quad(q term.Quad) error {
	graph := q.G
	s.found.statements++
	s.found.ofPortal++
	q, ok := valid(q)
	switch {
	case !ok:
		s.Skip(fmt.Sprintf("%.1000q is not a statement", []term.Key{q.S, q.P, q.O}))
	case s.tooLong(q):
	case s.portal.IRI != "":
		s.addStatement(q)
	default:
		q.G = graph
		s.quads = append(s.quads, q)
		s.count([]term.Quad{q})
	}
	return s.keepIfFull()
}

// tooLong reports whether a statement is too long for a record, and skips it if so.
func (s *step) tooLong(q term.Quad) bool {
	size := len(q.S) + len(q.P) + len(q.O)
	if size <= maxStatement {
		return false
	}
	s.Skip(fmt.Sprintf("a statement of %d bytes about %.300q is left out: at most %d are kept", size, string(q.S), maxStatement))
	return true
}

// addStatement adds a statement of the portal to the entry about its subject.
func (s *step) addStatement(q term.Quad) {
	at, ok := s.subject[q.S]
	if !ok {
		at = len(s.entries)
		s.entries = append(s.entries, Entry{Subject: q.S})
		if s.subject == nil {
			s.subject = map[term.Key]int{}
		}
		s.subject[q.S] = at
	}
	s.entries[at].Quads = append(s.entries[at].Quads, q)
	s.count([]term.Quad{q})
}

func (s *step) count(quads []term.Quad) {
	s.report.Triples.Add(len(quads))
	for _, q := range quads {
		s.size += len(q.S) + len(q.P) + len(q.O)
	}
}

// keepIfFull keeps what was collected if it is enough for a step.
func (s *step) keepIfFull() error {
	if len(s.seeds) >= s.opts.Step || len(s.entries) >= s.opts.Step || s.size >= maxStepBytes {
		return s.keep(s.mark)
	}
	return s.ctx.Err()
}

func (s *step) Mark(token string) error { return s.keep(token) }

func (s *step) Next(token string) { s.next = token }

func (s *step) NotModified(token string) {
	s.next, s.report.NotModified = token, true
	s.report.forget()
}

func (s *step) Skip(why string) {
	s.report.Invalid.Add(1)
	s.note(why)
}

func (s *step) note(why string) {
	if len(s.report.Skipped) < maxSkipped {
		s.report.Skipped = append(s.report.Skipped, address.Redact(why))
	}
}

func (s *step) keep(mark string) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	added, err := s.keeper.Keep(s.ctx,
		Step{Source: s.report.Source, Portal: s.portal.IRI, Seeds: s.seeds, Entries: s.entries, Quads: s.quads, Mark: mark,
			Graphs: s.opts.Graphs})
	if err != nil {
		s.broken = err
		return err
	}
	s.report.Added += added
	s.seeds, s.entries, s.quads, s.size, s.mark = s.seeds[:0], s.entries[:0], s.quads[:0], 0, mark
	clear(s.subject)
	s.progress()
	return nil
}

// progress tells the caller how far the harvest is.
func (s *step) progress() {
	s.traffic()
	if s.opts.Progress != nil {
		s.opts.Progress(s.report)
	}
}

func (s *step) traffic() {
	if s.opts.Meter != nil {
		s.report.Requests, s.report.Bytes = s.opts.Meter()
	}
}
