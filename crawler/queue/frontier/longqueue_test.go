package frontier

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"odarchive/crawler/queue/schedule"
)

// A host with more URLs than its record holds, in several bands.
func TestALongQueueIsVisitedInItsOrder(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	const n = 5 * headSize
	var want []string
	for i := range n {
		url := fmt.Sprintf("http://a.example/%03d", (i*37)%n)
		score := float64(5 * (i % 2))
		if _, err := f.Inject(t.Context(), Injection{URL: url, Score: &score}); err != nil {
			t.Fatal(err)
		}
		c.now = c.now.Add(time.Millisecond)
		if score > 0 {
			want = append(want, url)
		}
	}
	for i := range n {
		if i%2 == 0 {
			want = append(want, fmt.Sprintf("http://a.example/%03d", (i*37)%n))
		}
	}
	if i, _, err := f.Host("a.example"); err != nil || i.Due != n {
		t.Errorf("%d are due, %v", i.Due, err)
	}
	var got []string
	for l := lease(t, f); l != nil; l = lease(t, f) {
		for j, ok := l.Next(); ok; j, ok = l.Next() {
			got = append(got, j.URL)
			if err := done(t, f, l, j, Result{Visit: schedule.Visit{At: c.now}, NextDue: c.now.Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("visited %v\nwant %v", got, want)
	}
}
