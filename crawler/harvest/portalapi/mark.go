package portalapi

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
)

// Mark is a position in a harvest, in words: "since=2026-01-31T00:00:00Z&start=200".
type Mark struct{ url.Values }

// ParseMark reads a token; what is none is the beginning.
func ParseMark(token string) Mark {
	v, err := url.ParseQuery(token)
	if err != nil || v == nil {
		v = url.Values{}
	}
	return Mark{v}
}

// MarkOf pairs of a name and a value; empty values are left out.
func MarkOf(pairs ...string) Mark {
	m := Mark{url.Values{}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			m.Set(pairs[i], pairs[i+1])
		}
	}
	return m
}

func (m Mark) String() string { return m.Encode() }

// Int of a word, 0 where it is none.
func (m Mark) Int(name string) int {
	return int(min(loosejson.String(m.Get(name)).Int(), 1<<31))
}

// Since is the only thing that most interfaces can be narrowed by.
func Since(s harvest.Selection) (string, error) {
	t, ok := Time(s.Since)
	if s.Since = ""; !s.IsZero() || !ok {
		return "", errors.New("this kind of source can be narrowed by a date or time that changes are after, and by nothing else")
	}
	return t.Format(time.RFC3339), nil
}

// Begin a harvest: a whole one, one of what changed since the last ("since" says from when on), or the one that was cut
// off. Marks hold "whole", when the last whole harvest began, "began", when this one did, and "top", the newest change so
// far. Where since is given, only what changed from then on is harvested, each time.
func Begin(token, since string, now time.Time) Mark {
	m, began := ParseMark(token), now.UTC().Format(time.RFC3339)
	if since != "" && m.Get("since") == "" {
		return MarkOf("since", since, "began", began)
	}
	if next, ok := Time(m.Get("next")); ok && !Due(m.Get("whole"), now) {
		// What was written a moment before may have reached the portal's index a moment after.
		return MarkOf("since", next.Add(-10*time.Minute).Format(time.RFC3339), "top", m.Get("next"), "whole", m.Get("whole"), "began", began)
	}
	if m.Get("next") == "" && (m.Get("whole") != "" || m.Get("since") != "") {
		return m
	}
	return MarkOf("whole", began, "began", began)
}

// Whole tells whether all of the portal is harvested.
func (m Mark) Whole() bool { return m.Get("since") == "" }

// Saw takes note of the time of a change. One in the future is none: the next harvest would look for later ones only.
func (m Mark) Saw(changed string) {
	t, ok := Time(changed)
	if began, known := Time(m.Get("began")); known && t.After(began.Add(24*time.Hour)) {
		return
	}
	if newest, known := Time(m.Get("top")); ok && (!known || t.After(newest)) {
		m.Set("top", t.Format(time.RFC3339))
	}
}

// Next is where the next harvest begins, "" where nothing is known of changes.
func (m Mark) Next() string {
	if m.Get("top") == "" || m.Get("whole") == "" {
		return ""
	}
	return MarkOf("next", m.Get("top"), "whole", m.Get("whole")).String()
}

// Turn are the words that stay in every mark of a harvest.
func Turn() []string { return []string{"since", "top", "whole", "began"} }

// Now is what a clock says; nil is time.Now.
func Now(clock func() time.Time) time.Time {
	if clock == nil {
		return time.Now()
	}
	return clock()
}

// Due tells whether a whole harvest is due, when the last began at the time whole (RFC 3339).
func Due(whole string, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, whole)
	return err != nil || now.Sub(at) >= harvest.WholeAfter || at.After(now.Add(time.Hour))
}

// layouts of times, most telling first.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02"}

// Time reads the times that portals write; without a zone they are UTC.
func Time(s string) (time.Time, bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, strings.TrimSpace(s)); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
