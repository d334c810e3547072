package oai

import (
	"encoding/json"
	"strings"
	"time"
)

// position in a harvest: the mark. One that holds no windows says where a new harvest begins.
type position struct {
	Since   time.Time `json:"since,omitzero"`    // the harvest after this one begins here
	Windows []window  `json:"windows,omitempty"` // still to be read, the first is at work
	Holes   []window  `json:"holes,omitempty"`   // could not be read
	Whole   bool      `json:"whole,omitempty"`   // with what came before, the windows are all there is
	Missed  int       `json:"missed,omitempty"`  // records that could not be had so far
}

// window is one list that is asked for. Zero times are open ends.
type window struct {
	Set     string    `json:"set,omitempty"`
	From    time.Time `json:"from,omitzero"`
	Until   time.Time `json:"until,omitzero"`
	Token   string    `json:"token,omitempty"`
	Expires time.Time `json:"expires,omitzero"`  // of Token
	Last    time.Time `json:"last,omitzero"`     // greatest datestamp that was seen
	Jumbled bool      `json:"jumbled,omitempty"` // datestamps do not ascend
	Seen    int       `json:"seen,omitempty"`    // records so far
	ByOne   bool      `json:"by_one,omitempty"`  // ListIdentifiers and a GetRecord each
	Tries   int       `json:"tries,omitempty"`   // harvests that failed to read it
}

func parsePosition(mark string) position {
	var p position
	if json.Unmarshal([]byte(mark), &p) != nil {
		return position{} // a mark of something else: from the beginning
	}
	return p
}

func (p position) String() string {
	text, err := json.Marshal(p)
	if err != nil { // a year beyond 9999 in a datestamp
		return ""
	}
	return string(text)
}

const (
	byDay    = 24 * time.Hour
	bySecond = time.Second
	// overlap of two incremental harvests: records get their datestamps before they can be seen.
	overlap = 10 * time.Minute
)

// stamp writes a time as the repository counts.
func stamp(t time.Time, granularity time.Duration) string {
	if granularity >= byDay {
		return t.UTC().Format(time.DateOnly)
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// parseStamp reads a datestamp as they are in the wild; false where it is none.
func parseStamp(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04Z", "2006-01-02T15Z", "2006-01", "2006"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1000 && t.Year() < 9999 {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// halves splits a window at a whole step; false where it is too small for that.
func (w window) halves(earliest, now time.Time, step time.Duration) (a, b window, ok bool) {
	from, until := w.From, w.Until
	if from.IsZero() {
		from = earliest
	}
	if until.IsZero() {
		until = now
	}
	from, until = from.Truncate(step), until.Truncate(step)
	if until.Sub(from) < step {
		return w, w, false
	}
	middle := from.Add((until.Sub(from) / 2).Truncate(step))
	a = window{Set: w.Set, From: w.From, Until: middle}
	b = window{Set: w.Set, From: middle.Add(step), Until: w.Until}
	return a, b, true
}

// holds tells whether a datestamp belongs into the window, a step more or less.
func (w window) holds(t time.Time, step time.Duration) bool {
	return (w.From.IsZero() || !t.Before(w.From.Add(-step))) && (w.Until.IsZero() || t.Before(w.Until.Add(2*step)))
}
