package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Selection narrows a harvest to a part of its source. Each part has its own marks.
type Selection struct {
	Since  string   // changes since then: a date or a time
	Until  string   // changes up to then
	Sets   []string // parts of the source, as it names them
	Prefix string   // format of the descriptions, as the source names it
	Query  string   // SPARQL that selects ?url, for a source that answers queries
	ByOne  bool     // request each description separately, even if the source can list them
}

// Selective is a Harvester that can be narrowed. Select returns an error if it does not support the selection.
type Selective interface {
	Harvester
	Select(Selection) (Harvester, error)
}

// IsZero reports whether the selection is everything.
func (s Selection) IsZero() bool { return s.String() == "" }

// String returns the same text for equal selections.
func (s Selection) String() string {
	var parts []string
	add := func(name, value string) {
		if value != "" {
			parts = append(parts, name+"="+value)
		}
	}
	add("since", s.Since)
	add("until", s.Until)
	add("set", strings.Join(s.Sets, ","))
	add("prefix", s.Prefix)
	if s.Query != "" {
		sum := sha256.Sum256([]byte(s.Query))
		add("query", hex.EncodeToString(sum[:6]))
	}
	if s.ByOne {
		parts = append(parts, "by-one")
	}
	return strings.Join(parts, " ")
}

// Select returns h narrowed to s. The error says what h does not support.
func Select(h Harvester, s Selection) (Harvester, error) {
	if s.IsZero() {
		return h, nil
	}
	selective, ok := h.(Selective)
	if !ok {
		return nil, Unknown(s)
	}
	return selective.Select(s)
}

// Unknown returns an error that names the part of a selection that a source does not support, nil if it is empty.
func Unknown(rest Selection) error {
	if rest.IsZero() {
		return nil
	}
	return fmt.Errorf("this kind of source cannot be narrowed by %s", rest)
}

// OnlySince returns the Since of a selection. It returns an error if the selection has anything else.
func (s Selection) OnlySince() (Since, error) {
	since, err := ParseSince(s.Since)
	if s.Since = ""; err == nil {
		err = Unknown(s)
	}
	return since, err
}

// Since is a time before which changes do not matter. The zero value accepts all changes.
type Since struct{ time.Time }

// ParseSince parses a date or a time. "" is the zero value.
func ParseSince(s string) (Since, error) {
	t, ok := ParseTime(s)
	if s != "" && !ok {
		return Since{}, fmt.Errorf("since %q is not a date", s)
	}
	return Since{t}, nil
}

// After reports whether the declared time of the last change is before s. It returns false if the time is unknown.
func (s Since) After(modified string) bool {
	if s.IsZero() {
		return false
	}
	t, ok := ParseTime(modified)
	return ok && t.Before(s.Time)
}

// ParseTime parses dates and times as sources write them: ISO 8601 of any precision, or RFC 822. Without a zone they
// are UTC.
func ParseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04:05Z07:00",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02T15Z07:00", "2006-01", "2006",
		time.RFC1123Z, time.RFC1123, "Mon, _2 Jan 2006 15:04:05 -0700", "_2 Jan 2006 15:04:05 -0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// Now returns the time of a clock. A nil clock is time.Now.
func Now(clock func() time.Time) time.Time {
	if clock == nil {
		return time.Now()
	}
	return clock()
}
