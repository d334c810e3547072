package joining

import (
	"context"
	"errors"
	"time"

	"odarchive/crawler/archive/faults"
	"odarchive/crawler/archive/joins"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/supervise"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

// joinAlone indexes a version that failed by itself with err: in two transactions if it is too big for one. If that
// fails too, it gives the version up, so that the versions after it do not wait.
func (q *Queue) joinAlone(ctx context.Context, mark []byte, err error) error {
	if errors.Is(err, kv.ErrTooBig) {
		err = supervise.Contain(func() error { return q.joinApart(ctx, mark) })
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
