// Package oai harvests repositories that implement OAI-PMH 2.0, the Open Archives Initiative's Protocol for Metadata
// Harvesting, and copes with their deviations from it.
//
// A harvest asks for the repository's identity, formats and sets, and then reads its list of records in windows of
// time. A first harvest has one window, open at both ends; a later one starts shortly before the previous harvest,
// unless the repository forgets what it deletes: then a weekly harvest reads the whole list. If a
// list breaks (a rejected token, an endless page, an error at one place), the rest of the window is read in smaller
// ones: from the last datestamp on if datestamps ascend, else by halves, finally record by record. Records that cannot
// be read at all are reported and requested again by the next harvest. The mark has the remaining windows, so that an
// interrupted harvest continues in the middle of a list.
//
// A record becomes a dataset whose IRI is the request for it (GetRecord with oai_dc), in whatever format it was read.
// Dublin Core becomes dct: statements. RDF is kept unchanged. Other XML of up to 64 KiB is kept as a literal
// (arc:metadataRecord), and its titles, names, rights and links are read by their element names. Links to files become
// seeds.
//
// One answer of at most 64 MiB is in memory at a time; besides, a list needs eight bytes per page.
package oai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// Source is one repository. Fields other than URL and HTTP may be zero.
type Source struct {
	URL    string // base URL; arguments of a request are removed
	HTTP   harvest.Doer
	Portal string   // IRI of the portal; "" means URL
	Prefix string   // metadataPrefix; "" means oai_dc or, if the repository lacks it, its first format
	Sets   []string // sets to read, one list each; empty means all records
	From   string   // datestamps of the first and the last day or second to read
	Until  string
	ByOne  bool             // request each record separately (ListIdentifiers and GetRecord instead of ListRecords)
	Stats  *harvest.Traffic // counts the traffic if not nil
	Now    func() time.Time // nil means time.Now
}

// maxSets is the maximum number of sets that are described.
const maxSets = 20_000

// run is a harvest in progress.
type run struct {
	client
	src         Source
	out         harvest.Sink
	at          position
	portal      string
	prefix      string
	granularity time.Duration
	earliest    time.Time
	date        time.Time      // the repository's time at the beginning
	wanted      window         // requested period: From, Until
	dateless    bool           // the repository ignores from and until
	swapped     bool           // the declared granularity was wrong
	doubted     bool           // a list repeated itself, and that was said
	failures    int            // since the last page with records
	identity    *loose.Element // Identify
}

// Harvest implements harvest.Harvester.
func (s Source) Harvest(ctx context.Context, from string, out harvest.Sink) error {
	base, err := repository(s.URL)
	if err != nil {
		return err
	}
	if s.Stats == nil {
		s.Stats = &harvest.Traffic{}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	h := &run{client: client{base: base, doer: s.HTTP, stats: s.Stats}, src: s, out: out, at: parsePosition(from), portal: s.Portal}
	if h.portal == "" {
		h.portal = base
	}
	s.Stats.Begin(s.Now())
	defer func() { s.Stats.End(s.Now()) }()
	if h.wanted, err = s.selection(); err != nil {
		return err
	}
	if err := h.introduce(ctx); err != nil {
		return err
	}
	if len(h.at.Windows) == 0 {
		h.plan(s.isWhole() && (from == "" || h.wholeIsDue()))
	}
	if err := h.out.Portal(h.portalOf(h.identity), h.at.Whole); err != nil {
		return err
	}
	if err := h.sets(ctx); err != nil {
		return err
	}
	if err := h.windows(ctx); err != nil {
		return err
	}
	return h.finish()
}

// isWhole reports whether the source is the whole repository.
func (s Source) isWhole() bool { return s.From == "" && s.Until == "" && len(s.Sets) == 0 }

// tellsGone reports whether the repository says of every deleted record that it was deleted (section 2.5.1).
func (h *run) tellsGone() bool { return h.identity.Child("deletedRecord") == "persistent" }

// wholeIsDue reports whether the list is to be read whole, for what was deleted without a word.
func (h *run) wholeIsDue() bool {
	since := h.src.Now().Sub(h.at.Read)
	return !h.tellsGone() && (since >= harvest.WholeAfter || since < -time.Hour)
}

// Count implements harvest.Counter. It asks for the first page of identifiers, which has the size of the whole list or
// is the whole list.
func (s Source) Count(ctx context.Context) (n int, ok bool) {
	base, err := repository(s.URL)
	if err != nil || !s.isWhole() {
		return 0, false
	}
	c := client{base: base, doer: s.HTTP, stats: cmp.Or(s.Stats, &harvest.Traffic{})}
	deleted := 0
	p, err := c.ask(ctx, url.Values{"verb": {"ListIdentifiers"}, "metadataPrefix": {cmp.Or(s.Prefix, "oai_dc")}}, func(r record) error {
		if n++; r.Deleted {
			deleted++
		}
		return nil
	})
	switch {
	case err == nil && len(p.Errors) > 0:
		return 0, p.Errors[0].Code == "noRecordsMatch"
	case err != nil || !p.Listed:
		return 0, false
	case p.Token.Value == "":
		return n - deleted, true
	}
	size, err := strconv.Atoi(p.Token.Size)
	return size, err == nil && size > 0 && deleted == 0 // the size may count deleted records
}

// Select implements harvest.Selective.
func (s Source) Select(part harvest.Selection) (harvest.Harvester, error) {
	s.From, s.Until, s.Sets, s.Prefix, s.ByOne = part.Since, part.Until, part.Sets, part.Prefix, part.ByOne
	_, err := s.selection()
	return s, err
}

// Counted implements harvest.Metered.
func (s Source) Counted() *harvest.Traffic { return s.Stats }

func (s Source) selection() (w window, err error) {
	for _, end := range []struct {
		flag, text string
		to         *time.Time
	}{{"since", s.From, &w.From}, {"until", s.Until, &w.Until}} {
		t, ok := parseStamp(end.text)
		if end.text != "" && !ok {
			return w, fmt.Errorf("oai: %s %q is not a date", end.flag, end.text)
		}
		*end.to = t
	}
	return w, nil
}

// introduce asks for the repository's identity and chooses the format. If the answer is broken, it assumes the coarsest
// granularity.
func (h *run) introduce(ctx context.Context) error {
	h.granularity, h.date = byDay, h.src.Now().UTC()
	p, err := h.ask(ctx, url.Values{"verb": {"Identify"}}, ignore)
	var t *trouble
	switch {
	case errors.As(err, &t) && t.kind != "xml":
		return fmt.Errorf("oai: %w", err)
	case errors.As(err, &t):
		h.stats.Trouble(t.kind)
	case err != nil:
		return err
	case len(p.Errors) > 0:
		h.stats.Trouble(protocol(p.Errors[0]).kind)
	}
	h.identity = &p.Identify
	h.stats.Name = h.identity.Child("repositoryName")
	early := h.identity.Child("earliestDatestamp")
	if h.earliest, _ = parseStamp(early); h.earliest.Year() < 1970 { // or missing
		h.earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	granularity := h.identity.Child("granularity")
	if len(granularity) > len(time.DateOnly) || (granularity == "" && len(early) > len(time.DateOnly)) {
		h.granularity = bySecond
	}
	if d, ok := parseStamp(p.Date); ok {
		h.date = d
	}
	return h.format(ctx)
}

func ignore(record) error { return nil }

func (h *run) format(ctx context.Context) error {
	if h.prefix = h.src.Prefix; h.prefix != "" {
		return nil
	}
	h.prefix = "oai_dc"
	p, err := h.ask(ctx, url.Values{"verb": {"ListMetadataFormats"}}, ignore)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || len(p.Errors) > 0 || len(p.Formats) == 0 {
		return nil // oai_dc is mandatory
	}
	if !slices.ContainsFunc(p.Formats, func(f format) bool { return f.Prefix == h.prefix }) {
		h.prefix = p.Formats[0].Prefix
	}
	return nil
}

// plan makes the windows of a new harvest: what earlier ones missed, and what is new.
func (h *run) plan(whole bool) {
	if whole {
		h.at = position{Read: h.src.Now().UTC()}
	}
	since := h.at.Since
	if h.wanted.From.After(since) {
		since = h.wanted.From
	}
	var windows []window
	for _, hole := range h.at.Holes {
		if hole.Tries++; hole.Tries < 4 {
			windows = append(windows, hole)
		}
	}
	sets := h.src.Sets
	if len(sets) == 0 {
		sets = []string{""}
	}
	for _, s := range sets {
		windows = append(windows, window{Set: s, From: since, Until: h.wanted.Until, ByOne: h.src.ByOne})
	}
	h.at = position{Since: h.date.Add(-overlap), Windows: windows, Whole: whole, Read: h.at.Read}
}

// sets describes the repository's sets as catalogs of the portal.
func (h *run) sets(ctx context.Context) error {
	args := url.Values{"verb": {"ListSets"}}
	seen := map[string]bool{}
	for n := 0; n < maxSets; {
		p, err := h.ask(ctx, args, ignore)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || len(p.Errors) > 0 { // noSetHierarchy, or a failure: records name their sets anyway
			var t *trouble
			if errors.As(err, &t) {
				h.stats.Trouble(t.kind)
			}
			return nil
		}
		for _, s := range p.Sets {
			if err := h.oneSet(s); err != nil {
				return err
			}
			n++
		}
		if p.Token.Value == "" || seen[p.Token.Value] || len(p.Sets) == 0 {
			return nil
		}
		seen[p.Token.Value] = true
		args = url.Values{"verb": {"ListSets"}, "resumptionToken": {p.Token.Value}}
	}
	return nil
}

func (h *run) oneSet(s set) error {
	if s.Spec == "" {
		return nil
	}
	iri := term.IRI(h.catalogOf(s.Spec))
	say := []term.Quad{
		{S: iri, P: term.IRI(vocab.RDFType), O: term.IRI(vocab.DCATCatalog)},
		{S: iri, P: term.IRI(vocab.DCTIdentifier), O: term.String(s.Spec)},
		{S: term.IRI(h.portal), P: term.IRI(vocab.DCATCatalogProp), O: iri},
	}
	if s.Name != "" {
		say = append(say, term.Quad{S: iri, P: term.IRI(vocab.DCTTitle), O: term.String(s.Name)})
	}
	if s.Description != "" {
		say = append(say, term.Quad{S: iri, P: term.IRI(vocab.DCTDescription), O: term.String(s.Description)})
	}
	for _, q := range say {
		if err := h.out.Quad(q); err != nil {
			return err
		}
	}
	return nil
}

// finish sets the mark of the next harvest. If records are missing from a whole list, it returns an error, so that they
// are not withdrawn.
func (h *run) finish() error {
	next := position{Since: h.at.Since, Holes: h.at.Holes, Read: h.at.Read}
	if !h.src.closed() {
		h.out.Next(next.String())
	}
	missing := len(h.at.Holes) + h.at.Missed
	if !h.at.Whole || missing == 0 {
		return nil
	}
	if err := h.out.Mark(next.String()); err != nil {
		return err
	}
	return fmt.Errorf("oai: %d parts of the list could not be read; the others are kept, and the next harvest asks again", missing)
}

// closed reports whether the selection ends in the past, so that there is no next harvest.
func (s Source) closed() bool { return s.Until != "" }
