// Package joining keeps the index of joinable columns (package joins) and its triples in step with the versions.
//
// The transaction that makes a version only marks it (Mark). Join later adds marked versions to the index, many in one
// transaction and more in one pass over the index, and removes the versions that they replace, so only the latest version of a resource is indexed. What
// Join reads and compares blocks no other writer. A version that cannot be indexed is given up and listed as an
// internal failure.
package joining

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/faults"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/diff"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// table is the first byte of the marks' keys in the archive's keyspace: resource id, N -> nothing.
const table = 'j'

// Bounds of one Join, and of its transactions. A Join reads most of the index's postings if it adds a few hundred versions
// or more, so the more it adds, the less each costs in a large archive. What it reads takes about 100 bytes a hash.
const (
	MaxVersions = 2048
	maxHashes   = 1 << 19
	maxPerTxn   = 512
	firstTxn    = 128     // versions of the first transaction, which shows how many quads a version changes
	maxWeight   = 3 << 19 // of the columns of a transaction, in bytes
)

// maxRecent bounds the versions whose columns are remembered until they are indexed, which spares reading their
// profiles.
const maxRecent = MaxVersions

// Queue is the versions that are not in the index yet. It is safe for concurrent use.
type Queue struct {
	mint    ns.Mint
	db      *kv.DB
	triples *triplestore.Store
	perTxn  int // maximum number of versions of a transaction

	len  atomic.Int64 // marks
	mu   sync.Mutex   // held by the one Join that runs; guards fits and last
	fits int          // about how many versions change triplestore.SmallTxn quads; 0 before the first transaction
	last []byte       // the mark at which the last Join ended: marks before it wait for the next round

	recentMu sync.Mutex // guards recent
	recent   map[string][]joins.Column
}

// New returns the queue of an archive. Upgrade must run before the first Join.
func New(mint ns.Mint, db *kv.DB, triples *triplestore.Store) *Queue {
	return &Queue{mint: mint, db: db, triples: triples, perTxn: maxPerTxn, recent: map[string][]joins.Column{}}
}

// Len returns the number of versions that are not in the index yet.
func (q *Queue) Len() int { return int(q.len.Load()) }

// Mark puts version n of a resource into the queue, in the transaction that makes the version.
func (q *Queue) Mark(txn *kv.Txn, resource string, n int, in *inspect.Inside) error {
	version := ns.VersionID(resource, n)
	columns := columnsOf(version, in)
	if n == 0 && len(columns) == 0 {
		return nil
	}
	txn.OnCommit(func() {
		q.len.Add(1)
		q.remember(version, columns)
	})
	return txn.Set(kv.SpaceArchive, records.VersionKey(table, resource, n), nil)
}

func (q *Queue) remember(version string, columns []joins.Column) {
	q.recentMu.Lock()
	defer q.recentMu.Unlock()
	if len(q.recent) < maxRecent {
		q.recent[version] = columns
	}
}

func (q *Queue) remembered(version string) (columns []joins.Column, ok bool) {
	q.recentMu.Lock()
	defer q.recentMu.Unlock()
	columns, ok = q.recent[version]
	return columns, ok
}

func (q *Queue) forget(versions ...joins.Replacement) {
	q.recentMu.Lock()
	defer q.recentMu.Unlock()
	for _, r := range versions {
		delete(q.recent, r.New)
	}
}

// Join adds some of the marked versions to the index, with their triples, at most MaxVersions. It returns their number, 0
// if none is marked.
func (q *Queue) Join(ctx context.Context) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.Len() == 0 {
		return 0, nil
	}
	n, err := q.joinSome(ctx)
	if err != nil {
		return n, fmt.Errorf("archive: index columns: %w", err)
	}
	return n, nil
}

func (q *Queue) joinSome(ctx context.Context) (done int, err error) {
	marks, err := q.nextMarks(ctx)
	if err != nil || len(marks) == 0 {
		return 0, err
	}
	p := newPass()
	if err := faults.Contain(func() (err error) { marks, err = q.readAhead(ctx, p, marks); return err }); err != nil {
		if faults.IsOwn(ctx, err) {
			return 0, err
		}
		p = newPass() // joinMarks finds out which version it is
	}
	for len(marks) > 0 {
		n, err := q.joinNext(ctx, p, marks)
		done += n
		if err != nil {
			return done, err
		}
		marks = marks[n:]
	}
	return done, nil
}

// joinNext indexes some of the marked versions, with what a pass knows.
func (q *Queue) joinNext(ctx context.Context, p *pass, marks [][]byte) (int, error) {
	for limit := min(len(marks), q.perTxn, cmp.Or(q.fits, firstTxn)); ; {
		if p.broken {
			*p = *newPass()
		}
		var done int
		err := faults.Contain(func() (err error) { done, err = q.joinMarks(ctx, p, marks[:limit]); return err })
		if err == nil || faults.IsOwn(ctx, err) {
			return done, err
		}
		if limit == 1 {
			return 1, q.joinAlone(ctx, marks[0], err)
		}
		limit /= 2 // one of the versions has unusually many values, or meets a fault of this program
	}
}

// nextMarks returns the marks after the last Join in key order, or from the start if there are none.
func (q *Queue) nextMarks(ctx context.Context) (marks [][]byte, err error) {
	err = q.db.View(func(txn *kv.Txn) error {
		collect := func(k []byte) (bool, error) {
			marks = append(marks, bytes.Clone(k))
			return len(marks) < MaxVersions, nil
		}
		if err := eachMark(ctx, txn, append(slices.Clone(q.last), 0), collect); err != nil || len(marks) > 0 {
			return err
		}
		return eachMark(ctx, txn, nil, collect)
	})
	return marks, err
}

func eachMark(ctx context.Context, txn *kv.Txn, from []byte, f func(mark []byte) (more bool, err error)) error {
	return txn.Scan(kv.SpaceArchive, []byte{table}, from, func(k, _ []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return f(k)
	})
}

// pass is what the transactions of one Join share.
type pass struct {
	joins *joins.Pass
	sketches
	ahead  map[string]joins.Replacement // by version; without those that were used
	broken bool                         // joins may have changes that are not in the database
}

func newPass() *pass { return &pass{joins: joins.NewPass(), ahead: map[string]joins.Replacement{}} }

// readAhead reads what as many of the marked versions need as the bounds allow, and returns their marks.
func (q *Queue) readAhead(ctx context.Context, p *pass, marks [][]byte) ([][]byte, error) {
	done := 0
	err := q.db.ViewAscending(func(txn *kv.Txn) error {
		t := records.Txn{Txn: txn}
		var all []joins.Replacement
		for hashes := 0; done < len(marks) && (done == 0 || hashes < maxHashes); done++ {
			r, err := q.replacement(t, marks[done])
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			all = append(all, r)
			p.ahead[r.New] = r
			hashes += r.Hashes()
		}
		return p.joins.Read(t.Txn, p.in(t), all)
	})
	if err != nil {
		return marks, err
	}
	return marks[:done], nil
}

// take returns the replacement that a mark requests.
func (p *pass) take(q *Queue, t records.Txn, mark []byte) (joins.Replacement, error) {
	if r, ok := p.ahead[markedVersion(mark)]; ok {
		return r, nil
	}
	return q.replacement(t, mark)
}

// joinMarks indexes as many of the marked versions as the bounds of a transaction allow.
func (q *Queue) joinMarks(ctx context.Context, p *pass, marks [][]byte) (int, error) {
	var taken, todo []joins.Replacement // todo merges the replacements of a resource that has several
	var update *joins.Update
	done := 0
	p.broken = true // until all is committed
	err := records.View(q.db, func(t records.Txn) (err error) {
		for weight := 0; done < len(marks) && (done == 0 || weight < maxWeight); done++ {
			r, err := p.take(q, t, marks[done])
			if err != nil {
				return err
			}
			taken = append(taken, r)
			if last := len(todo) - 1; last >= 0 && todo[last].New == r.Old {
				r.Old = todo[last].Old
				todo = todo[:last]
			}
			todo = append(todo, r)
			weight += r.Weight()
		}
		update, err = p.joins.Prepare(t.Txn, p.in(t), todo)
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return 0, err
	}
	if err := q.write(ctx, update, marks[:done], taken); err != nil {
		return 0, err
	}
	update.Committed()
	p.broken = false
	q.forget(taken...)
	for _, r := range taken {
		delete(p.ahead, r.New)
	}
	return done, nil
}

// joinAlone indexes a version that failed by itself with err: in two transactions if it is too big for one. If that
// fails too, it gives the version up, so that the versions after it do not wait.
func (q *Queue) joinAlone(ctx context.Context, mark []byte, err error) error {
	if errors.Is(err, kv.ErrTooBig) {
		err = faults.Contain(func() error { return q.joinApart(ctx, mark) })
	}
	if err == nil || faults.IsOwn(ctx, err) {
		return err
	}
	return q.giveUp(ctx, mark, err)
}

// joinApart indexes a version in two transactions: the first removes the version that it replaces, the second adds it.
func (q *Queue) joinApart(ctx context.Context, mark []byte) error {
	apart := func(half func(*joins.Replacement), marks [][]byte) error {
		var update *joins.Update
		var taken []joins.Replacement
		err := records.View(q.db, func(t records.Txn) error {
			r, err := q.replacement(t, mark)
			if err != nil {
				return err
			}
			half(&r)
			taken = []joins.Replacement{r}
			update, err = joins.NewPass().Prepare(t.Txn, new(sketches).in(t), taken)
			return err
		})
		if err != nil {
			return err
		}
		return q.write(ctx, update, marks, taken)
	}
	if err := apart(func(r *joins.Replacement) { r.New, r.Columns = "", nil }, nil); err != nil {
		return err
	}
	return apart(func(r *joins.Replacement) {
		r.Old = ""
		q.forget(*r)
	}, [][]byte{mark})
}

// giveUp removes the mark of a version that cannot be indexed and lists why as an internal failure of its resource.
func (q *Queue) giveUp(ctx context.Context, mark []byte, why error) error {
	resource, _ := records.VersionAt(mark)
	return q.db.Update(ctx, func(txn *kv.Txn) error {
		t := records.Txn{Txn: txn}
		before, known, err := t.Resource(resource)
		if err == nil && known {
			after := before
			act := catalog.Activity{Outcome: catalog.Archived, End: time.Now()}
			err = t.NoteFailure(ctx, &after, act, "its columns are not in the index of joinable columns: "+why.Error())
			if err == nil {
				err = t.SaveResource(before, after)
			}
		}
		if err != nil && !errors.Is(err, records.ErrBadRecord) {
			return err
		}
		return q.dropMarks(txn, [][]byte{mark})
	})
}

func markedVersion(mark []byte) string { return ns.VersionID(records.VersionAt(mark)) }

// replacement returns the replacement that a mark requests.
func (q *Queue) replacement(t records.Txn, mark []byte) (joins.Replacement, error) {
	resource, n := records.VersionAt(mark)
	r := joins.Replacement{New: ns.VersionID(resource, n)}
	if n > 0 {
		r.Old = ns.VersionID(resource, n-1)
	}
	if columns, ok := q.remembered(r.New); ok {
		r.Columns = columns
		return r, nil
	}
	in, err := t.InsideSketched(r.New)
	if errors.Is(err, records.ErrBadRecord) {
		in, err = nil, nil // a check of the archive reports it
	}
	r.Columns = columnsOf(r.New, in)
	return r, err
}

// maxSketches bounds the bytes of the sketches that a pass remembers.
const maxSketches = 4 << 20

// sketches are those of the columns of versions in the index. Where one column of a version is compared, others often
// are, too, so those of some versions are remembered.
type sketches struct {
	versions map[string]records.Sketches
	bytes    int
}

// in returns how a transaction reads sketches.
func (s *sketches) in(t records.Txn) joins.Samples {
	return func(version string, at int) (csvprofile.Sketch, error) {
		of, known := s.versions[version]
		if !known {
			resource, n, _ := ns.SplitVersionID(version)
			var err error
			if of, err = t.Sketches(resource, n); err != nil {
				return nil, err
			}
			if s.versions == nil || s.bytes > maxSketches {
				s.versions, s.bytes = map[string]records.Sketches{}, 0
			}
			s.versions[version] = of
			s.bytes += of.Len()
		}
		return of.Column(at)
	}
}

// write commits an update of the index with its triples, drops marks, and the sketches of versions that leave the index.
func (q *Queue) write(ctx context.Context, update *joins.Update, marks [][]byte, taken []joins.Replacement) error {
	before, after := make([][]term.Quad, len(update.Changes)), make([][]term.Quad, len(update.Changes))
	quads := 0
	for i, c := range update.Changes {
		before[i], after[i] = describe.JoinsChange(q.mint, c.Before, c.After)
		quads += len(before[i]) + len(after[i])
	}
	q.fits = max(1, triplestore.SmallTxn*len(taken)/max(quads, 1))
	return q.triples.Update(ctx, func(txn *triplestore.Txn) error {
		if err := update.Write(txn.KV()); err != nil {
			return err
		}
		for i := range before {
			if err := describe.Replace(txn, before[i], after[i]); err != nil {
				return err
			}
		}
		for _, r := range taken {
			if resource, n, ok := ns.SplitVersionID(r.Old); ok {
				if err := (records.Txn{Txn: txn.KV()}).DropSketches(resource, n); err != nil {
					return err
				}
			}
		}
		return q.dropMarks(txn.KV(), marks)
	})
}

func (q *Queue) dropMarks(txn *kv.Txn, marks [][]byte) error {
	for _, k := range marks {
		if err := txn.Delete(kv.SpaceArchive, k); err != nil {
			return err
		}
	}
	txn.OnCommit(func() {
		q.len.Add(-int64(len(marks)))
		if len(marks) > 0 {
			q.last = marks[len(marks)-1]
		}
	})
	return nil
}

// keySample is the number of hashes that are kept of a column that is not indexed but may be a key: as many as
// comparing two versions needs (diff.KnownColumn).
const keySample = diff.KnownSketch

// Sample returns what is kept of a column's sketch.
func Sample(c csvprofile.Column) csvprofile.Sketch {
	switch {
	case joins.Eligible(c):
		return c.Sketch
	case c.Key:
		return c.Sketch[:min(len(c.Sketch), keySample)]
	}
	return nil
}

// columnsOf returns the columns of a version's tables that can be joined with others.
func columnsOf(version string, in *inspect.Inside) (all []joins.Column) {
	if in == nil {
		return nil
	}
	at := 0
	add := func(member string, tables []*csvprofile.Profile) {
		for i, t := range tables {
			for j, c := range t.Columns {
				at++
				if joins.Eligible(c) {
					all = append(all, joins.Column{Place: joins.Place{Version: version, Member: member, Table: i, Column: j}, At: at - 1, Name: c.Name, Distinct: c.Distinct, Key: c.Unique, Sketch: c.Sketch})
				}
			}
		}
	}
	add("", in.Tables)
	for _, m := range in.Members {
		add(m.Path, m.Tables)
	}
	return all
}
