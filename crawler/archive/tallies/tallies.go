// Package tallies counts: resources, fetches, versions, bytes and changes of the whole archive, and of each portal,
// host, media type and day.
//
// A tally is one record. An Update gathers what a transaction adds to tallies and writes each of them once, so the
// figures are true at the moment at which the transaction is. They are exact because writers are serialised.
package tallies

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/diff"
	"odarchive/triplestore/kv"
)

// Tally is what is counted of one thing.
type Tally struct {
	Datasets  int `json:",omitempty"` // that list a resource
	Resources int `json:",omitempty"`
	Delisted  int `json:",omitempty"` // of a portal: of those, the resources that it no longer lists
	Crawled   int `json:",omitempty"` // resources with a version that is no error page
	Versions  int `json:",omitempty"` // without error pages
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

// add counts one change. A version that was not compared (nil) counts as a change without figures.
func (c *Changes) add(s *diff.Summary) {
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

// Group is a kind of thing that is counted.
type Group string

// The groups. All has one tally, whose name is "".
const (
	All      Group = "all"
	ByHost   Group = "host"
	ByPortal Group = "portal"
	ByType   Group = "type" // by media type, of every version
	ByDay    Group = "day"  // by day of crawl, "2026-11-21" in UTC
)

// tallyID names one tally.
type tallyID struct {
	group Group
	name  string
}

// table is the first byte of the keys: group, 0, name -> Tally.
const table = 'c'

func (t tallyID) key() []byte { return []byte(string(table) + string(t.group) + "\x00" + t.name) }

// Get returns one tally; the zero Tally if nothing was counted.
func Get(txn *kv.Txn, group Group, name string) (n Tally, err error) {
	k := tallyID{group, name}.key()
	_, err = txn.Read(kv.SpaceArchive, k, func(raw []byte) error { return decode(k, raw, &n) })
	return n, err
}

func decode(k, raw []byte, n *Tally) error {
	if err := json.Unmarshal(raw, n); err != nil {
		return fmt.Errorf("archive: count %q: %w", k, err)
	}
	return nil
}

// Each calls f with the tallies of a group in the order of their names.
func Each(ctx context.Context, txn *kv.Txn, group Group, f func(name string, n Tally) error) error {
	return scan(ctx, txn, group, func(name string, k, raw []byte) error {
		var n Tally
		if err := decode(k, raw, &n); err != nil {
			return err
		}
		return f(name, n)
	})
}

// Len returns the number of tallies of a group.
func Len(ctx context.Context, txn *kv.Txn, group Group) (n int, err error) {
	err = scan(ctx, txn, group, func(string, []byte, []byte) error { n++; return nil })
	return n, err
}

func scan(ctx context.Context, txn *kv.Txn, group Group, f func(name string, k, raw []byte) error) error {
	prefix := tallyID{group: group}.key()
	return txn.Scan(kv.SpaceArchive, prefix, nil, func(k, raw []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return true, f(string(k[len(prefix):]), k, raw)
	})
}

// Counts returns the versions and bytes of a group's tallies, in the order of their names.
func Counts(ctx context.Context, txn *kv.Txn, group Group) (all []catalog.Count, err error) {
	err = Each(ctx, txn, group, func(name string, n Tally) error {
		all = append(all, catalog.Count{Key: name, Count: n.Versions, Bytes: n.Bytes})
		return nil
	})
	return all, err
}

// SortCounts sorts the largest counts first, and equal ones by their keys.
func SortCounts(all []catalog.Count) {
	slices.SortFunc(all, func(a, b catalog.Count) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Key, b.Key)
	})
}

// Tallies are the tallies of one database. It is safe for concurrent use.
type Tallies struct {
	db      *kv.DB
	decoded map[string]decodedTally // what some records hold; used by the one transaction that writes
	lists   changeLists
}

// New returns the tallies of a database.
func New(db *kv.DB) *Tallies { return &Tallies{db: db, decoded: map[string]decodedTally{}} }

// decodedTally is a record and what it holds. It is valid only while the database has the same record, so a transaction
// that fails leaves no wrong one behind.
type decodedTally struct {
	raw string
	Tally
}

// maxDecoded bounds the decoded tallies in memory. Each fetch counts in the same few.
const maxDecoded = 1024

// Update gathers what one transaction counts. Write ends it.
type Update struct {
	all     *Tallies
	txn     *kv.Txn
	changed map[tallyID]*Tally
	order   []tallyID // of changed
}

// Begin starts an update in a transaction.
func (s *Tallies) Begin(txn *kv.Txn) *Update {
	return &Update{all: s, txn: txn, changed: map[tallyID]*Tally{}}
}

// tally returns a tally to be changed.
func (u *Update) tally(group Group, name string) (*Tally, error) {
	of := tallyID{group, name}
	if n := u.changed[of]; n != nil {
		return n, nil
	}
	n, k := &Tally{}, of.key()
	_, err := u.txn.Read(kv.SpaceArchive, k, func(raw []byte) error {
		if one, ok := u.all.decoded[string(k)]; ok && one.raw == string(raw) {
			*n = one.Tally
			n.Outcomes = maps.Clone(n.Outcomes)
			return nil
		}
		return decode(k, raw, n)
	})
	if err != nil {
		return nil, err
	}
	u.changed[of] = n
	u.order = append(u.order, of)
	return n, nil
}

// change applies f to some tallies.
func (u *Update) change(of []tallyID, f func(*Tally)) error {
	for _, of := range of {
		n, err := u.tally(of.group, of.name)
		if err != nil {
			return err
		}
		f(n)
	}
	return nil
}

// Write writes the changed tallies.
func (u *Update) Write() error {
	for _, of := range u.order {
		k, n := of.key(), u.changed[of]
		raw, err := json.Marshal(n)
		if err != nil {
			return fmt.Errorf("archive: count %q: %w", k, err)
		}
		if len(u.all.decoded) >= maxDecoded {
			clear(u.all.decoded)
		}
		u.all.decoded[string(k)] = decodedTally{string(raw), *n}
		if err := u.txn.Set(kv.SpaceArchive, k, raw); err != nil {
			return err
		}
	}
	u.txn.OnCommit(func() { u.all.lists.noteChanged(u.order) })
	return nil
}

// AddResource counts a new resource of a host.
func (u *Update) AddResource(host string) error {
	return u.change([]tallyID{{ByHost, host}, {All, ""}}, func(n *Tally) { n.Resources++ })
}

// AddDataset counts n datasets that a portal ("": none) begins to list, or has ceased to list (-1).
func (u *Update) AddDataset(portal string, n int) error {
	of := []tallyID{{All, ""}}
	if portal != "" {
		of = append(of, tallyID{ByPortal, portal})
	}
	return u.change(of, func(t *Tally) { t.Datasets += n })
}

// AddToPortal counts a resource that a portal did not list before, with its versions.
func (u *Update) AddToPortal(portal string, r catalog.Resource) error {
	return u.change([]tallyID{{ByPortal, portal}}, func(n *Tally) {
		n.Resources++
		n.Versions += r.Versions - r.ErrorPages
	})
}

// AddDelisted counts n resources that a portal has ceased to list, or lists again (-1).
func (u *Update) AddDelisted(portal string, n int) error {
	return u.change([]tallyID{{ByPortal, portal}}, func(t *Tally) { t.Delisted += n })
}

// SetPortalTitle keeps the title of a portal with its counts, since thousands of resources share it, and returns the
// former one.
func (u *Update) SetPortalTitle(portal, title string) (before string, err error) {
	n, err := u.tally(ByPortal, portal)
	if err != nil {
		return "", err
	}
	before, n.Title = n.Title, title
	return before, nil
}

// AddVisit counts a fetch that turned the record before into after, with the version that it may have added. changed is
// how that version differs from the one before, nil if unknown.
func (u *Update) AddVisit(before, after records.Resource, act catalog.Activity, changed *diff.Summary) error {
	isNew := after.Versions > before.Versions
	mediaType := ""
	if isNew {
		mediaType = after.MediaType
	}
	return u.change(ofVisit(after, act.Start, mediaType), func(n *Tally) {
		n.Visits++
		if n.Outcomes == nil {
			n.Outcomes = map[catalog.Outcome]int{}
		}
		n.Outcomes[act.Outcome]++
		if isNew {
			n.Versions++
			n.Bytes += after.Size
			if before.Versions == before.ErrorPages {
				n.Crawled++
			} else {
				n.Changes.add(changed)
			}
		}
	})
}

// AddVersion counts a version, not the first of its resource, whose visit has been counted without it.
func (u *Update) AddVersion(r records.Resource, v catalog.Version) error {
	return u.change(ofVisit(r, v.At, v.Type), func(n *Tally) {
		n.Versions++
		n.Bytes += v.Size
		n.Changes.add(nil)
	})
}

// RemoveVersion takes a version that turned out to be an error page out of the figures; r is the record that says so.
func (u *Update) RemoveVersion(r records.Resource, v catalog.Version) error {
	return u.change(ofVisit(r, v.At, v.Type), func(n *Tally) {
		n.Versions--
		n.Bytes -= v.Size
		if r.Versions == r.ErrorPages {
			n.Crawled--
		}
	})
}

// ofVisit returns the tallies that count a fetch of a resource, or its version of a media type ("": none).
func ofVisit(r records.Resource, at time.Time, mediaType string) []tallyID {
	of := []tallyID{{All, ""}, {ByHost, r.Host}, {ByDay, at.UTC().Format(time.DateOnly)}}
	for _, portal := range r.Portals {
		of = append(of, tallyID{ByPortal, portal})
	}
	if mediaType != "" {
		of = append(of, tallyID{ByType, mediaType})
	}
	return of
}
