package crawler

import (
	"time"

	"odarchive/crawler/catalog"
)

// Report is what one fetch came to, as `crawl --report` writes it: one JSON object a line.
type Report struct {
	URL          string             `json:"url"`
	Outcome      catalog.Outcome    `json:"outcome"`
	ErrorClass   catalog.ErrorClass `json:"error_class"`
	Status       int                `json:"status"`
	SHA256       string             `json:"sha256"`
	Size         int64              `json:"size"`
	DetectedType string             `json:"detected_type"`
	Versions     int                `json:"versions"` // that the archive now holds of the URL
	Milliseconds int64              `json:"ms"`
	Why          string             `json:"why"`

	retry time.Time // when a failure that may pass is tried again; zero for none
}

// Summary is what a crawl came to.
type Summary struct {
	Fetches  int                     `json:"fetches"`
	Outcomes map[catalog.Outcome]int `json:"outcomes"`
	Bytes    int64                   `json:"bytes"`
	Took     time.Duration           `json:"-"`
	Seconds  float64                 `json:"seconds"`
}

// Add counts one more fetch.
func (s *Summary) Add(r Report) {
	if s.Outcomes == nil {
		s.Outcomes = map[catalog.Outcome]int{}
	}
	s.Fetches++
	s.Outcomes[r.Outcome]++
	s.Bytes += r.Size
}
