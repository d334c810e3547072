package timetable

import (
	"time"

	"odarchive/crawler/harvest"
)

// state is what is stored of a plan, beside the plan itself.
type state struct {
	When     string          `json:"when"` // Plan.When of the time when Due was computed
	Due      time.Time       `json:"due"`
	Started  time.Time       `json:"started,omitzero"`   // of the run in progress, or of one that was cut off
	CutOff   int             `json:"cutOff,omitempty"`   // runs in a row that were not ended by this program
	Failures int             `json:"failures,omitempty"` // in a row
	Good     time.Time       `json:"good,omitzero"`      // end of the last run without a failure
	Paused   *Reason         `json:"paused,omitempty"`   // an order, which has precedence over the plan's
	Last     *harvest.Report `json:"last,omitempty"`     // of the last run that ended
	Error    string          `json:"error,omitempty"`    // of the last run
}

const (
	retryFirst  = 5 * time.Minute // after a failure; then twice as long each time
	maxRetries  = 5               // before the plan's next time is waited for
	maxCutOff   = 3               // runs that were cut off are continued at once
	maxSkipped  = 5               // sentences that are stored of a report
	maxDuration = 24 * time.Hour  // of a run; the next goes on where it ended
)

// begin begins a run.
func (s *state) begin(now time.Time) {
	s.Started = now
	s.CutOff++
}

// end ends a run. err is nil, or why it failed.
func (s *state) end(p Plan, r harvest.Report, err error, now time.Time) {
	s.Due = p.next(s.Started, now)
	s.Started, s.CutOff, s.Error = time.Time{}, 0, ""
	r.Skipped = r.Skipped[:min(len(r.Skipped), maxSkipped)]
	s.Last = &r
	if err == nil {
		s.Failures, s.Good = 0, now
		return
	}
	s.Error = oneLine(err)
	if s.Failures++; s.Failures <= maxRetries {
		if retry := now.Add(retryFirst << (s.Failures - 1)); retry.Before(s.Due) {
			s.Due = retry
		}
	}
}

// stop ends a run that was stopped on purpose: it goes on when the plan is run again.
func (s *state) stop(now time.Time) {
	s.Due, s.Started, s.CutOff = now, time.Time{}, 0
}

// load prepares a state for a plan when the program begins, or when the plan has changed. A run that was cut off goes
// on at once, unless that happened repeatedly: then it may be what ends this program.
func (s *state) load(p Plan, now time.Time) {
	switch {
	case !s.Started.IsZero():
		began := s.Started
		s.Started, s.Due = time.Time{}, now
		if n := s.CutOff - maxCutOff; n >= 0 {
			s.Due = now.Add(retryFirst << min(n, 8))
			s.Error = "the last runs were cut off; the last one began at " + began.UTC().Format(time.RFC3339)
		}
	case s.When == "" && len(p.At) > 0:
		s.Due = p.next(now, now)
	case s.When == "":
		s.Due = now
	case s.When == p.When() || s.Last == nil && len(p.At) == 0: // as planned
	case s.Last == nil:
		s.Due = p.next(now, now)
	default:
		s.Due = p.next(s.Last.Started, now)
	}
	s.When = p.When()
}

// straighten corrects a time that was planned by a clock that was ahead. It reports whether it did.
func (s *state) straighten(p Plan, now time.Time) bool {
	if latest := p.next(now, now); s.Due.After(latest) {
		s.Due = latest
		return true
	}
	return false
}

func (s *state) paused(p Plan) Reason {
	if s.Paused != nil {
		return *s.Paused
	}
	return p.Paused
}
