package search

import (
	"math"

	"odarchive/crawler/catalog"
)

// fact is a row with numbers for its words. It has 40 bytes and no pointers: most files of a large archive are known
// and not archived yet.
type fact struct {
	title     titleRef
	host      uint32
	typ       uint32
	set       uint32 // of portals
	licence   uint32
	publisher uint32
	figures   uint32 // of facts.figures; 0: all are zero
	outcome   uint8  // there are few
	known     bool
	delisted  bool
}

// figures are what is known of a file once it was archived.
type figures struct {
	changed   int64 // Unix milliseconds
	size      int64
	tableRows uint32 // of a table with more, as many as a number can be
	versions  uint32
}

// of returns the figures of a fact, to read.
func (f *facts) of(r *fact) *figures { return f.figures.at(r.figures) }

// setFigures sets the figures of a fact.
func (f *facts) setFigures(r *fact, to figures) {
	if r.figures == 0 {
		if to == (figures{}) {
			return
		}
		r.figures = uint32(f.figures.len())
		f.figures.grow(f.figures.len() + 1)
	}
	*f.figures.at(r.figures) = to
}

// isGone reports whether no portal lists a file any more, or the last visit could not fetch it although there are
// versions.
func (f *facts) isGone(r *fact) bool {
	return r.delisted || f.of(r).versions > 0 && f.outcomes.list[r.outcome] == string(catalog.NoVersion)
}

func (f *facts) grow(doc uint32) {
	f.rows.grow(int(doc) + 1)
	if f.figures.len() == 0 {
		f.figures.grow(1) // number 0 is none
		f.licences.number("")
		f.publishers.number("")
	}
}

func (f *facts) set(doc uint32, r row) {
	f.grow(doc)
	one := f.rows.at(doc)
	one.host, one.typ, one.set, one.outcome = f.hosts.number(r.Host), f.types.number(r.Type), f.setNumber(r.Portals),
		uint8(f.outcomes.number(string(r.Outcome)))
	one.title, one.known = f.titles.replace(one.title, r.Title), true
	figures := *f.of(one)
	figures.changed, figures.size, figures.versions = unixMilli(r.Changed), r.Size, uint32(r.Versions)
	f.setFigures(one, figures)
	if f.titles.wasteful() {
		f.packTitles()
	}
}

func (f *facts) setTraits(doc uint32, r traits) {
	f.grow(doc)
	one := f.rows.at(doc)
	one.licence, one.publisher, one.delisted = f.licences.number(r.Licence), f.publishers.number(r.Publisher), !r.Delisted.IsZero()
	figures := *f.of(one)
	figures.tableRows = uint32(min(r.Rows, math.MaxUint32))
	f.setFigures(one, figures)
}
