package portalapi

import (
	"net/url"
	"time"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
)

// Mark is a position in a harvest as named words: "since=2026-01-31T00:00:00Z&start=200".
type Mark struct{ url.Values }

// ParseMark parses a mark. If it is malformed, the mark is empty, which means the beginning.
func ParseMark(token string) Mark {
	v, err := url.ParseQuery(token)
	if err != nil || v == nil {
		v = url.Values{}
	}
	return Mark{v}
}

// MarkOf returns a mark of pairs of name and value, without empty values.
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

// Int returns a word as a number, 0 if it is not one.
func (m Mark) Int(name string) int {
	return int(min(loose.String(m.Get(name)).Int(), 1<<31))
}

// Begin returns the mark at which a harvest starts: an interrupted harvest, one of changes since the last harvest (the
// word since says from when on), or a whole one. Marks also have the words whole, when the last whole harvest began,
// began, when this one did, and top, the latest change so far. If since is set, every harvest is one of changes since
// then.
func Begin(token, since string, now time.Time) Mark {
	m, began := ParseMark(token), now.UTC().Format(time.RFC3339)
	if since != "" && m.Get("since") == "" {
		return MarkOf("since", since, "began", began)
	}
	if next, ok := harvest.ParseTime(m.Get("next")); ok && !due(m.Get("whole"), now) {
		// A change may reach the portal's index shortly after its time.
		return MarkOf("since", next.Add(-10*time.Minute).Format(time.RFC3339), "top", m.Get("next"), "whole", m.Get("whole"), "began",
			began)
	}
	if m.Get("next") == "" && (m.Get("whole") != "" || m.Get("since") != "") {
		return m
	}
	return MarkOf("whole", began, "began", began)
}

// Whole reports whether the whole portal is harvested.
func (m Mark) Whole() bool { return m.Get("since") == "" }

// Saw notes the time of a change. It ignores times in the future, which would hide later changes from the next harvest.
func (m Mark) Saw(changed string) {
	t, ok := harvest.ParseTime(changed)
	if began, known := harvest.ParseTime(m.Get("began")); known && t.After(began.Add(24*time.Hour)) {
		return
	}
	if newest, known := harvest.ParseTime(m.Get("top")); ok && (!known || t.After(newest)) {
		m.Set("top", t.Format(time.RFC3339))
	}
}

// Next returns the mark at which the next harvest starts, "" if no change times are known.
func (m Mark) Next() string {
	if m.Get("top") == "" || m.Get("whole") == "" {
		return ""
	}
	return MarkOf("next", m.Get("top"), "whole", m.Get("whole")).String()
}

// repeated lists the words that every mark of a harvest repeats.
var repeated = []string{"since", "top", "whole", "began"}

// due reports whether a whole harvest is due if the last one began at the time whole (RFC 3339).
func due(whole string, now time.Time) bool {
	at, err := time.Parse(time.RFC3339, whole)
	return err != nil || now.Sub(at) >= harvest.WholeAfter || at.After(now.Add(time.Hour))
}
