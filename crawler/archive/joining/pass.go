package joining

import (
	"context"
	"errors"

	"odarchive/crawler/archive/joins"
	"odarchive/crawler/archive/records"
	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/packed"
	"odarchive/ns"
	"odarchive/triplestore/kv"
)

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
				if packed.Joinable(c) {
					all = append(all,
						joins.Column{Place: joins.Place{Version: version, Member: member, Table: i, Column: j}, At: at - 1, Name: c.Name,
							Distinct: c.Distinct, Key: c.Unique, Sketch: c.Sketch})
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
