package access

import (
	"crypto/rand"
	"crypto/sha256"
	"sync"
	"time"
)

// Limits of sessions.
const (
	SessionTime = 12 * time.Hour // of a session
	idleTime    = 2 * time.Hour  // between two requests of it
	maxSessions = 1000
)

// Sessions are the browsers that have signed in with a token. They are in memory: a restart ends them. Methods may be
// called concurrently.
type Sessions struct {
	tokens *Tokens
	now    func() time.Time

	mu   sync.Mutex // guards open
	open map[[sha256.Size]byte]*session
}

type session struct {
	token       [sha256.Size]byte // its digest
	began, used time.Time
}

// NewSessions returns Sessions of the holders of tokens.
func NewSessions(tokens *Tokens, now func() time.Time) *Sessions {
	return &Sessions{tokens: tokens, now: now, open: map[[sha256.Size]byte]*session{}}
}

// Begin begins a session of the holder of a token, and returns its secret id. If there are too many, the one that was
// not used for the longest time ends.
func (s *Sessions) Begin(t *Token) (id string) {
	id = rand.Text() + rand.Text()
	now := s.now()
	s.mu.Lock()
	defer s.mu.Unlock()
	var oldest [sha256.Size]byte
	for key, one := range s.open {
		if one.ended(now) {
			delete(s.open, key)
		} else if first, ok := s.open[oldest]; !ok || one.used.Before(first.used) {
			oldest = key
		}
	}
	if len(s.open) >= maxSessions {
		delete(s.open, oldest)
	}
	s.open[Digest(id)] = &session{token: t.Digest, began: now, used: now}
	return id
}

func (s *session) ended(now time.Time) bool {
	return now.Sub(s.began) >= SessionTime || now.Sub(s.used) >= idleTime || now.Before(s.began)
}

// Find returns the token of a session, or nil if it has ended, or its token is no longer valid.
func (s *Sessions) Find(id string) *Token {
	if len(id) > maxSecret {
		return nil
	}
	key, now := Digest(id), s.now()
	s.mu.Lock()
	one, ok := s.open[key]
	if ok && one.ended(now) {
		delete(s.open, key)
		ok = false
	}
	if !ok {
		s.mu.Unlock()
		return nil
	}
	one.used = now
	digest := one.token
	s.mu.Unlock()
	t, err := s.tokens.valid(digest, now)
	if err != nil {
		s.End(id)
		return nil
	}
	return t
}

// End ends a session.
func (s *Sessions) End(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, Digest(id))
}
