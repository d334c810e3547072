package discover

import (
	"slices"
	"sync"
	"time"
)

// Find is a data file that was found. Its JSON is a line of `odarchive discover --json`.
type Find struct {
	URL      string  `json:"url"`
	Page     string  `json:"page,omitempty"`  // that links to it; "" if a list or catalog names it
	Title    string  `json:"title,omitempty"` // of the link, or as declared
	Score    float64 `json:"score"`           // what its link, or the link to its page, had promised
	Requests int     `json:"requests"`        // made to the site until it was found
	Why      string  `json:"why,omitempty"`   // one sentence
	Path     []Step  `json:"path,omitempty"`  // from the first page to Page, only with --explain
}

// Bounded returns a find without the end of long texts: a title may have millions of letters, and the latest finds of a
// campaign are one record.
func (f Find) Bounded() Find {
	f.Title, f.Why = cut(f.Title, maxShown), cut(f.Why, maxShown)
	return f
}

const maxShown = 500 // bytes of a text of a find

// Step is a page on the way to a file.
type Step struct {
	URL   string  `json:"url"`
	Text  string  `json:"text,omitempty"` // of the link that led there
	Score float64 `json:"score"`
	Why   string  `json:"why,omitempty"`
}

// Progress is how far a discovery is.
type Progress struct {
	State    string    `json:"state"` // one sentence: what it does now, or why it ended
	Done     bool      `json:"done"`
	Requests int       `json:"requests"`
	Budget   int       `json:"budget"`
	Pages    int       `json:"pages"`  // read
	Files    int       `json:"files"`  // found
	Queued   int       `json:"queued"` // links that could be followed
	Software []string  `json:"software,omitempty"`
	Expected float64   `json:"expected"`        // files that the next 100 requests should bring; -1 if not known yet
	Finds    []Find    `json:"finds,omitempty"` // the latest ones, newest first
	Began    time.Time `json:"began,omitzero"`
	Changed  time.Time `json:"changed,omitzero"`
}

// maxLatest is the number of finds in a Progress.
const maxLatest = 20

// Tracker hands the progress of one discovery to others while it runs. The zero value is ready. Its methods may be
// called concurrently; reading costs a copy of at most 20 finds.
type Tracker struct {
	mu  sync.Mutex // guards now
	now Progress
}

// Progress returns how far the discovery is.
func (t *Tracker) Progress() Progress {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.now
	p.Finds = slices.Clone(p.Finds)
	p.Software = slices.Clone(p.Software)
	return p
}

// set replaces everything but the finds. A nil Tracker ignores it.
func (t *Tracker) set(p Progress) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p.Finds, t.now.Finds = t.now.Finds, nil
	t.now = p
}

// found adds a find. A nil Tracker ignores it.
func (t *Tracker) found(f Find) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now.Finds = slices.Insert(t.now.Finds, 0, f.Bounded())
	t.now.Finds = t.now.Finds[:min(len(t.now.Finds), maxLatest)]
}
