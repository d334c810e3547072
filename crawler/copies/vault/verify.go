package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"odarchive/crawler/archive/content"
	"odarchive/triplestore/bucket"
	"odarchive/triplestore/kv"
)

// Verified is what Verify has read and found.
type Verified struct {
	Objects int      `json:"objects"`
	Bytes   int64    `json:"bytes"`
	Records int64    `json:"records"`
	Faults  []string `json:"faults,omitempty"` // sentences; none for a sound vault
	// Gaps are sentences about moments that cannot be restored, although nothing of the archive is lost: the writer has
	// mended the vault.
	Gaps []string `json:"gaps,omitempty"`
}

const maxFaults = 1000

func (v *Verified) fault(err error) error {
	if err == nil || !errors.Is(err, ErrBroken) && !errors.Is(err, ErrNewer) && !errors.Is(err, kv.ErrDamaged) &&
		!errors.Is(err, kv.ErrNewer) && !errors.Is(err, bucket.ErrNotFound) {
		return err
	}
	v.note(err.Error())
	return nil
}

func (v *Verified) note(text string) {
	if len(v.Faults) < maxFaults {
		v.Faults = append(v.Faults, text)
	}
}

// verifier is a run of Verify.
type verifier struct {
	h     *History
	v     Verified
	p     Progress
	seen  map[string]bool // keys of objects with bytes of packs that were read
	moved bool            // the writer has deleted an object meanwhile
}

// Verify reads every object that a restore of any moment may need, and compares it with its checksums: state files, the
// log, whose records must follow one another without gaps, and packs. It follows which packs the database needs at each
// moment, and plans them as Restore does. Objects that the writer deletes meanwhile are not faults.
func (h *History) Verify(ctx context.Context, p Progress) (Verified, error) {
	for try := 0; ; try++ {
		r := &verifier{h: h, p: p, seen: make(map[string]bool)}
		err := r.run(ctx)
		if err != nil {
			return r.v, fmt.Errorf("verify: %w", err)
		}
		if len(r.v.Faults) == 0 && !r.moved || try == 1 {
			return r.v, nil
		}
		fresh, err := Open(ctx, h.b) // the writer may have replaced objects while this one was reading
		if err != nil {
			return r.v, fmt.Errorf("verify: %w", err)
		}
		if fresh.sameAs(h) {
			return r.v, nil
		}
		*h = *fresh
	}
}

// sameAs reports whether two readings found the same objects of the log and the same state files.
func (h *History) sameAs(o *History) bool {
	if len(h.spans) != len(o.spans) || len(h.snapshots) != len(o.snapshots) || len(h.fences) != len(o.fences) || h.next != o.next {
		return false
	}
	for i := range h.spans {
		if h.spans[i].key != o.spans[i].key {
			return false
		}
	}
	for i := range h.snapshots {
		if h.snapshots[i].key != o.snapshots[i].key {
			return false
		}
	}
	return true
}

func (r *verifier) run(ctx context.Context) error {
	faults, gaps := r.h.structure()
	for _, text := range faults {
		r.v.note(text)
	}
	r.v.Gaps = gaps[:min(len(gaps), maxFaults)]
	for _, b := range r.h.branches() {
		if err := r.branch(ctx, b); err != nil {
			return err
		}
	}
	if err := r.spare(ctx); err != nil {
		return err
	}
	return r.files(ctx)
}

// branch verifies a history: each run of records from the state file on with which it begins, the other state files,
// and the packs.
func (r *verifier) branch(ctx context.Context, b branch) error {
	need := make(map[uint64]int64) // the most bytes that a moment needs
	var last uint64
	begun := false
	for _, s := range r.h.snapshotsOf(b) {
		follows := begun && s.number <= last
		packs := &content.Needs{}
		if follows {
			packs = nil // the run before has followed them
		}
		err := r.state(ctx, s, packs)
		if errors.Is(err, bucket.ErrNotFound) {
			r.moved = true
			continue
		}
		if err != nil {
			if err = r.v.fault(err); err != nil {
				return err
			}
			continue
		}
		if follows {
			continue
		}
		begun = true
		if last, err = r.log(ctx, b, s, packs, need); err != nil {
			return err
		}
	}
	for num, bytes := range need { // each on its own, so that all faults are found
		one := map[uint64]int64{num: bytes}
		err := r.h.eachPack(ctx, Target{Epoch: b.epochs[0].Epoch}, one, func(plan packPlan) error {
			for _, p := range plan.parts {
				if err := r.part(ctx, p); err != nil {
					return err
				}
			}
			return nil
		})
		if err = r.v.fault(err); err != nil {
			return err
		}
	}
	return nil
}

// state reads a state file. packs, if not nil, takes which packs it needs.
func (r *verifier) state(ctx context.Context, s snapshot, packs *content.Needs) error {
	if s.number == 0 {
		return nil
	}
	body, _, err := r.h.b.Get(ctx, s.key, 0, -1)
	if err != nil {
		return err
	}
	defer body.Close()
	r.v.Objects++
	number, err := kv.ReadState(ctx, &counted{r: body, f: func(n int64) { r.v.Bytes += n; r.p.add("state", n) }}, func(w kv.Write) error {
		if packs == nil {
			return nil
		}
		_, _, _, err := packs.Apply(w)
		return err
	})
	if err == nil && number != s.number {
		err = ErrBroken
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.key, err)
	}
	return nil
}

// log reads the records after a state file, and returns the number of the last one. need takes the packs that a moment
// from that of the state file on needs.
func (r *verifier) log(ctx context.Context, b branch, from snapshot, packs *content.Needs, need map[uint64]int64) (last uint64, err error) {
	way, last := path(r.h.spansOf(b), from.number)
	snapshots := r.h.snapshotsOf(b)
	begun := false // a moment of the state file or later is reached
	begin := func() {
		begun = true
		for num, end := range packs.Packs() {
			need[num] = max(need[num], end)
		}
	}
	for e, err := range r.h.records(ctx, Target{Number: last, from: from, way: way}) {
		if errors.Is(err, bucket.ErrNotFound) { // merged or deleted since Open
			r.moved = true
			break
		}
		if err != nil {
			if err = r.v.fault(err); err != nil {
				return last, err
			}
			break
		}
		if !begun && e.at > from.at {
			begin()
		}
		err = kv.EachWrite(e.Record, func(w kv.Write) error {
			num, end, grown, err := packs.Apply(w)
			if err == nil && begun && grown {
				need[num] = max(need[num], end)
			}
			return err
		})
		if err != nil {
			if err = r.v.fault(fmt.Errorf("record %d: %w", e.Number, err)); err != nil {
				return last, err
			}
			break
		}
		r.v.Records++
		r.v.Bytes += int64(len(e.Body))
		r.p.add("log", int64(len(e.Body)))
		for _, s := range snapshots {
			if s.number == e.Number && s.sum != e.Sum {
				r.v.note(fmt.Sprintf("%s does not belong to the log", s.key))
			}
		}
	}
	if !begun {
		begin()
	}
	r.v.Objects += len(way)
	return last, nil
}

// part reads an object with bytes of a pack, once.
func (r *verifier) part(ctx context.Context, one part) error {
	if r.seen[one.key] {
		return nil
	}
	body, _, err := r.h.b.Get(ctx, one.key, 0, -1)
	if err != nil {
		return err
	}
	defer body.Close()
	r.seen[one.key] = true
	r.v.Objects++
	sum, crc := sha256.New(), crc32.New(castagnoli)
	n, err := io.Copy(io.MultiWriter(sum, crc), &counted{r: body, f: func(n int64) { r.v.Bytes += n; r.p.add("packs", n) }})
	switch {
	case err != nil:
		return err
	case one.whole.damaged:
		r.v.note(fmt.Sprintf("%s was already damaged when it was copied", one.whole.name))
	case n != one.length, one.whole.name != "" && !nameMatches(one.whole.name, sum.Sum(nil)), one.whole.name == "" &&
		crc.Sum32() != one.crc:
		r.v.note(fmt.Sprintf("%s differs from its checksum", one.key))
	}
	return nil
}

// spare reads the objects with bytes of packs that no plan has named: the writer has not deleted them yet.
func (r *verifier) spare(ctx context.Context) error {
	there, err := listPacks(ctx, r.h.b)
	if err != nil {
		return err
	}
	var rest []part
	for _, w := range there.whole {
		rest = append(rest, part{whole: w, length: w.size, key: w.key})
	}
	for _, list := range there.pieces {
		for _, one := range list {
			rest = append(rest, part{length: one.length, crc: one.crc, key: one.key})
		}
	}
	for _, one := range rest {
		if err := r.part(ctx, one); err != nil && !errors.Is(err, bucket.ErrNotFound) {
			return err
		}
	}
	for _, key := range there.odd {
		r.v.note(fmt.Sprintf("%s has another length than its name says", key))
	}
	return nil
}

// files reads the copies of small files.
func (r *verifier) files(ctx context.Context) error {
	all, err := listFiles(ctx, r.h.b)
	if err != nil {
		return err
	}
	for _, name := range r.h.writer.Files {
		if len(all[name]) == 0 {
			r.v.note(fmt.Sprintf("there is no copy of the file %s", name))
		}
	}
	for _, list := range all {
		for _, f := range list {
			data, _, err := get(ctx, r.h.b, f.key, maxSmall)
			if errors.Is(err, bucket.ErrNotFound) {
				continue
			}
			if err == nil {
				err = f.check(data)
				r.v.Objects, r.v.Bytes = r.v.Objects+1, r.v.Bytes+int64(len(data))
			}
			if err = r.v.fault(err); err != nil {
				return err
			}
		}
	}
	return nil
}
