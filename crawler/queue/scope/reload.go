package scope

import (
	"context"
	"fmt"
)

// Reload replaces the rules of the settings; stored rules stay. After an error, nothing has changed.
func (s *Scope) Reload(ctx context.Context, allow, deny []string) error {
	for {
		fresh, err := Open(s.db, Options{Allow: allow, Deny: deny, Now: s.now})
		if err != nil {
			return err
		}
		if s.follows(fresh) {
			return nil
		}
		if ctx.Err() != nil { // stored rules changed while they were read: read them again
			return fmt.Errorf("scope: reload: %w", context.Cause(ctx))
		}
	}
}

// follows takes over the rules of a Scope that was opened just now. It returns false if the stored rules have changed
// since.
func (s *Scope) follows(fresh *Scope) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation != fresh.generation {
		return false
	}
	if s.fixed == fresh.fixed {
		return true
	}
	s.allow, s.deny, s.fixed = fresh.allow, fresh.deny, fresh.fixed
	close(s.changed)
	s.changed = make(chan struct{})
	return true
}
