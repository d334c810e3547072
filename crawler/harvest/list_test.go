package harvest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestNeverTwoSourcesOfOneHostAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		addresses := []string{"http://a.example/1", "http://A.example:80/2", "http://b.example/", "http://c.example/", "http://a.example/3"}
		var mu sync.Mutex
		busy, done := map[string]int{}, 0
		var now, most atomic.Int32
		Each(t.Context(), addresses, 2, func(_ context.Context, i int) {
			host := strings.ToLower(addresses[i][7:8])
			mu.Lock()
			busy[host]++
			if busy[host] > 1 {
				t.Errorf("two of host %s", host)
			}
			mu.Unlock()
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Second)
			now.Add(-1)
			mu.Lock()
			busy[host]--
			done++
			mu.Unlock()
		})
		if done != 5 || most.Load() != 2 {
			t.Fatalf("%d done, %d at a time; want 5, 2", done, most.Load())
		}
	})
}

func TestAListOfSourcesHasCommentsAndEmptyLines(t *testing.T) {
	t.Parallel()
	got, err := ReadList(strings.NewReader("\ufeff# repositories\r\nhttp://a.example/oai\r\n\n  http://b.example/oai  \n"))
	if err != nil || strings.Join(got, " ") != "http://a.example/oai http://b.example/oai" {
		t.Fatalf("%q, %v", got, err)
	}
}

func TestASelectionThatASourceCannotMakeIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := Select(pages{}, Selection{Sets: []string{"x"}}); err == nil || !strings.Contains(err.Error(), "set=x") {
		t.Fatalf("error %v", err)
	}
	if h, err := Select(pages{n: 1}, Selection{}); err != nil || h != (Harvester)(pages{n: 1}) {
		t.Fatalf("%v, %v", h, err)
	}
}
