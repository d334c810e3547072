package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab"

	"github.com/dustin/go-humanize/english"
)

// Report describes one harvest and counts what it brought. It is also the record behind the harvest's PROV activity.
type Report struct {
	ID      string    `json:"id"`     // of the activity
	Source  string    `json:"source"` // kind, address and selection: "ckan https://data.example"
	Kind    string    `json:"kind,omitempty"`
	Address string    `json:"address,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"` // zero while the harvest runs, and if the process was killed

	// What was seen: not known if the source had no need to be read, or nothing came of it before it failed.
	Portals  catalog.Figure `json:"portals,omitzero"`
	Datasets catalog.Figure `json:"datasets,omitzero"`
	Seeds    catalog.Figure `json:"seeds,omitzero"`   // listings
	Added    int            `json:"added"`            // new URLs
	Triples  catalog.Figure `json:"triples,omitzero"` // statements

	// What became of datasets, compared with what was known: not known if the harvest was stopped before, or had no
	// need to read the source.
	Inserted  catalog.Figure `json:"inserted,omitzero"`
	Updated   catalog.Figure `json:"updated,omitzero"`
	Unchanged catalog.Figure `json:"unchanged,omitzero"`
	Returned  catalog.Figure `json:"returned,omitzero"`                 // withdrawn before
	Withdrawn catalog.Figure `json:"withdrawn,omitzero"`                // not known if no portal was searched for removals
	Unlooked  int            `json:"removals_not_looked_for,omitempty"` // portals that were not
	Blind     string         `json:"removals_not_told,omitempty"`       // why, if a portal was read whole and does not let one tell
	Agreed    catalog.Figure `json:"listed_as_known,omitzero"`          // datasets of those that list as many as are known

	// Datasets that are no longer listed, and so many that their withdrawal waits for an answer: known where Withdrawn
	// is.
	Waiting catalog.Figure `json:"waiting,omitzero"`
	Asks    []string       `json:"asks,omitempty"` // the portals of those, the first of them

	Invalid  catalog.Figure `json:"invalid,omitzero"`  // things that cannot be used, as what was seen
	Unknown  int            `json:"unknown,omitempty"` // datasets that the source failed to return
	Missing  int            `json:"missing,omitempty"` // of those, datasets that the source only counts
	Skipped  []string       `json:"skipped,omitempty"` // reasons for the first of both
	Requests int            `json:"requests"`
	Bytes    int64          `json:"bytes"`             // of answers, decompressed
	Traffic  *Traffic       `json:"traffic,omitempty"` // set if the harvester counts more
	Limited  bool           `json:"limited,omitempty"`

	NotModified bool   `json:"not_modified,omitempty"` // the source has not changed since the last harvest and was not read
	Error       string `json:"error,omitempty"`
}

// Took returns the duration of a harvest, 0 while it runs.
func (r Report) Took() time.Duration {
	if r.Ended.IsZero() {
		return 0
	}
	return r.Ended.Sub(r.Started)
}

// begin sets what is counted to 0.
func (r *Report) begin() {
	none := catalog.Counted(0)
	r.Portals, r.Datasets, r.Seeds, r.Triples, r.Invalid = none, none, none, none, none
}

// forget makes what is counted not known, because the source was not read.
func (r *Report) forget() {
	none := catalog.Figure{}
	r.Portals, r.Datasets, r.Seeds, r.Triples, r.Invalid = none, none, none, none, none
}

// came reports whether anything came of the source.
func (r *Report) came() bool {
	return r.Portals.N()+r.Datasets.N()+r.Seeds.N()+r.Triples.N()+r.Invalid.N()+r.Unknown > 0 ||
		r.Traffic != nil && r.Traffic.Records > 0
}

// add adds what the commit of a portal changed. looked is whether it has found all datasets that the portal ceased to
// list.
func (r *Report) add(c Changes, looked bool) {
	r.Inserted = r.Inserted.Plus(catalog.Counted(c.Inserted))
	r.Updated = r.Updated.Plus(catalog.Counted(c.Updated))
	r.Unchanged = r.Unchanged.Plus(catalog.Counted(c.Unchanged))
	r.Returned = r.Returned.Plus(catalog.Counted(c.Returned))
	if looked || c.Withdrawn > 0 { // a source may name some of those that are gone
		r.Withdrawn = r.Withdrawn.Plus(catalog.Counted(c.Withdrawn))
	}
	if looked || c.Waiting > 0 { // some may wait since an earlier harvest
		r.Waiting = r.Waiting.Plus(catalog.Counted(c.Waiting))
	}
	if !looked {
		r.Unlooked++
	}
}

// Change says what became of the datasets, in words.
func (r Report) Change() string {
	if !r.Inserted.Known() {
		return "not compared with what was known"
	}
	gone := r.Withdrawn.N()
	text := fmt.Sprintf("%d new, %d changed, %d unchanged, %d withdrawn, %d listed again", r.Inserted.N(), r.Updated.N(), r.Unchanged.N(),
		gone, r.Returned.N())
	switch {
	case !r.Withdrawn.Known():
		text = fmt.Sprintf("%d new, %d changed, %d unchanged, %d listed again; removals not looked for", r.Inserted.N(), r.Updated.N(),
			r.Unchanged.N(), r.Returned.N())
	case r.Unlooked > 0 && r.Portals.N() > 1:
		text += fmt.Sprintf("; removals not looked for in %d of %d portals", r.Unlooked, r.Portals.N())
	case r.Unlooked > 0:
		text += "; further removals not looked for"
	}
	if r.Unlooked > 0 && r.Blind != "" {
		text += ": " + r.Blind
	} else if r.Unlooked > 0 && r.Agreed.Known() && r.Portals.N() == 1 {
		text += fmt.Sprintf(" (the portal lists %d datasets, as many as are known)", r.Agreed.N())
	}
	return text
}

// Fileless says that no dataset that was read has a file to fetch, "" if one has.
func (r Report) Fileless() string {
	if r.Datasets.N() == 0 || r.Seeds.N() > 0 || r.Limited {
		return ""
	}
	return english.Plural(r.Datasets.N(), "dataset", "") + ", none with a file to fetch"
}

// activityID returns the ID of a harvest, derived from its source and start.
func activityID(source string, started time.Time) string {
	sum := sha256.Sum256([]byte(source))
	return fmt.Sprintf("harvest-%s-%d", hex.EncodeToString(sum[:6]), started.UnixMilli())
}

// Quads describes the harvest as a PROV activity, in the default graph.
func (r Report) Quads(m ns.Mint) []term.Quad {
	s := &statements{}
	s.about(term.IRI(m.Activity(r.ID)))
	s.isA(vocab.PROVActivity)
	s.add(vocab.RDFType, term.IRI(vocab.ArcHarvest))
	s.text(vocab.RDFSLabel, "Harvest of "+r.Source)
	s.text(vocab.ArcHarvestKind, r.Kind)
	if address, ok := AsIRI(r.Address); ok {
		s.add(vocab.PROVUsed, term.IRI(address))
	}
	s.add(vocab.PROVWasAssociatedWith, term.IRI(m.Agent()))
	s.add(vocab.PROVStartedAtTime, instant(r.Started))
	if r.Ended.IsZero() {
		return s.quads
	}
	s.add(vocab.PROVEndedAtTime, instant(r.Ended))
	for _, count := range []struct {
		predicate string
		n         catalog.Figure
	}{
		{vocab.ArcPortals, r.Portals}, {vocab.ArcDatasets, r.Datasets}, {vocab.ArcHarvested, r.Seeds},
		{vocab.ArcAdded, catalog.Counted(r.Added)}, {vocab.ArcInserted, r.Inserted}, {vocab.ArcUpdated, r.Updated},
		{vocab.ArcUnchanged, r.Unchanged},
		{vocab.ArcWithdrawn, r.Withdrawn}, {vocab.ArcReturned, r.Returned}, {vocab.ArcInvalid, r.Invalid},
		{vocab.ArcRequests, catalog.Counted(r.Requests)}, {vocab.ArcBytes, catalog.Counted(r.Bytes)},
	} {
		if count.n.Known() {
			s.add(count.predicate, term.Typed(count.n.String(), vocab.XSDInteger))
		}
	}
	s.text(vocab.ArcWhy, r.Error)
	return s.quads
}

func instant(t time.Time) term.Key {
	return term.Typed(t.UTC().Format("2006-01-02T15:04:05.000Z"), vocab.XSDDateTime)
}
