package content

import (
	"context"
	"sync"
)

// keyLocks is a set of locks, one for each key in use.
type keyLocks[K comparable] struct {
	mu   sync.Mutex // guards held
	held map[K]*keyLock
}

type keyLock struct {
	turn  chan struct{} // holds one token while the lock is free
	users int           // goroutines that hold the lock or wait for it
}

// lock acquires the key's lock, unless ctx ends first.
func (k *keyLocks[K]) lock(ctx context.Context, key K) (unlock func(), err error) {
	k.mu.Lock()
	if k.held == nil {
		k.held = make(map[K]*keyLock)
	}
	l := k.held[key]
	if l == nil {
		l = &keyLock{turn: make(chan struct{}, 1)}
		l.turn <- struct{}{}
		k.held[key] = l
	}
	l.users++
	k.mu.Unlock()
	select {
	case <-l.turn:
		return func() { l.turn <- struct{}{}; k.leave(key, l) }, nil
	case <-ctx.Done():
		k.leave(key, l)
		return nil, context.Cause(ctx)
	}
}

func (k *keyLocks[K]) leave(key K, l *keyLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.held, key)
	}
}
