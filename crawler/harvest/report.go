package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"odarchive/ns"
	"odarchive/triplestore/term"
	"odarchive/vocab/arc"
	"odarchive/vocab/prov"
	"odarchive/vocab/rdf"
	"odarchive/vocab/rdfs"
	"odarchive/vocab/xsd"
)

// Report describes one harvest and counts what it brought. It is also the record behind the harvest's PROV activity.
type Report struct {
	ID      string    `json:"id"`     // of the activity
	Source  string    `json:"source"` // kind, address and selection: "ckan https://data.example"
	Kind    string    `json:"kind,omitempty"`
	Address string    `json:"address,omitempty"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"` // zero while the harvest runs, and if the process was killed

	Portals  int `json:"portals"`
	Datasets int `json:"datasets"` // seen
	Seeds    int `json:"seeds"`    // listings seen
	Added    int `json:"added"`    // new URLs
	Triples  int `json:"triples"`  // statements seen

	Inserted  int `json:"inserted"` // datasets
	Updated   int `json:"updated"`
	Unchanged int `json:"unchanged"`
	Withdrawn int `json:"withdrawn"`
	Returned  int `json:"returned"` // withdrawn before

	Waiting int      `json:"waiting,omitempty"` // datasets that are no longer listed, and so many that their withdrawal waits for an answer
	Asks    []string `json:"asks,omitempty"`    // the portals of those, the first of them

	Invalid  int      `json:"invalid"`           // things that cannot be used
	Unknown  int      `json:"unknown,omitempty"` // datasets that the source failed to return
	Skipped  []string `json:"skipped,omitempty"` // reasons for the first of both
	Requests int      `json:"requests"`
	Bytes    int64    `json:"bytes"`             // of answers, decompressed
	Traffic  *Traffic `json:"traffic,omitempty"` // set if the harvester counts more
	Limited  bool     `json:"limited,omitempty"`

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

// activityID returns the ID of a harvest, derived from its source and start.
func activityID(source string, started time.Time) string {
	sum := sha256.Sum256([]byte(source))
	return fmt.Sprintf("harvest-%s-%d", hex.EncodeToString(sum[:6]), started.UnixMilli())
}

// Quads describes the harvest as a PROV activity, in the default graph.
func (r Report) Quads(m ns.Mint) []term.Quad {
	s := &statements{}
	s.about(term.IRI(m.Activity(r.ID)))
	s.isA(prov.Activity)
	s.add(rdf.Type, term.IRI(arc.Harvest))
	s.text(rdfs.Label, "Harvest of "+r.Source)
	s.text(arc.HarvestKind, r.Kind)
	if address, ok := AsIRI(r.Address); ok {
		s.add(prov.Used, term.IRI(address))
	}
	s.add(prov.WasAssociatedWith, term.IRI(m.Agent()))
	s.add(prov.StartedAtTime, instant(r.Started))
	if r.Ended.IsZero() {
		return s.quads
	}
	s.add(prov.EndedAtTime, instant(r.Ended))
	for _, count := range []struct {
		predicate string
		n         int64
	}{
		{arc.Portals, int64(r.Portals)}, {arc.Datasets, int64(r.Datasets)}, {arc.Harvested, int64(r.Seeds)}, {arc.Added, int64(r.Added)},
		{arc.Inserted, int64(r.Inserted)}, {arc.Updated, int64(r.Updated)}, {arc.Unchanged, int64(r.Unchanged)}, {arc.Withdrawn, int64(r.Withdrawn)},
		{arc.Returned, int64(r.Returned)}, {arc.Invalid, int64(r.Invalid)}, {arc.Requests, int64(r.Requests)}, {arc.Bytes, r.Bytes},
	} {
		s.add(count.predicate, term.Typed(strconv.FormatInt(count.n, 10), xsd.Integer))
	}
	s.text(arc.Why, r.Error)
	return s.quads
}

func instant(t time.Time) term.Key {
	return term.Typed(t.UTC().Format("2006-01-02T15:04:05.000Z"), xsd.DateTime)
}
