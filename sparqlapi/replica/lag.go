package replica

import (
	"sync"
	"time"

	"odarchive/triplestore/kv"
)

// status is what a replica knows of its lag.
type status struct {
	mu     sync.Mutex
	fresh  time.Time // when the state that is served was the writer's newest; zero if unknown
	number uint64    // of the state that is served
	writer uint64    // number of the writer's last write set, as far as is known
	bytes  int64     // of records that arrived and are not served yet
	took   time.Duration
	err    error // of the last attempt; nil while it follows
	states uint64
}

// Lag is how far a replica is behind.
type Lag struct {
	Time    time.Duration // since the state that is served was the writer's newest
	Known   bool          // false if it never was
	Records uint64        // write sets that are known and not served
	Bytes   int64         // of those of them that are here
	Number  uint64        // of the last write set that is served
	Err     error         // why it does not follow now
	Opening time.Duration // what opening the newest state took
	States  uint64        // opened since the start
}

func (s *status) heard(writer uint64, records []kv.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writer, s.err = writer, nil
	for _, r := range records {
		s.bytes += int64(len(r.Body))
	}
}

// caughtUp notes which state is served, and when it was the newest, if at is not zero.
func (s *status) caughtUp(number uint64, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.number = number
	if !at.IsZero() {
		s.fresh, s.bytes = at, 0
	}
}

func (s *status) opened(took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.took = took
	s.states++
}

func (s *status) since(fresh time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fresh.IsZero() {
		s.fresh = fresh
	}
}

// newest returns when the state that is served was the writer's newest; zero if that is unknown.
func (s *status) newest() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh
}

func (s *status) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Lag returns how far the replica is behind its writer.
func (f *Follower) Lag() Lag {
	s := &f.status
	s.mu.Lock()
	defer s.mu.Unlock()
	l := Lag{Known: !s.fresh.IsZero(), Number: f.served.number(), Bytes: s.bytes, Err: s.err, Opening: s.took, States: s.states}
	if l.Known {
		l.Time = max(0, time.Since(s.fresh))
	}
	if s.writer > l.Number {
		l.Records = s.writer - l.Number
	}
	return l
}
