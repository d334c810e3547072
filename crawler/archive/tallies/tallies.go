package archive

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/triplestore/kv"
)

// tally is what is counted of one thing: a portal, a host, a media type, a day, or the whole archive.
type tally struct {
	Datasets  int `json:",omitempty"`
	Resources int `json:",omitempty"`
	Crawled   int `json:",omitempty"`
	Versions  int `json:",omitempty"`
	Visits    int `json:",omitempty"`
	Bytes     int64
	Outcomes  map[catalog.Outcome]int `json:",omitempty"`
	Changes   Changes                 `json:",omitzero"`
	Title     string                  `json:",omitempty"` // of a portal
}

// Changes sums up how versions differed from the ones before them.
type Changes struct {
	Versions       int   `json:"changes"` // versions that had one before them
	RowsAdded      int64 `json:"rowsAdded"`
	RowsRemoved    int64 `json:"rowsRemoved"`
	RowsChanged    int64 `json:"rowsChanged"`
	ColumnsAdded   int64 `json:"columnsAdded"`
	ColumnsRemoved int64 `json:"columnsRemoved"`
	BytesChanged   int64 `json:"bytesChanged"`
}

// change adds one; a version that was not compared counts as a change without figures.
func (n *tally) change(s *diff.Summary) {
	c := &n.Changes
	c.Versions++
	if s == nil {
		return
	}
	c.RowsAdded += s.RowsAdded
	c.RowsRemoved += s.RowsRemoved
	c.RowsChanged += s.RowsChanged
	c.ColumnsAdded += s.ColumnsAdded
	c.ColumnsRemoved += s.ColumnsRemoved
	c.BytesChanged += s.BytesChanged
}

// The names of what is counted; countAll has one key, "".
const (
	countAll    = "all"
	countHost   = "host"
	countPortal = "portal"
	countType   = "type" // by media type of every version
	countDay    = "day"  // by day of crawl, "2026-11-21"
)

// count changes one tally. It is exact because writers are serialised: nobody changes it between reading and writing.
func (t tables) count(name, what string, change func(*tally)) error {
	if t.finding != nil && t.finding.tallies != nil {
		n, err := t.gathered(counted{name, what})
		if err == nil {
			change(n)
		}
		return err
	}
	k := key(tableCount, name, what)
	var n tally
	_, err := t.txn.Read(kv.SpaceArchive, k, func(raw []byte) (err error) {
		n, err = t.tallies.read(k, raw)
		return err
	})
	if err != nil {
		return err
	}
	change(&n)
	if t.finding != nil {
		t.finding.counted = append(t.finding.counted, counted{name, what})
	}
	raw, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("archive: count %q: %w", k, err)
	}
	t.tallies.keep(k, raw, n)
	return t.txn.Set(kv.SpaceArchive, k, raw)
}

// tallyCache remembers what some records of tallies mean, which every visit counts in. Whoever has the turn to write uses it;
// it is believed only where the record still is what it was, so a transaction that fails does no harm. nil remembers nothing.
type tallyCache struct{ known map[string]readTally }

type readTally struct {
	raw string
	tally
}

const mostTallies = 1024

func (c *tallyCache) read(k, raw []byte) (n tally, err error) {
	if c != nil {
		if one, ok := c.known[string(k)]; ok && one.raw == string(raw) {
			n = one.tally
			n.Outcomes = maps.Clone(n.Outcomes)
			return n, nil
		}
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return n, fmt.Errorf("archive: count %q: %w", k, err)
	}
	return n, nil
}

// keep takes n over.
func (c *tallyCache) keep(k, raw []byte, n tally) {
	if c == nil {
		return
	}
	if c.known == nil || len(c.known) >= mostTallies {
		c.known = make(map[string]readTally)
	}
	c.known[string(k)] = readTally{string(raw), n}
}

// gathered is a tally that is written once, when the transaction ends: a thousand URLs are of a few hosts and portals.
func (t tables) gathered(of counted) (*tally, error) {
	if n := t.finding.tallies[of]; n != nil {
		return n, nil
	}
	n := &tally{}
	_, err := t.get(key(tableCount, of.name, of.what), n)
	t.finding.tallies[of] = n
	return n, err
}

// saveTallies writes what was gathered.
func (t tables) saveTallies() error {
	for of, n := range t.finding.tallies {
		if err := t.set(key(tableCount, of.name, of.what), n); err != nil {
			return err
		}
		t.finding.counted = append(t.finding.counted, of)
	}
	t.finding.tallies = nil
	return nil
}

func (t tables) counted(name, what string) (tally, error) {
	var n tally
	if t.finding != nil && t.finding.tallies != nil {
		n, err := t.gathered(counted{name, what})
		return *n, err
	}
	_, err := t.get(key(tableCount, name, what), &n)
	return n, err
}

// counts goes through all tallies of a name in the order of their keys.
func (t tables) counts(ctx context.Context, name string, f func(what string, n tally) error) error {
	prefix := key(tableCount, name, "")
	return t.scan(ctx, prefix, nil, func(k, raw []byte) (bool, error) {
		var n tally
		if err := json.Unmarshal(raw, &n); err != nil {
			return false, fmt.Errorf("archive: count %q: %w", k, err)
		}
		return true, f(string(k[len(prefix):]), n)
	})
}

// byCount sorts the most frequent first, names in order among equals.
func byCount(all []catalog.Count) {
	slices.SortFunc(all, func(a, b catalog.Count) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Key, b.Key)
	})
}
