package crawler

import (
	"context"
	"time"

	"odarchive/crawler/catalog"
)

// Report is the result of one visit, as `crawl --report` writes it: one JSON object a line.
type Report struct {
	URL          string             `json:"url"`
	Outcome      catalog.Outcome    `json:"outcome"`
	ErrorClass   catalog.ErrorClass `json:"error_class"`
	Status       int                `json:"status"`
	SHA256       string             `json:"sha256"`
	Size         int64              `json:"size"`
	DetectedType string             `json:"detected_type"`
	Versions     int                `json:"versions"` // of the URL in the archive, after the visit
	Milliseconds int64              `json:"ms"`
	Why          string             `json:"why"`

	Before catalog.Outcome `json:"-"` // of the visit before; "" for none

	retry time.Time // when a transient failure is retried; the zero time if there is no retry

	drain func(context.Context) error // registers links that were too many for the transaction of the visit; nil for none
}

// Summary is the result of a crawl.
type Summary struct {
	Fetches  int                     `json:"fetches"`
	Outcomes map[catalog.Outcome]int `json:"outcomes"`
	Bytes    int64                   `json:"bytes"`
	Took     time.Duration           `json:"-"`
	Seconds  float64                 `json:"seconds"`
	Waits    Waits                   `json:"waits"` // what is due at the end and was not fetched
}

// Add adds one visit.
func (s *Summary) Add(r Report) {
	if s.Outcomes == nil {
		s.Outcomes = map[catalog.Outcome]int{}
	}
	s.Fetches++
	s.Outcomes[r.Outcome]++
	s.Bytes += r.Size
}
