package search

import (
	"fmt"
	"strconv"
	"time"

	"odarchive/crawler/catalog"
)

// counter counts the facets of an answer.
type counter struct {
	facts                                    *facts
	now                                      int64 // Unix milliseconds
	hosts, types, sets, licences, publishers []facetCount
	ages, sizes, rows                        []facetCount
	gone                                     facetCount
}

// ageDays, sizeSteps and rowSteps are where the facets of time, size and rows are divided.
var (
	ageDays   = []int64{1, 7, 30, 90, 365}
	sizeSteps = []int64{1, 10_000, 1_000_000, 100_000_000}
	rowSteps  = []int64{1, 100, 10_000, 1_000_000}
)

func newCounter(f *facts, q question) *counter {
	of := func(n int) []facetCount { return make([]facetCount, n) }
	return &counter{facts: f, now: q.now.UnixMilli(), hosts: of(len(f.hosts.list)), types: of(len(f.types.list)), sets: of(len(f.setOf)),
		licences:   of(len(f.licences.list)),
		publishers: of(len(f.publishers.list)), ages: of(len(ageDays)), sizes: of(len(sizeSteps)), rows: of(len(rowSteps))}
}

func (c *counter) add(r *fact, figures *figures) {
	size := figures.size
	c.hosts[r.host].add(size)
	c.types[r.typ].add(size)
	c.sets[r.set].add(size)
	c.licences[r.licence].add(size)
	c.publishers[r.publisher].add(size)
	if figures.changed != 0 {
		age := c.now - figures.changed
		for i, days := range ageDays {
			if age <= days*int64(24*time.Hour/time.Millisecond) {
				c.ages[i].add(size)
			}
		}
	}
	if c.facts.isGone(r) {
		c.gone.add(size)
	}
	addStep(c.sizes, sizeSteps, size, size)
	addStep(c.rows, rowSteps, int64(figures.tableRows), size)
}

// addStep counts a file of a size in the last step that its figure reaches.
func addStep(counts []facetCount, steps []int64, figure, size int64) {
	for i := len(steps) - 1; i >= 0; i-- {
		if figure >= steps[i] {
			counts[i].add(size)
			return
		}
	}
}

func (c *counter) report(found *catalog.Found) {
	f := c.facts
	portals := make([]facetCount, len(f.portals.list))
	for set, t := range c.sets {
		for _, p := range f.setOf[set] {
			portals[p].n += t.n
			portals[p].bytes += t.bytes
		}
	}
	found.Hosts, found.Types, found.Portals = largest(f.hosts.list, c.hosts), largest(f.types.list, c.types),
		largest(f.portals.list, portals)
	found.Licences, found.Publishers = largest(f.licences.list, c.licences), largest(f.publishers.list, c.publishers)
	for i, t := range c.ages {
		if t.n > 0 && (i == 0 || t.n > c.ages[i-1].n) {
			found.Ages = append(found.Ages, catalog.Count{Key: strconv.FormatInt(ageDays[i], 10), Count: t.n, Bytes: t.bytes})
		}
	}
	found.Gone = c.gone.n
	found.Sizes, found.TableRows = stepCounts(sizeSteps, c.sizes), stepCounts(rowSteps, c.rows)
}

func stepCounts(steps []int64, counts []facetCount) (list []catalog.Count) {
	for i, t := range counts {
		if t.n == 0 {
			continue
		}
		key := fmt.Sprintf("%d..", steps[i])
		if i+1 < len(steps) {
			key += strconv.FormatInt(steps[i+1]-1, 10)
		}
		list = append(list, catalog.Count{Key: key, Count: t.n, Bytes: t.bytes})
	}
	return list
}
