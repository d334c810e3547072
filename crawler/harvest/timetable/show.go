package timetable

import (
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/harvest"
)

// The states of a plan.
const (
	Running = "running"
	Waiting = "waiting" // for its time or, if Next is past, for its host or a place
	Failing = "failing" // as Waiting, after a failure
	Paused  = "paused"
)

// Planned is a plan with what has become of it, for people and programs.
type Planned struct {
	ID string `json:"id"`
	Plan
	When     string          `json:"when"` // "every 24h"
	From     Origin          `json:"from"`
	State    string          `json:"state"`
	Why      string          `json:"why,omitempty"`      // it is paused
	Next     time.Time       `json:"next,omitzero"`      // zero if it runs or is paused
	Since    time.Time       `json:"since_run,omitzero"` // start of the run in progress
	Good     time.Time       `json:"good,omitzero"`      // end of the last run without a failure
	Failures int             `json:"failures,omitempty"` // in a row
	Error    string          `json:"error,omitempty"`    // of the last run
	Last     *harvest.Report `json:"last,omitempty"`     // the last run, or so far the one in progress
}

func (e *entry) show() Planned {
	p := Planned{ID: e.plan.ID(), Plan: e.plan, When: e.plan.When(), From: e.from, State: Waiting, Next: e.state.Due, Good: e.state.Good,
		Failures: e.state.Failures, Error: e.state.Error, Last: e.state.Last}
	why := e.state.paused(e.plan)
	p.Plan.Paused = why
	switch {
	case e.cancel != nil:
		p.State, p.Since, p.Next = Running, e.state.Started, time.Time{}
		now := e.now
		p.Last = &now
	case why != "":
		p.State, p.Why, p.Next = Paused, string(why), time.Time{}
	case e.state.Failures > 0:
		p.State = Failing
	}
	return p
}

// rank orders states in lists.
func (p Planned) rank() int {
	switch p.State {
	case Running:
		return 2
	case Paused:
		return 0
	}
	return 1
}

// oneLine returns an error as one line without secrets.
func oneLine(err error) string {
	text := address.Redact(strings.Join(strings.Fields(err.Error()), " "))
	return text[:min(len(text), maxText)]
}
