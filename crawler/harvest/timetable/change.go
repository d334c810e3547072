package timetable

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"odarchive/crawler/address"
)

// Add plans a harvest, in place of an earlier one of the same source. It is run at once or, with times of day, at the
// next of them.
func (t *Timetable) Add(ctx context.Context, p Plan) (Planned, error) {
	p, err := t.check(p)
	if err != nil {
		return Planned{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.plans[p.ID()]
	switch {
	case old != nil && old.from == FromFile:
		return Planned{}, fmt.Errorf("%w: the settings file has a [[harvest]] table for %s %s", ErrBad, p.Kind, p.URL)
	case old == nil && len(t.plans) >= 2*maxPlans:
		return Planned{}, fmt.Errorf("%w: %d harvests are planned already", ErrBad, len(t.plans))
	}
	e := &entry{plan: p, from: FromOrder}
	if old != nil {
		e.state = old.state
		if old.cancel != nil {
			return Planned{}, fmt.Errorf("%w: %s is being harvested; pause it before it is changed", ErrBad, p.URL)
		}
	}
	e.state.load(p, t.opts.Clock())
	if err := t.store(ctx, e); err != nil {
		return Planned{}, err
	}
	t.plans[p.ID()] = e
	t.look()
	return e.show(), nil
}

// Remove removes a plan of an order, and ends its run. What was harvested stays.
func (t *Timetable) Remove(ctx context.Context, name string) (Planned, error) {
	return t.change(ctx, name, func(e *entry) error {
		if e.from == FromFile {
			return fmt.Errorf("%w: %s is planned by a [[harvest]] table of the settings file: remove it there, or pause it", ErrBad,
				e.plan.URL)
		}
		e.removed = true
		return nil
	})
}

// Pause keeps a plan from being run until Resume, across restarts, and ends its run.
func (t *Timetable) Pause(ctx context.Context, name, why string) (Planned, error) {
	return t.change(ctx, name, func(e *entry) error {
		if len(why) > maxText {
			return fmt.Errorf("%w: the reason is too long", ErrBad)
		}
		reason := Reason(cmp.Or(strings.TrimSpace(why), "paused"))
		e.state.Paused = &reason
		return nil
	})
}

// Resume ends a pause, also one of the settings file.
func (t *Timetable) Resume(ctx context.Context, name string) (Planned, error) {
	return t.change(ctx, name, func(e *entry) error {
		if e.state.Paused = nil; e.plan.Paused != "" {
			e.state.Paused = new(Reason)
		}
		return nil
	})
}

// RunNow makes a plan due.
func (t *Timetable) RunNow(ctx context.Context, name string) (Planned, error) {
	return t.change(ctx, name, func(e *entry) error {
		if why := e.state.paused(e.plan); why != "" {
			return fmt.Errorf("%w: it is paused: %s", ErrBad, why)
		}
		if e.cancel == nil {
			e.state.Due, e.state.Failures = t.opts.Clock(), 0
		}
		return nil
	})
}

// change changes the plan with an ID, or of a URL if only one has it, and stores it.
func (t *Timetable) change(ctx context.Context, name string, change func(*entry) error) (Planned, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := t.find(name)
	if err != nil {
		return Planned{}, err
	}
	next := *e
	if err := change(&next); err != nil {
		return Planned{}, err
	}
	if err := t.store(ctx, &next); err != nil {
		return Planned{}, err
	}
	*e = next
	switch {
	case e.removed:
		e.stop(errRemoved)
		delete(t.plans, e.plan.ID())
	case e.state.paused(e.plan) != "":
		e.stop(errPaused)
	}
	t.look()
	return e.show(), nil
}

// find returns the plan with an ID or a URL. The caller holds mu.
func (t *Timetable) find(name string) (found *entry, err error) {
	if e := t.plans[name]; e != nil {
		return e, nil
	}
	public, _ := address.WithoutSecret(name)
	for _, e := range t.plans {
		if e.plan.URL != public {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%w: several harvests of %s are planned; give the ID of one", ErrBad, public)
		}
		found = e
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %.200q", ErrUnknown, public)
	}
	return found, nil
}
