package joins

import (
	"fmt"
	"slices"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/triplestore/kv"
)

// Bounds of one version in the index. Replacing a version by another, both at their bounds, writes less than two
// transactions hold.
const (
	maxFiled   = 12_288 // hashes that all columns of a version are filed under
	maxPosting = 32     // sets filed under one hash; a value that occurs everywhere is useless
	maxMembers = 16     // columns kept in one set of values, as many as matches of a column
	maxClose   = 48     // sets that a column is compared with by sketch
	perColumn  = 16     // matches kept for a column
	perWeak    = 4      // weak matches among these
	perVersion = 64     // matches kept for a version
	margin     = .05    // how much better a match must be than a kept one to replace it: more than the error of the estimate
	maxName    = 100    // bytes of a column's name
)

// Replacement is a version that replaces another in the index.
type Replacement struct {
	Old     string // the version whose columns are removed; "" for none
	New     string // the version whose columns are added; "" for none
	Columns []Column
}

// Weight returns the maximum number of bytes that a replacement writes for its columns, without matches.
func (r Replacement) Weight() (n int) {
	left := maxFiled
	for _, c := range r.Columns {
		filed, _ := filing(c.Sketch)
		if left -= len(filed); left < 0 {
			break
		}
		n += setSize + maxPairSize*len(filed)
	}
	return n
}

// Hashes returns the maximum number of hashes whose postings a replacement needs for its columns.
func (r Replacement) Hashes() (n int) {
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

// Of returns the matches of a version, best first.
func Of(txn *kv.Txn, version string) ([]Match, error) {
	list, err := tables{txn}.matches(version)
	if err != nil {
		return nil, fmt.Errorf("joins: of %s: %w", version, err)
	}
	return list, nil
}

// Samples returns the sketch of a column in the index, by its version and its Column.At.
type Samples func(version string, at int) (csvprofile.Sketch, error)

// Read reads what replacements need, in the order in which it is stored, for updates of some of them each: it must come
// before the pass's first Prepare. What it does not read, Prepare does. samples is that of Prepare.
func (p *Pass) Read(txn *kv.Txn, samples Samples, replacements []Replacement) error {
	u := p.update(txn, samples)
	u.cursor = txn.Cursor(kv.SpaceJoins)
	defer u.cursor.Close()
	columns, err := u.prefetch(replacements)
	if err == nil {
		err = u.judge(columns)
	}
	if err != nil {
		return fmt.Errorf("joins: read ahead: %w", err)
	}
	return nil
}

// Prepare computes what replacements, one after the other, change in the index. It only reads from txn, which must see
// the updates of the pass so far. samples must know the columns of all versions in the index. The update must be
// written and Committed before the next Prepare. After an error, the pass must be discarded.
func (p *Pass) Prepare(txn *kv.Txn, samples Samples, replacements []Replacement) (*Update, error) {
	u := p.update(txn, samples)
	u.cursor = txn.Cursor(kv.SpaceJoins)
	defer u.cursor.Close()
	columns, err := u.prefetch(replacements)
	if err != nil {
		return nil, fmt.Errorf("joins: read ahead: %w", err)
	}
	for i, r := range replacements {
		if err := u.replace(r, columns[i]); err != nil {
			return nil, fmt.Errorf("joins: replace %s with %s: %w", r.Old, r.New, err)
		}
		delete(u.coming, r.New)
	}
	if u.filed, err = u.entries(); err != nil {
		return nil, fmt.Errorf("joins: postings: %w", err)
	}
	if err := u.collectChanges(); err != nil {
		return nil, fmt.Errorf("joins: matches: %w", err)
	}
	return u, nil
}

// arrival is a column to be added.
type arrival struct {
	Column
	print fingerprint
	filed []uint32
	reach uint32
	posts []*posting // of the hashes in filed, if they were read and looked up
	era   int        // of the pass, when they were read

	judged bool        // Read found its candidates
	close  []candidate // these, best first
}

// prefetch reads the postings that replacements need and that the pass does not have, in the order in which they are
// stored.
func (u *Update) prefetch(replacements []Replacement) ([][]arrival, error) {
	all := make([][]arrival, len(replacements))
	var hashes []uint32
	for i, r := range replacements {
		if all[i] = u.coming[r.New]; all[i] == nil {
			all[i] = arrivals(r.Columns)
			u.coming[r.New] = all[i]
		}
		for j := range all[i] {
			c := &all[i][j]
			if c.posts != nil && c.era == u.era {
				continue
			}
			c.posts = nil
			n, err := u.setWith(c.print)
			if err != nil {
				return nil, err
			}
			if n != 0 {
				s, err := u.set(n)
				if err != nil {
					return nil, err
				}
				if found := matchMembers(c.Column, s); found.enough() {
					continue
				}
			}
			c.posts, c.era = make([]*posting, len(c.filed)), u.era
			for k, h := range c.filed {
				if c.posts[k] = u.lists[h]; c.posts[k] == nil {
					hashes = append(hashes, h)
				}
			}
		}
		leaving, err := u.setsOf(r.Old)
		if err != nil {
			return nil, err
		}
		for _, n := range leaving {
			s, err := u.set(n)
			if err != nil {
				return nil, err
			}
			if s.filed == 0 || slices.ContainsFunc(s.members, func(c Column) bool { return c.Version != r.Old }) {
				continue
			}
			sketch, err := u.sketch(n)
			if err != nil {
				return nil, err
			}
			filed, _ := filing(sketch)
			hashes = u.unread(hashes, filed)
		}
	}
	slices.Sort(hashes)
	return all, u.load(slices.Compact(hashes))
}

// unread appends the hashes among some whose postings have not been read.
func (p *postings) unread(hashes, among []uint32) []uint32 {
	for _, h := range among {
		if p.lists[h] == nil {
			hashes = append(hashes, h)
		}
	}
	return hashes
}

// arrivals returns the columns that fit into the bounds of one version, keys first.
func arrivals(columns []Column) []arrival {
	left := maxFiled
	var all []arrival
	for _, keys := range []bool{true, false} {
		for _, c := range columns {
			filed, reach := filing(c.Sketch)
			if c.Key != keys || len(filed) == 0 || len(filed) > left {
				continue
			}
			left -= len(filed)
			c.Name = cut(c.Name)
			all = append(all, arrival{Column: c, print: printOf(c.Sketch), filed: filed, reach: reach})
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

// filing returns the hashes that a sketch is filed under, all of the same precision, and the hash up to which these are
// complete.
func filing(s csvprofile.Sketch) ([]uint32, uint32) {
	few := s.Finders()
	complete := reach(s)
	if len(s) > few {
		s, complete = s[:few], s[few-1]
	}
	if !s.IsCoarse() {
		s = slices.Clone(s).Coarse()
		complete = min(complete, s[len(s)-1])
	}
	return s, complete
}
