package catalog

import "time"

// InternalFailure is a fault of the archive with the bytes of one URL, as long as no later visit has gone well.
type InternalFailure struct {
	URL   string    `json:"url"`
	Since time.Time `json:"since"` // of the first failure in a row
	At    time.Time `json:"at"`    // of the last
	Why   string    `json:"why"`
	Times int       `json:"times"` // failures in a row
	Kept  bool      `json:"kept"`  // the bytes were archived, without what is inside them
}
