package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"odarchive/crawler/archive/describe"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/ns"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
	"odarchive/triplestore/term"
)

// Joins lists the columns that share values with those of a version, best first. Only the latest version of a resource
// has any, and a new one once Join has taken it in.
func (a *Archive) Joins(ctx context.Context, versionID string) (found []joins.Match, err error) {
	err = a.view(func(t tables) error {
		if _, ok, err := t.version(versionID); err != nil || !ok {
			return orNotFound(err, "version", versionID)
		}
		found, err = joins.Of(t.txn, versionID)
		return err
	})
	return found, err
}

// unjoined marks a version whose columns are not in the index of columns yet, in the transaction that makes it: its
// columns come, and those of the version before it leave, when Join gets there.
func (a *Archive) unjoined(t tables, id string, n int, in *inspect.Inside) error {
	version := ns.VersionID(id, n)
	columns := columnsOf(version, in)
	if n == 0 && len(columns) == 0 {
		return nil
	}
	t.txn.OnCommit(func() {
		a.joining.left.Add(1)
		a.joining.remember(version, columns)
	})
	return t.mark(key(tableUnjoined, rid(id), n))
}

// joining is how far the index of columns is behind the versions.
type joining struct {
	left atomic.Int64 // marks
	mu   sync.Mutex   // one Join at a time; guards what follows
	last []byte       // the mark at which the last one ended: what comes before it waits for the next round

	recentMu sync.Mutex // guards what follows
	recent   map[string][]joins.Column
}

// maxRecent bounds the versions whose columns are remembered until they are joined, which spares reading their profiles.
const maxRecent = 2 * joinVersions

func (j *joining) remember(version string, columns []joins.Column) {
	j.recentMu.Lock()
	defer j.recentMu.Unlock()
	if j.recent == nil {
		j.recent = map[string][]joins.Column{}
	}
	if len(j.recent) < maxRecent {
		j.recent[version] = columns
	}
}

// recall gives the columns of a version if they are remembered.
func (j *joining) recall(version string) ([]joins.Column, bool) {
	j.recentMu.Lock()
	defer j.recentMu.Unlock()
	columns, ok := j.recent[version]
	return columns, ok
}

func (j *joining) forget(versions []joins.Replacement) {
	j.recentMu.Lock()
	defer j.recentMu.Unlock()
	for _, r := range versions {
		delete(j.recent, r.New)
	}
}

// Unjoined is how many versions are not in the index of columns yet.
func (a *Archive) Unjoined() int { return int(a.joining.left.Load()) }

// Bounds of one Join.
const (
	joinVersions = 256
	joinBytes    = 3 << 19 // that their columns weigh
)

// Join takes some of the versions that are waiting into the index of columns, with their triples, in one transaction, and
// says how many; 0 where none is waiting. What it reads and compares holds up no other writer.
func (a *Archive) Join(ctx context.Context) (int, error) {
	a.joining.mu.Lock()
	defer a.joining.mu.Unlock()
	if a.Unjoined() == 0 {
		return 0, nil
	}
	n, err := a.joinSome(ctx)
	if err != nil {
		return n, fmt.Errorf("archive: index columns: %w", err)
	}
	return n, nil
}

func (a *Archive) joinSome(ctx context.Context) (int, error) {
	marks, err := a.waiting(ctx)
	for limit := len(marks); err == nil && limit > 0; {
		var done int
		err = Contain(func() (err error) { done, err = a.joinMarks(ctx, marks[:limit]); return err })
		if err == nil || IsOwn(ctx, err) {
			return done, err
		}
		if limit == 1 {
			return 1, a.joinAlone(ctx, marks[0], err)
		}
		limit, err = limit/2, nil // one of them has unusually many values, or meets a fault of ours
	}
	return 0, err
}

// joinAlone takes in one version that failed by itself, in two steps if it is too much for one, and gives it up if that fails,
// too: it is not in the index then, and listed as an internal failure. Those behind it are not held up.
func (a *Archive) joinAlone(ctx context.Context, mark []byte, err error) error {
	if errors.Is(err, kv.ErrTooBig) {
		err = Contain(func() error { return a.joinApart(ctx, mark) })
	}
	if err == nil || IsOwn(ctx, err) {
		return err
	}
	id := tail(mark[:len(mark)-4], ridLen)
	return a.db.Update(ctx, func(txn *kv.Txn) error {
		t := tables{txn: txn}
		r, known, err2 := t.resource(id)
		if err2 == nil && known {
			act := catalog.Activity{Outcome: catalog.Archived, End: time.Now()}
			err2 = t.noteInternal(ctx, &r, act, "its columns are not in the index of joinable columns: "+err.Error())
			if err2 == nil {
				err2 = t.set(key(tableResource, rid(id)), r)
			}
		}
		if err2 != nil && !errors.Is(err2, ErrBadRecord) {
			return err2
		}
		txn.OnCommit(func() {
			a.joining.left.Add(-1)
			a.joining.last = mark
		})
		return t.drop(mark)
	})
}

// waiting lists the next marks in the order of their keys, from the beginning again behind the last.
func (a *Archive) waiting(ctx context.Context) (marks [][]byte, err error) {
	err = a.view(func(t tables) error {
		gather := func(k, _ []byte) (bool, error) {
			marks = append(marks, bytes.Clone(k))
			return len(marks) < joinVersions, nil
		}
		if err := t.scan(ctx, key(tableUnjoined), append(a.joining.last, 0), gather); err != nil || len(marks) > 0 {
			return err
		}
		return t.scan(ctx, key(tableUnjoined), nil, gather)
	})
	return marks, err
}

// joinMarks takes in as many of the marked versions as its bounds allow.
func (a *Archive) joinMarks(ctx context.Context, marks [][]byte) (int, error) {
	var taken, todo []joins.Replacement // todo: where a version came and left meanwhile, as one
	var update *joins.Update
	done := 0
	err := a.view(func(t tables) (err error) {
		for weight := 0; done < len(marks) && (done == 0 || weight < joinBytes); done++ {
			r, err := a.replacement(t, marks[done])
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
		update, err = joins.Prepare(t.txn, todo)
		return errors.Join(err, ctx.Err())
	})
	if err != nil {
		return 0, err
	}
	if err := a.joined(ctx, update, marks[:done]); err != nil {
		return 0, err
	}
	a.joining.forget(taken)
	return done, nil
}

// joinApart takes in a version that is too much for one transaction together with the one that it replaces: first that one
// leaves, then it comes.
func (a *Archive) joinApart(ctx context.Context, mark []byte) error {
	apart := func(half func(*joins.Replacement), marks [][]byte) error {
		var update *joins.Update
		err := a.view(func(t tables) error {
			r, err := a.replacement(t, mark)
			if err != nil {
				return err
			}
			half(&r)
			update, err = joins.Prepare(t.txn, []joins.Replacement{r})
			return err
		})
		if err != nil {
			return err
		}
		return a.joined(ctx, update, marks)
	}
	if err := apart(func(r *joins.Replacement) { r.New, r.Columns = "", nil }, nil); err != nil {
		return err
	}
	err := apart(func(r *joins.Replacement) {
		r.Old = ""
		a.joining.forget([]joins.Replacement{*r})
	}, [][]byte{mark})
	return err
}

// replacement is what a mark stands for.
func (a *Archive) replacement(t tables, mark []byte) (joins.Replacement, error) {
	n := int(binary.BigEndian.Uint32(mark[len(mark)-4:]))
	id := tail(mark[:len(mark)-4], ridLen)
	r := joins.Replacement{New: ns.VersionID(id, n)}
	if n > 0 {
		r.Old = ns.VersionID(id, n-1)
	}
	if columns, ok := a.joining.recall(r.New); ok {
		r.Columns = columns
		return r, nil
	}
	in, err := t.inside(r.New)
	if errors.Is(err, ErrBadRecord) {
		in, err = nil, nil // the check tells
	}
	r.Columns = columnsOf(r.New, in)
	return r, err
}

// joined makes an update of the index and its triples true, and takes the marks away.
func (a *Archive) joined(ctx context.Context, update *joins.Update, marks [][]byte) error {
	before, after := make([][]term.Quad, len(update.Changes)), make([][]term.Quad, len(update.Changes))
	for i, c := range update.Changes {
		before[i], after[i] = describe.JoinsChange(a.mint, c.Before, c.After)
	}
	return a.triples.Update(ctx, func(txn *triplestore.Txn) error {
		if err := update.Write(txn.KV()); err != nil {
			return err
		}
		for i := range before {
			if err := replace(txn, before[i], after[i]); err != nil {
				return err
			}
		}
		t := tables{txn: txn.KV()}
		for _, k := range marks {
			if err := t.drop(k); err != nil {
				return err
			}
		}
		t.txn.OnCommit(func() {
			a.joining.left.Add(-int64(len(marks)))
			if len(marks) > 0 {
				a.joining.last = marks[len(marks)-1]
			}
		})
		return nil
	})
}

// columnsOf are the columns of a version's tables that may be joined with others.
func columnsOf(id string, in *inspect.Inside) (all []joins.Column) {
	if in == nil {
		return nil
	}
	add := func(member string, tables []*csvprofile.Profile) {
		for i, t := range tables {
			for j, c := range t.Columns {
				if joins.Eligible(c) {
					all = append(all, joins.Column{Place: joins.Place{Version: id, Member: member, Table: i, Column: j}, Name: c.Name, Distinct: c.Distinct, Key: c.Unique, Sketch: c.Sketch})
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
