// Package joining keeps the index of joinable columns (package joins) and its triples in step with the versions.
//
// The transaction that makes a version only marks it (Mark). Join later adds marked versions to the index, many in one
// transaction and more in one pass over the index, and removes the versions that they replace, so only the latest
// version of a resource is indexed. What Join reads and compares blocks no other writer. A version that cannot be
// indexed is given up and listed as an internal failure.
package joining

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/faults"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/inspect"
	"odarchive/crawler/queue/supervise"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// table is the first byte of the marks' keys in the archive's keyspace: resource id, N -> nothing.
const table = 'j'

// Bounds of one Join, and of its transactions. A Join reads most of the index's postings if it adds a few hundred
// versions or more, so the more it adds, the less each costs in a large archive. What it reads takes about 100 bytes a
// hash.
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

// New returns the queue of an archive. Open must run before the first Join.
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

// Join adds some of the marked versions to the index, with their triples, at most MaxVersions. It returns their number,
// 0 if none is marked.
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
	if err := supervise.Contain(func() (err error) { marks, err = q.readAhead(ctx, p, marks); return err }); err != nil {
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
		err := supervise.Contain(func() (err error) { done, err = q.joinMarks(ctx, p, marks[:limit]); return err })
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

// write commits an update of the index with its triples, drops marks, and the sketches of versions that leave the
// index.
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
