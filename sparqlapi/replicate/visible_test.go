package replicate

import (
	"context"
	"errors"
	"testing"
	"time"

	"odarchive/triplestore/kv"
)

func TestAnAnswerWaitsUntilReadersSeeItsRecords(t *testing.T) {
	t.Parallel()
	db, err := kv.Open("", kv.Options{InMemory: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	a := &API{DB: db}
	next := db.Committed() + 1
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := a.awaitVisible(short, next); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a record that nobody sees yet: %v", err)
	}
	done := make(chan error, 1)
	go func() { done <- a.awaitVisible(t.Context(), next) }()
	if err := db.Update(t.Context(), func(tx *kv.Txn) error { return tx.Set(kv.SpaceTest, []byte("a"), nil) }); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}

	// What the continuous backup has to have first does not leave before it has.
	has := make(chan struct{})
	a.Lets = func(number uint64) bool {
		select {
		case <-has:
			return number == next
		default:
			return false
		}
	}
	short, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := a.awaitVisible(short, next); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a record that the backup lacks: %v", err)
	}
	close(has)
	if err := a.awaitVisible(t.Context(), next); err != nil {
		t.Error(err)
	}
}
