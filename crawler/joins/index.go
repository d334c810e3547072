package joins

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"odarchive/crawler/csvprofile"
	"odarchive/triplestore/kv"
)

// Bounds of one version's share in the index. A replacement of one version by another, each at its bounds, writes less
// than two transactions hold.
const (
	filedFew   = 128    // hashes that a column is filed under
	filedMore  = 256    // and one of more than a sketch's size of values
	filedMany  = 1024   // and one of more than largeFrom values, so that small columns are found in it
	largeFrom  = 4096   // distinct values
	maxFiled   = 12_288 // hashes that all columns of a version are filed under
	maxPosting = 64     // columns filed under one hash; a value that is everywhere tells nothing
	maxHeads   = 128    // columns that one is compared with roughly
	maxClose   = 48     // and closely
	perColumn  = 16     // matches that are kept of one column
	perVersion = 64     // and of a version
	maxName    = 100    // bytes of a column's name
)

// Replacement is a version that takes the place of another in the index.
type Replacement struct {
	Old     string // whose columns leave; "" for none
	New     string // whose columns come; "" for none
	Columns []Column
}

// Weight is how many hashes a replacement files columns under, which is what it costs.
func (r Replacement) Weight() (n int) {
	for _, c := range r.Columns {
		filed, _ := filing(c.Sketch)
		n += len(filed)
	}
	return min(n, maxFiled)
}

// Change is the matches of one version before and after an update.
type Change struct {
	Version       string
	Before, After []Match
}

// Of lists the matches of a version, best first. None is no error.
func Of(txn *kv.Txn, version string) ([]Match, error) {
	list, err := tables{txn}.matches(version)
	if err != nil {
		return nil, fmt.Errorf("joins: of %s: %w", version, err)
	}
	return list, nil
}

// Some lists the first versions that have matches, at most limit, as changes that take their matches away.
func Some(txn *kv.Txn, limit int) (all []Change, err error) {
	err = txn.Scan(kv.SpaceJoins, []byte{tableMatches}, nil, func(k, v []byte) (bool, error) {
		version := string(k[1:])
		list, err := decodeMatches(version, v)
		all = append(all, Change{Version: version, Before: list})
		return len(all) < limit, err
	})
	if err != nil {
		return nil, fmt.Errorf("joins: %w", err)
	}
	return all, nil
}

// Clear takes the matches of versions away, and nothing else: it is the first half of emptying the index.
func Clear(txn *kv.Txn, changes []Change) error {
	for _, c := range changes {
		if err := (tables{txn}).setMatches(c.Version, nil); err != nil {
			return fmt.Errorf("joins: %w", err)
		}
	}
	return nil
}

// Prepare works out what replacements change in the index that txn sees, one after the other: txn is only read from.
// What it returns is to be written before the next Prepare, and by nobody else meanwhile.
func Prepare(txn *kv.Txn, replacements []Replacement) (*Update, error) {
	u := newUpdate(txn)
	for _, r := range replacements {
		if err := u.replace(r); err != nil {
			return nil, fmt.Errorf("joins: replace %s with %s: %w", r.Old, r.New, err)
		}
	}
	u.finish()
	return u, nil
}

// fitting leaves columns out that are too many for one version: keys stay first.
func fitting(columns []Column) []Column {
	left := maxFiled
	var all []Column
	for _, keys := range []bool{true, false} {
		for _, c := range columns {
			filed, _ := filing(c.Sketch)
			if c.Key != keys || len(filed) == 0 || len(filed) > left {
				continue
			}
			left -= len(filed)
			c.Name = cut(c.Name)
			all = append(all, c)
		}
	}
	return all
}

func cut(s string) string {
	if len(s) <= maxName {
		return s
	}
	end := maxName
	for end > 0 && s[end]&0xC0 == 0x80 {
		end--
	}
	return s[:end]
}

// filing is the hashes that a sketch is filed under, and up to which hash these are all its values.
func filing(s csvprofile.Sketch) ([]uint32, uint32) {
	few := filedFew
	switch n := estimate(s); {
	case n > largeFrom:
		few = filedMany
	case n >= csvprofile.SketchSize:
		few = filedMore
	}
	if len(s) > few {
		return s[:few], s[few-1]
	}
	return s, reach(s)
}

// estimate of the number of values behind a sketch.
func estimate(s csvprofile.Sketch) int {
	if len(s) < csvprofile.SketchSize {
		return len(s)
	}
	return int(float64(len(s)) / (float64(s[len(s)-1]) + 1) * math.MaxUint32)
}

// replace takes the old version's columns and matches out and puts the new one's in. A column whose values stayed what
// they were keeps its number, and so its place in the postings.
func (u *Update) replace(r Replacement) error {
	columns := fitting(r.Columns)
	numbers := make([]number, len(columns))
	old, err := u.columnsOf(r.Old)
	if err != nil {
		return err
	}
	for i, c := range columns {
		at := slices.IndexFunc(old, func(o oldColumn) bool { return !o.stays && slices.Equal(o.sketch, c.Sketch) })
		if at >= 0 {
			old[at].stays, numbers[i] = true, old[at].number
		}
	}
	for _, o := range old {
		if o.stays {
			continue
		}
		if err := u.removeColumn(o.number, o.sketch); err != nil {
			return err
		}
	}
	if err := u.removeMatches(r.Old); err != nil {
		return err
	}
	if r.Old != "" {
		u.versions[r.Old] = nil
	}
	if r.New == "" {
		return nil
	}
	for i, c := range columns {
		hits, err := u.file(c, &numbers[i])
		if err != nil {
			return err
		}
		if err := u.match(c, hits); err != nil {
			return err
		}
	}
	u.versions[r.New] = numbers
	return nil
}

func (u *Update) removeColumn(n number, sketch csvprofile.Sketch) error {
	filed, _ := filing(sketch)
	for _, h := range filed {
		p, err := u.posting(h)
		if err != nil {
			return err
		}
		if at := slices.Index(p.list, n); at >= 0 {
			p.list, p.changed = slices.Delete(p.list, at, at+1), true
		}
	}
	delete(u.heads, n)
	delete(u.fresh, n)
	delete(u.filed, n)
	u.gone = append(u.gone, n)
	return nil
}

// removeMatches takes the matches of a version out, and those of others that name it.
func (u *Update) removeMatches(version string) error {
	if version == "" {
		return nil
	}
	others, err := u.seenBy(version)
	if err != nil {
		return err
	}
	for _, other := range others {
		if err := u.look(other); err != nil {
			return err
		}
		u.after[other] = slices.DeleteFunc(u.after[other], func(m Match) bool { return m.Other.Version == version })
	}
	if err := u.look(version); err != nil {
		return err
	}
	u.after[version] = nil
	return nil
}

// file files a column under its hashes, gives it a number if it has none, and counts with which others it shares how many.
func (u *Update) file(c Column, n *number) (map[number]hit, error) {
	filed, reach := filing(c.Sketch)
	if *n == 0 {
		var err error
		if *n, err = u.take(len(filed)); err != nil {
			return nil, err
		}
		u.fresh[*n] = c.Sketch
	}
	u.heads[*n] = head{Column: c, filed: len(filed), reach: reach}
	u.filed[*n] = true
	clear(u.hits)
	for i, h := range filed {
		p, err := u.posting(h)
		if err != nil {
			return nil, err
		}
		own := false
		for _, other := range p.list {
			if other == *n {
				own = true
				continue
			}
			u.hits[other] = hit{u.hits[other].shared + 1, int32(i)}
		}
		if !own && len(p.list) < maxPosting {
			p.list, p.changed = append(p.list, *n), true
		}
	}
	return u.hits, nil
}

// finish finds out which matches have changed.
func (u *Update) finish() {
	for _, version := range slices.Sorted(maps.Keys(u.before)) {
		if before, after := u.before[version], u.after[version]; !slices.Equal(before, after) {
			u.Changes = append(u.Changes, Change{version, before, after})
		}
	}
}
