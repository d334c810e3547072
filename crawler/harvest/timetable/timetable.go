// Package timetable runs harvests at their times, for years: those of the [[harvest]] tables of the settings file, and
// those that orders have added.
//
// Run starts what is due, the longest overdue first, a few at a time and one at a time per host, so that not everything
// runs at once after a long downtime. A time that was missed is made up for once. A run that was cut off is continued
// when the program begins again; after three of those in a row it waits, longer each time, because it may be what ended
// the program. A failure is retried after 5 minutes, then twice as late each time, five times at most before the plan's
// next time. If the clock was ahead, what it has planned too late is brought forward.
//
// What runs, when it runs next, and the report of the last run are stored with each change. FORMAT.md describes the
// records. The package does not harvest; Options.Harvest does.
package timetable

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/triplestore/kv"
)

// Options of New. DB is required.
type Options struct {
	DB    *kv.DB
	File  []Plan                  // of the settings file
	Knows func(kind string) error // returns an error for kinds that do not exist; may be nil
	Clock func() time.Time        // nil for time.Now
	Log   *slog.Logger            // nil discards
}

// Timetable has all plans. Its methods may be called concurrently.
type Timetable struct {
	opts Options
	wake chan struct{} // has an element if Run must look again at once

	mu    sync.Mutex // guards what follows
	plans map[string]*entry
	busy  map[string]bool // hosts of runs that have not ended, also of plans that were removed
}

// entry is a plan with its state. A plan that was removed while it runs is gone.
type entry struct {
	plan    Plan
	from    Origin
	state   state
	cancel  context.CancelCauseFunc // of the run in progress; nil if there is none
	now     harvest.Report          // of the run in progress
	removed bool
	unsaved bool // the state was computed and is not stored yet
}

// Origin is where a plan comes from.
type Origin string

// The origins of plans.
const (
	FromFile  Origin = "file"
	FromOrder Origin = "order"
)

// maxPlans bounds the plans of orders, and those of the file.
const maxPlans = 10_000

// ErrUnknown is wrapped by the errors for plans that do not exist.
var ErrUnknown = errors.New("no such harvest is planned")

// The keys in kv.SpaceTimetable: a letter and the ID of a plan.
const (
	keyPlan  = 'p'
	keyState = 's'
)

// New loads the plans and their states. It starts nothing.
func New(opts Options) (*Timetable, error) {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Knows == nil {
		opts.Knows = func(string) error { return nil }
	}
	t := &Timetable{opts: opts, wake: make(chan struct{}, 1), plans: map[string]*entry{}, busy: map[string]bool{}}
	err := opts.DB.View(func(txn *kv.Txn) error {
		return txn.Scan(kv.SpaceTimetable, []byte{keyPlan}, nil, func(key, raw []byte) (bool, error) {
			p, err := t.readPlan(raw)
			if err != nil {
				opts.Log.Error("a planned harvest cannot be read and is not run", "id", string(key[1:]), "error", err)
				return true, nil
			}
			t.plans[p.ID()] = &entry{plan: p, from: FromOrder}
			return true, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("planned harvests: %w", err)
	}
	for _, e := range t.plans {
		t.load(e)
	}
	return t, t.Reload(opts.File)
}

func (t *Timetable) readPlan(raw []byte) (p Plan, err error) {
	if err = json.Unmarshal(raw, &p); err == nil {
		p, err = t.check(p)
	}
	return p, err
}

func (t *Timetable) check(p Plan) (Plan, error) {
	p, err := p.Check()
	if err == nil {
		if err = t.opts.Knows(p.Kind); err != nil {
			err = fmt.Errorf("%w: %w", ErrBad, err)
		}
	}
	return p, err
}

// load reads the state of a plan.
func (t *Timetable) load(e *entry) {
	err := t.opts.DB.View(func(txn *kv.Txn) error {
		raw, ok, err := txn.Get(kv.SpaceTimetable, keyOf(keyState, e.plan.ID()))
		if err != nil || !ok {
			return err
		}
		return json.Unmarshal(raw, &e.state)
	})
	if err != nil {
		t.opts.Log.Error("the state of a planned harvest cannot be read; it is run as if it were new", "kind", e.plan.Kind, "url",
			e.plan.URL, "error", err)
		e.state = state{}
	}
	e.state.load(e.plan, t.opts.Clock())
	e.unsaved = true
}

func keyOf(table byte, id string) []byte { return append([]byte{table}, id...) }

// store stores the state of a plan, and removes that of one that was removed. The caller holds mu.
func (t *Timetable) store(ctx context.Context, e *entry) error {
	id := e.plan.ID()
	err := t.opts.DB.Update(ctx, func(txn *kv.Txn) error {
		if e.removed {
			if err := txn.Delete(kv.SpaceTimetable, keyOf(keyPlan, id)); err != nil {
				return err
			}
			return txn.Delete(kv.SpaceTimetable, keyOf(keyState, id))
		}
		if e.from == FromOrder {
			raw, err := json.Marshal(e.plan)
			if err != nil {
				return err
			}
			if err := txn.Set(kv.SpaceTimetable, keyOf(keyPlan, id), raw); err != nil {
				return err
			}
		}
		raw, err := json.Marshal(e.state)
		if err != nil {
			return err
		}
		return txn.Set(kv.SpaceTimetable, keyOf(keyState, id), raw)
	})
	if err != nil {
		return fmt.Errorf("planned harvest of %s: %w", e.plan.URL, err)
	}
	e.unsaved = false
	return nil
}

// storeNew stores the states that were computed when plans were loaded, so that their times are known after a downtime.
// The caller holds mu.
func (t *Timetable) storeNew(ctx context.Context) error {
	var all []*entry
	for _, e := range t.plans {
		if e.unsaved {
			all = append(all, e)
		}
	}
	for part := range slices.Chunk(all, 1000) {
		err := t.opts.DB.Update(ctx, func(txn *kv.Txn) error {
			for _, e := range part {
				raw, err := json.Marshal(e.state)
				if err == nil {
					err = txn.Set(kv.SpaceTimetable, keyOf(keyState, e.plan.ID()), raw)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("planned harvests: %w", err)
		}
		for _, e := range part {
			e.unsaved = false
		}
	}
	return nil
}

// Reload replaces the plans of the settings file. After an error, the old ones stay. Plans that are no longer there are
// stopped; what is stored of them stays, so that they go on if they return.
func (t *Timetable) Reload(file []Plan) error {
	if len(file) > maxPlans {
		return fmt.Errorf("%w: more than %d harvests", ErrBad, maxPlans)
	}
	next := map[string]Plan{}
	for _, p := range file {
		p, err := t.check(p)
		if err != nil {
			return err
		}
		if _, twice := next[p.ID()]; twice {
			return fmt.Errorf("%w: the file has two [[harvest]] tables for %s %s", ErrBad, p.Kind, p.URL)
		}
		next[p.ID()] = p
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, e := range t.plans {
		if _, stays := next[id]; !stays && e.from == FromFile {
			e.stop(errRemoved)
			delete(t.plans, id)
		}
	}
	for id, p := range next {
		e := t.plans[id]
		if e == nil {
			e = &entry{plan: p, from: FromFile}
			t.load(e)
			t.plans[id] = e
			continue
		}
		e.plan, e.from = p, FromFile
		if e.cancel == nil {
			e.state.load(p, t.opts.Clock())
			e.unsaved = true
		}
	}
	t.look()
	return nil
}

// look makes Run look for what is due.
func (t *Timetable) look() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Why a run was stopped.
var (
	errRemoved = errors.New("the harvest is no longer planned")
	errPaused  = errors.New("the harvest was paused")
	errTooLong = errors.New("the harvest took too long; the next one goes on where it ended")
)

func (e *entry) stop(why error) {
	if e.cancel != nil {
		e.cancel(why)
	}
}

// Plans reports whether a source of a kind and address is planned, so that nothing else need follow it.
func (t *Timetable) Plans(kind, url, portal string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.plans {
		if e.plan.Kind == kind && e.plan.URL == url && e.plan.Portal == portal && e.state.paused(e.plan) == "" {
			return true
		}
	}
	return false
}

// List returns all plans: those that run first, then by the time of their next run.
func (t *Timetable) List() []Planned {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]Planned, 0, len(t.plans)) // [] in JSON
	for _, e := range t.plans {
		all = append(all, e.show())
	}
	slices.SortFunc(all, func(a, b Planned) int {
		if order := cmp.Compare(b.rank(), a.rank()); order != 0 {
			return order
		}
		return cmp.Or(a.Next.Compare(b.Next), cmp.Compare(a.ID, b.ID))
	})
	return all
}
