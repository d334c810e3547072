package main

import "math"

const (
	day  = 86400.0
	year = 365.25 * day
)

// writerOfUnchanged is the writer's share of a visit that finds nothing, as the aim for workers has it.
const writerOfUnchanged = 0.8

// firstRound is the time in seconds in which all URLs are fetched for the first time.
const firstRound = 90 * day

// load is an archive: how many URLs, how often each is visited on average.
type load struct {
	urls     float64
	interval float64 // seconds
	years    float64 // for which it has run
}

// cost is what a load costs.
type cost struct {
	visits, versions                     figure // a second
	download, parcels, shipped           figure // bytes a second: from the web, from workers to the writer, log to each replica
	writerCores, workerCores, firstRound figure
	turns                                figure // share of the serial turn's time that is used; over 1 it cannot be done
	kept                                 figure // versions
	packs, database                      figure // bytes at the end
	puts                                 figure // a day, to the object store
	open                                 figure // seconds to verify the database when it opens
}

// of computes with the low, likely and high ends of all inputs. Ranges are taken as if all inputs were at one end at
// once, which is wider than the truth.
func (m *model) of(l load) cost {
	var c cost
	at := func(end func(figure) float64, into func(*figure, float64), opposite func(figure) float64) {
		changed := math.Min(end(m.changes.figure)/year, 1/l.interval) * l.urls // no visit finds two changes
		visits := l.urls / l.interval
		failed := visits * end(m.failing.figure)
		same := math.Max(visits-changed-failed, 0)
		conditional := opposite(m.conditional.figure) // the fewer, the dearer
		not, again := same*conditional, same*(1-conditional)
		size := end(m.size.figure)
		into(&c.visits, visits)
		into(&c.versions, changed)
		into(&c.download, (changed+again)*size*end(m.deflated.figure)*1.1+(visits)*end(m.answer.figure)) // most hosts compress
		into(&c.parcels, changed*size*end(m.deflated.figure))
		into(&c.shipped, changed*end(m.logNew.figure)+(visits-changed)*end(m.logUnchanged.figure))
		rest := (not + again + failed) * end(m.notModified.figure) / 1000
		into(&c.writerCores, changed*end(m.recording.figure)/1000+rest*writerOfUnchanged)
		into(&c.workerCores, (changed*end(m.examining.figure)+again*end(m.hashing.figure))*size/1e9+rest*(1-writerOfUnchanged))
		into(&c.firstRound, l.urls*(1-end(m.failing.figure))*(end(m.examining.figure)*size/1e9+end(m.recording.figure)/1000)/firstRound)
		into(&c.turns, visits*end(m.turn.figure)/1000/opposite(m.frontierSlower.figure))
		first := l.urls * (1 - end(m.failing.figure))
		later := changed * l.years * year
		into(&c.kept, first+later)
		into(&c.packs, (first*size*end(m.deflated.figure)+later*size*end(m.changedVersion.figure))*(1+m.parity.likely))
		database := (l.urls*end(m.urlRecords.figure) + (first+later)*end(m.versionRecords.figure)) * end(m.twice.figure)
		into(&c.database, database)
		into(&c.puts, 2*changed*size*end(m.deflated.figure)*day/opposite(m.packs.figure)) // a pack and its parity
		into(&c.open, database/end(m.twice.figure)/opposite(m.verify.figure))
	}
	low, likely, high := func(f figure) float64 { return f.low }, func(f figure) float64 { return f.likely },
		func(f figure) float64 { return f.high }
	at(low, func(f *figure, v float64) { f.low = v }, high)
	at(likely, func(f *figure, v float64) { f.likely = v }, likely)
	at(high, func(f *figure, v float64) { f.high = v }, low)
	return c
}

// limit returns how many URLs one writer can visit every interval before the serial turn has no time left.
func (m *model) limit(interval float64) figure {
	rate := func(turn, slower float64) float64 { return interval * 1000 / turn * slower }
	return figure{rate(m.turn.high, m.frontierSlower.low), rate(m.turn.likely, m.frontierSlower.likely),
		rate(m.turn.low, m.frontierSlower.high)}
}
