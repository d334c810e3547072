package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Selection narrows a harvest to a part of its source. Each narrowed part has marks of its own.
type Selection struct {
	Since  string   // only what changed from then on: a date or a time
	Until  string   // and up to then
	Sets   []string // parts of the source, in its own words
	Prefix string   // form of the descriptions, in the source's own words
	Query  string   // SPARQL whose ?url is listed, for a source that answers queries
	ByOne  bool     // ask for each description by itself, where the source can also list them
}

// Selective is a Harvester that can be narrowed. What it has no notion of is an error in one sentence.
type Selective interface {
	Harvester
	Select(Selection) (Harvester, error)
}

// IsZero tells a selection of everything.
func (s Selection) IsZero() bool { return s.String() == "" }

// String is the same for the same selection.
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

// Select narrows h, where there is something to narrow.
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

// Unknown is an error that names what of a selection a source has no notion of; nil where nothing is left of it.
func Unknown(rest Selection) error {
	if rest.IsZero() {
		return nil
	}
	return fmt.Errorf("this kind of source cannot be narrowed by %s", rest)
}

// Since is a moment before which changes are of no interest; the zero value lets everything through.
type Since struct{ time.Time }

// ParseSince reads a date or a time, "" for everything.
func ParseSince(s string) (Since, error) {
	t, ok := ParseTime(s)
	if s != "" && !ok {
		return Since{}, fmt.Errorf("since %q is no date", s)
	}
	return Since{t}, nil
}

// After tells that something was last changed before s. What does not say when it changed may have.
func (s Since) After(modified string) bool {
	if s.IsZero() {
		return false
	}
	t, ok := ParseTime(modified)
	return ok && t.Before(s.Time)
}

// ParseTime reads dates and times as they are in the wild: ISO 8601 to any precision, RFC 822. False where s is none.
func ParseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339, time.DateOnly, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01", "2006",
		time.RFC1123Z, time.RFC1123, "Mon, _2 Jan 2006 15:04:05 -0700", "_2 Jan 2006 15:04:05 -0700"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}
