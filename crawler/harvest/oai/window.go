package oai

import (
	"encoding/json"
	"time"

	"odarchive/crawler/harvest"
)

// position is the mark of a harvest. Without windows, it is the mark of the next harvest.
type position struct {
	Since   time.Time `json:"since,omitzero"`    // start of the next harvest
	Windows []window  `json:"windows,omitempty"` // to be read; the first is in progress
	Holes   []window  `json:"holes,omitempty"`   // windows that could not be read
	Whole   bool      `json:"whole,omitempty"`   // the windows and what was read before are the whole list
	Missed  int       `json:"missed,omitempty"`  // number of records that could not be read
	Read    time.Time `json:"read,omitzero"`     // when the last whole list was begun
}

// window is one list of records. A zero time is an open end.
type window struct {
	Set     string    `json:"set,omitempty"`
	From    time.Time `json:"from,omitzero"`
	Until   time.Time `json:"until,omitzero"`
	Token   string    `json:"token,omitempty"`
	Expires time.Time `json:"expires,omitzero"`  // of Token
	Last    time.Time `json:"last,omitzero"`     // latest datestamp seen
	Jumbled bool      `json:"jumbled,omitempty"` // datestamps do not ascend
	Seen    int       `json:"seen,omitempty"`    // records so far
	ByOne   bool      `json:"by_one,omitempty"`  // ListIdentifiers and GetRecord
	Tries   int       `json:"tries,omitempty"`   // number of harvests that failed to read it
}

func parsePosition(mark string) position {
	var p position
	if json.Unmarshal([]byte(mark), &p) != nil {
		return position{} // a foreign mark: start at the beginning
	}
	return p
}

func (p position) String() string {
	text, err := json.Marshal(p)
	if err != nil { // a datestamp beyond the year 9999
		return ""
	}
	return string(text)
}

const (
	byDay    = 24 * time.Hour
	bySecond = time.Second
	// overlap is the time by which incremental harvests overlap: records become visible after their datestamps.
	overlap = 10 * time.Minute
)

// stamp formats a time with the repository's granularity.
func stamp(t time.Time, granularity time.Duration) string {
	if granularity >= byDay {
		return t.UTC().Format(time.DateOnly)
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// parseStamp parses a datestamp, also in usual wrong forms. It rejects years that are placeholders.
func parseStamp(s string) (time.Time, bool) {
	t, ok := harvest.ParseTime(s)
	if !ok || t.Year() < 1000 || t.Year() >= 9999 {
		return time.Time{}, false
	}
	return t, true
}

// halves splits a window at a whole step, false if it is too short.
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

// holds reports whether a datestamp is in the window, give or take a step.
func (w window) holds(t time.Time, step time.Duration) bool {
	return (w.From.IsZero() || !t.Before(w.From.Add(-step))) && (w.Until.IsZero() || t.Before(w.Until.Add(2*step)))
}
