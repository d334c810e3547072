package harvest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
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
		return nil, fmt.Errorf("this kind of source cannot be narrowed by %s", s)
	}
	return selective.Select(s)
}
