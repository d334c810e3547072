package access_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/sparqlapi/operate/access"
)

// enter enters in the background and sends the leave function when it is in.
func enter(t *testing.T, g *access.Gate, client string) <-chan func() {
	in := make(chan func(), 1)
	go func() {
		leave, err := g.Enter(t.Context(), client)
		if err != nil {
			t.Errorf("%s: %v", client, err)
		}
		in <- leave
	}()
	return in
}

func TestClientsThatWaitTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := access.NewGate(access.Limits{Places: 1})
		leave, err := g.Enter(t.Context(), "first")
		if err != nil {
			t.Fatal(err)
		}
		var order []string
		done := make(chan bool)
		for _, client := range []string{"a", "a", "a", "b"} { // in this order
			in := enter(t, g, client)
			synctest.Wait()
			go func() {
				leave := <-in
				order = append(order, client)
				leave()
				done <- true
			}()
			synctest.Wait()
		}
		leave()
		for range 4 {
			<-done
		}
		if want := []string{"a", "b", "a", "a"}; !slices.Equal(order, want) {
			t.Errorf("got %v, want %v", order, want)
		}
		if held, waiting := g.State(); held != 0 || waiting != 0 {
			t.Errorf("%d held, %d waiting at the end", held, waiting)
		}
	})
}

func TestOneClientCannotTakeEveryPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := access.NewGate(access.Limits{Places: 3, PerClient: 2, Queue: 10, PerQueue: 1, Wait: time.Second})
		var leaves []func()
		for range 2 {
			leave, err := g.Enter(t.Context(), "greedy")
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, leave)
		}
		waits := enter(t, g, "greedy")
		synctest.Wait()
		_, err := g.Enter(t.Context(), "greedy")
		if full := (*access.Full)(nil); !errors.As(err, &full) || !full.Own || full.After != time.Second {
			t.Errorf("one more: %v", err)
		}
		other, err := g.Enter(t.Context(), "other")
		if err != nil {
			t.Errorf("another client: %v", err)
		}
		leaves[0]()
		leaves[0]() // twice is once
		(<-waits)()
		leaves[1]()
		other()
		if held, waiting := g.State(); held != 0 || waiting != 0 {
			t.Errorf("%d held, %d waiting at the end", held, waiting)
		}
	})
}

func TestNobodyWaitsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := access.NewGate(access.Limits{Places: 1, Wait: 3 * time.Second})
		leave, _ := g.Enter(t.Context(), "a")
		began := time.Now()
		_, err := g.Enter(t.Context(), "b")
		if full := (*access.Full)(nil); !errors.As(err, &full) || full.Own || time.Since(began) != 3*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		time.AfterFunc(time.Second, func() { cancel(gone) })
		if _, err := g.Enter(ctx, "b"); !errors.Is(err, gone) {
			t.Error(err)
		}
		leave()
		if leave, err := g.Enter(t.Context(), "b"); err != nil {
			t.Error(err)
		} else {
			leave()
		}
	})
}

func TestCostlyQueriesPassTheProcessorOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		processors := access.NewGate(access.Limits{Places: 1})
		work := func(turn *access.Turn) { // 100 ms
			turn.Begin(t.Context())
			for range 10 {
				time.Sleep(10 * time.Millisecond)
				turn.Yield()
			}
			turn.End()
		}
		var ended []string
		done := make(chan string)
		for _, client := range []string{"a", "b", "cheap"} {
			turn := access.NewTurn(processors, client)
			if client != "cheap" {
				turn.Costly()
			}
			go func() {
				if client == "cheap" { // 20 ms, which need no place
					turn.Begin(t.Context())
					time.Sleep(20 * time.Millisecond)
					turn.Yield()
					turn.End()
				} else {
					work(turn)
				}
				done <- client
			}()
			synctest.Wait()
		}
		began := time.Now()
		for range 3 {
			ended = append(ended, <-done)
		}
		if took := time.Since(began); ended[0] != "cheap" || took != 200*time.Millisecond {
			t.Errorf("%v in %s, want the cheap one first, and 200ms", ended, took)
		}
		if held, waiting := processors.State(); held != 0 || waiting != 0 {
			t.Errorf("%d held, %d waiting at the end", held, waiting)
		}
	})
}

func TestAQueryThatIsNotCheapAfterAllNeedsAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		processors := access.NewGate(access.Limits{Places: 1})
		leave, _ := processors.Enter(t.Context(), "other")
		turn := access.NewTurn(processors, "a")
		turn.Begin(t.Context())
		time.Sleep(40 * time.Millisecond)
		time.AfterFunc(time.Second, leave)
		began := time.Now()
		turn.Yield()
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("waited %s", waited)
		}
		turn.End()
		ctx, cancel := context.WithCancel(t.Context())
		leave, _ = processors.Enter(t.Context(), "other")
		cancel()
		turn.Begin(ctx) // does not wait: the query is over
		turn.End()
		leave()
	})
}

func TestABudgetIsSharedByClients(t *testing.T) {
	b := access.NewBudget(100, 60)
	if err := b.Reserve("a", 60); err != nil {
		t.Error(err)
	}
	var full *access.Full
	if err := b.Reserve("a", 1); !errors.As(err, &full) || !full.Own {
		t.Errorf("over the client's share: %v", err)
	}
	if err := b.Reserve("b", 41); !errors.As(err, &full) || full.Own {
		t.Errorf("over everything: %v", err)
	}
	if err := b.Reserve("b", 40); err != nil {
		t.Error(err)
	}
	b.Release("a", 60)
	b.Release("b", 40)
	if b.Used() != 0 {
		t.Errorf("%d used at the end", b.Used())
	}
}
