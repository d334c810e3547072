package vault

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"odarchive/triplestore/bucket"
)

// How objects of the log are merged, so that there are not 86,400 of a day.
const (
	mergeCount = 32       // so many of a level become one of the next
	mergeBytes = 16 << 20 // about the maximum size of a merged object
	maxLevel   = 3
)

// merger merges small objects of the log.
type merger struct {
	b     bucket.Bucket
	count int        // how many objects become one; 0 = mergeCount
	mu    sync.Mutex // guards list
	// list has the objects that may be merged, in order; those of the tail have level 0.
	list []span
}

// begin takes over what there is.
func (m *merger) begin(h *History) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = nil
	for _, s := range h.spans {
		if s.level < maxLevel {
			m.list = append(m.list, s)
		}
	}
}

// note adds objects of the tail.
func (m *merger) note(list ...span) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, list...)
}

// forget drops objects that were deleted.
func (m *merger) forget(gone func(span) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = slices.DeleteFunc(m.list, gone)
}

// next returns objects that shall become one. Those of the tail of an earlier epoch than now do, however few they are.
func (m *merger) next(now uint64) []span {
	m.mu.Lock()
	defer m.mu.Unlock()
	most := cmp.Or(m.count, mergeCount)
	for from := 0; from < len(m.list); {
		run, size := m.list[from:from+1], m.list[from].size
		for _, s := range m.list[from+1:] {
			last := run[len(run)-1]
			if s.epoch != last.epoch || s.level != last.level || s.first != last.last+1 || size+s.size > mergeBytes || len(run) == most {
				break
			}
			run, size = m.list[from:from+len(run)+1], size+s.size
		}
		if last := m.list[len(m.list)-1]; last.level == 0 && last.epoch == now && run[len(run)-1].key == last.key {
			run = run[:len(run)-1] // the place of the newest object must stay taken: it tells where the next one goes
		}
		if len(run) == 0 {
			return nil
		}
		level, full := run[0].level, len(run) == most || size > mergeBytes/2 && len(run) > 1
		if full || level == 0 && (run[0].epoch < now || run[0].size > mergeBytes/2) {
			return slices.Clone(run)
		}
		from += len(run)
	}
	return nil
}

// all merges until nothing is left to merge. It leaves alone what is damaged or missing, and returns that as damage.
func (m *merger) all(ctx context.Context, now uint64) (damage, err error) {
	for run := m.next(now); len(run) > 0; run = m.next(now) {
		err := m.merge(ctx, run)
		if errors.Is(err, ErrBroken) || errors.Is(err, bucket.ErrNotFound) {
			damage = err
			m.forget(func(s span) bool { return slices.ContainsFunc(run, func(r span) bool { return r.key == s.key }) })
			continue
		}
		if err != nil {
			return damage, err
		}
	}
	return damage, nil
}

// merge writes one object with the records of several, and then deletes these.
func (m *merger) merge(ctx context.Context, run []span) error {
	whole := &batch{}
	for _, s := range run {
		o, err := getObject(ctx, m.b, s.key)
		if err != nil {
			return err
		}
		if o.batch == nil || len(whole.entries) > 0 &&
			(o.batch.before != whole.entries[len(whole.entries)-1].Sum || o.batch.epoch != whole.epoch) {
			return fmt.Errorf("%w: %s does not follow the object before it", ErrBroken, s.key)
		}
		if len(whole.entries) == 0 {
			whole.epoch, whole.nonce, whole.log, whole.before = o.batch.epoch, o.batch.nonce, o.batch.log, o.batch.before
		}
		whole.entries = append(whole.entries, o.batch.entries...)
	}
	made := whole.span(run[0].level + 1)
	raw := whole.encode()
	made.key, made.size = made.name(), int64(len(raw))
	if err := m.b.Put(ctx, made.key, made.size, bytes.NewReader(raw), bucket.PutOptions{}); err != nil {
		return err
	}
	for _, s := range run {
		if err := m.b.Delete(ctx, s.key); err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.IndexFunc(m.list, func(s span) bool { return s.key == run[0].key })
	m.list = slices.DeleteFunc(m.list, func(s span) bool { return slices.ContainsFunc(run, func(r span) bool { return r.key == s.key }) })
	if made.level < maxLevel {
		m.list = slices.Insert(m.list, min(max(at, 0), len(m.list)), made)
	}
	return nil
}
