package catalog

import "time"

// InternalFailure is a fault of this program with the bytes of one URL. A later visit without one removes it.
type InternalFailure struct {
	URL   string    `json:"url"`
	Since time.Time `json:"since"` // of the first failure in a row
	At    time.Time `json:"at"`    // of the last
	Why   string    `json:"why"`
	Times int       `json:"times"` // number of failures in a row
	Kept  bool      `json:"kept"`  // the bytes were archived, but not what is inside them
}
