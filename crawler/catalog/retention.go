package catalog

import (
	"errors"
	"time"
)

// ErrNoRetention is the error of planning without rules.
var ErrNoRetention = errors.New(
	"there are no rules of retention: [[retention]] tables of the settings file say which versions need not be kept")

// RetentionPlan says which versions the rules of retention do not keep, or, if it was applied, did not keep. JSON names
// are stable.
type RetentionPlan struct {
	At       time.Time          `json:"at"`
	Rules    []RetentionTally   `json:"rules"`
	Versions []RetentionVersion `json:"versions"`          // the first ones
	More     bool               `json:"more,omitempty"`    // there are further versions, for another run
	Applied  bool               `json:"applied,omitempty"` // the versions were taken away
	Freed    int64              `json:"freed"`             // bytes of packs that only these versions use
}

// RetentionTally counts what one rule does not keep. JSON names are stable.
type RetentionTally struct {
	Name     string `json:"name"`
	Keep     string `json:"keep"`
	Files    int    `json:"files"` // that lose versions
	Versions int    `json:"versions"`
	Bytes    int64  `json:"bytes"`  // of these versions; see RetentionPlan.Freed for those on disk
	Shared   int    `json:"shared"` // versions that stay because others that stay have the same bytes
}

// RetentionVersion is a version that a rule does not keep. JSON names are stable.
type RetentionVersion struct {
	WithdrawnVersion
	Rule string `json:"rule"`
}
