package events

import (
	"context"
	"errors"
	"fmt"

	"odarchive/crawler/archive/records"
	"odarchive/triplestore/kv"
)

// Checked is the result of Check.
type Checked struct {
	Events uint64   // records that can be read
	Faults []string // the first faults, at most maxFaults, one sentence each
	Found  int      // number of all faults
}

const maxFaults = 20

func (c *Checked) fault(format string, args ...any) {
	if c.Found++; len(c.Faults) < maxFaults {
		c.Faults = append(c.Faults, "log of events: "+fmt.Sprintf(format, args...))
	}
}

// Check reads every event, and compares the numbers of the events and of their versions with the state of the log. The
// result has the faults; an error means that the check could not be completed.
func (t Txn) Check(ctx context.Context) (c Checked, err error) {
	s, err := t.state()
	stated := err == nil
	if errors.Is(err, records.ErrBadRecord) {
		c.fault("its state cannot be read: %v", err)
	} else if err != nil {
		return c, err
	}
	expected, versions, readable := s.next, uint64(0), true // the next number, counted downwards, is expected-1
	err = t.Scan(kv.SpaceEvents, []byte{tableEvent}, nil, func(k, raw []byte) (bool, error) {
		if err := ctx.Err(); err != nil {
			return false, context.Cause(ctx)
		}
		e, err := decode(k, raw)
		if err != nil {
			readable = false
			c.fault("%v", err)
			if len(k) != 9 {
				return true, nil
			}
			e = Event{Seq: numberOf(k), N: -1}
		} else {
			c.Events++
		}
		switch {
		case !stated && expected == 0:
		case e.Seq >= expected:
			c.fault("event %d is not counted", e.Seq)
			return true, nil
		case e.Seq < expected-1:
			c.missing(e.Seq+1, expected)
			readable = false
		}
		if e.IsVersion() {
			versions++
		}
		expected = e.Seq
		return true, nil
	})
	if err == nil && expected > 0 {
		c.missing(0, expected)
		readable = false
	}
	if err == nil && stated && readable && versions != s.versions {
		c.fault("%d events have versions, but %d are counted", versions, s.versions)
	}
	return c, err
}

// missing adds the fault that the events with numbers from from to to-1 are missing.
func (c *Checked) missing(from, to uint64) {
	if to-from == 1 {
		c.fault("event %d is missing", from)
	} else {
		c.fault("events %d to %d are missing", from, to-1)
	}
}
