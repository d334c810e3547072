package oai

import (
	"time"
)

// Stats say how one harvest of a repository went. They belong to the harvest until it has returned.
type Stats struct {
	Name     string         `json:"name,omitempty"`
	Requests int            `json:"requests"`
	Bytes    int64          `json:"bytes"` // as they came over the wire
	Records  int            `json:"records"`
	Deleted  int            `json:"deleted"`
	Outside  int            `json:"outside,omitempty"` // records that were not asked for: before from, behind until
	Errors   map[string]int `json:"errors,omitempty"`  // troubles by kind; those that were got over too
	Peak     float64        `json:"peak_per_second"`   // records in the best second
	Mean     float64        `json:"mean_per_second"`

	began  time.Time
	second int64 // since began
	inThis int
}

func (s *Stats) begin(now time.Time) { s.began = now }

// record counts one at a moment.
func (s *Stats) record(now time.Time, deleted bool) {
	s.Records++
	if deleted {
		s.Deleted++
	}
	if second := int64(now.Sub(s.began) / time.Second); second != s.second {
		s.second, s.inThis = second, 0
	}
	s.inThis++
	s.Peak = max(s.Peak, float64(s.inThis))
}

func (s *Stats) trouble(kind string) {
	if s.Errors == nil {
		s.Errors = map[string]int{}
	}
	s.Errors[kind]++
}

func (s *Stats) end(now time.Time) {
	took := now.Sub(s.began).Seconds()
	if took > 0 {
		s.Mean = float64(s.Records) / took
	}
	s.Peak = max(s.Peak, s.Mean)
}
