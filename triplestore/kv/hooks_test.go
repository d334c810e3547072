package kv

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
)

// queued waits until n writers wait for the turn.
func queued(db *DB, n int) {
	for waiting := -1; waiting < n; runtime.Gosched() {
		db.turns.mu.Lock()
		waiting = len(db.turns.queue)
		db.turns.mu.Unlock()
	}
}

// A panicking callback leaves its changes in memory incomplete. Nobody may build on them, and nobody may wait forever.
func TestAPanicInACallbackStopsWritesAndPassesTheTurnOn(t *testing.T) {
	t.Parallel()
	errFunction := errors.New("the function fails")
	for name, hook := range map[string]func(tx *Txn) error{
		"on commit": func(tx *Txn) error {
			tx.OnCommit(func() { panic("half installed") })
			return tx.Set(space, []byte("k"), nil)
		},
		"on abort": func(tx *Txn) error { tx.OnAbort(func(error) { panic("half undone") }); return errFunction },
		"exit":     func(tx *Txn) error { tx.OnCommit(runtime.Goexit); return tx.Set(space, []byte("k"), nil) },
	} {
		db := inMemory(t)
		first, second := make(chan any, 1), make(chan error, 1)
		write := func(f func(*Txn) error) {
			var result any = "exited"
			defer func() { first <- result }()
			defer func() {
				if r := recover(); r != nil {
					result = r
				}
			}()
			result = db.Update(context.Background(), f)
		}
		go write(func(tx *Txn) error { // its commit may be made by the other writer, in whose goroutine the callback then panics
			go func() {
				defer close(second)
				second <- db.Update(context.Background(), func(tx *Txn) error { return tx.Set(space, []byte("neighbour"), nil) })
			}()
			queued(db, 1)
			tx.CommitNow()
			return hook(tx)
		})
		if r := <-first; name == "exit" && r != "exited" || name != "exit" && !panicked(r) {
			t.Errorf("%s: the writer gets %v", name, r)
		}
		if err := <-second; !errors.Is(err, ErrWritesStopped) || !strings.Contains(err.Error(), "callback") {
			t.Errorf("%s: the next writer gets %v", name, err)
		}
		if err := db.WritesStopped(); !errors.Is(err, ErrWritesStopped) {
			t.Errorf("%s: writes go on: %v", name, err)
		}
		if err := db.View(func(tx *Txn) error { _, _, err := tx.Get(space, []byte("k")); return err }); err != nil {
			t.Errorf("%s: reading: %v", name, err)
		}
	}
}

func panicked(r any) bool { s, ok := r.(string); return ok && strings.HasPrefix(s, "half ") }

// The callbacks of a group run in the goroutine of its last writer. The others get the error that writes have stopped.
func TestAPanicInACallbackOfAGroupTellsEveryoneInIt(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	results := make(chan any, 2)
	write := func(f func(*Txn) error) {
		var result any
		defer func() {
			if r := recover(); r != nil {
				result = r
			}
			results <- result
		}()
		result = db.Update(context.Background(), f)
	}
	go write(func(tx *Txn) error {
		go write(func(tx *Txn) error { return tx.Set(space, []byte("b"), nil) })
		queued(db, 1)
		tx.OnCommit(func() { panic("half installed") })
		return tx.Set(space, []byte("a"), nil)
	})
	told := 0
	for range 2 {
		if err, ok := (<-results).(error); ok && errors.Is(err, ErrWritesStopped) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d writers are told that writes have stopped, want 1; the other one's goroutine panics", told)
	}
}

// A caller that holds what the next function may wait for must not wait for that function.
func TestATransactionThatSaysCommitNowIsCommittedBeforeTheNextFunctionRuns(t *testing.T) {
	t.Parallel()
	db := inMemory(t)
	committed, seen := false, make(chan bool, 1)
	err := db.Update(t.Context(), func(tx *Txn) error {
		go db.Update(context.Background(), func(*Txn) error { seen <- committed; return nil })
		queued(db, 1)
		tx.OnCommit(func() { committed = true })
		tx.CommitNow()
		return tx.Set(space, []byte("k"), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	if !<-seen {
		t.Error("the next function ran before the commit")
	}
}
