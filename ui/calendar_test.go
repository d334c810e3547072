package ui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// addDaily adds a file with versions on many days of two years, and three on one of them.
func addDaily(w *world) string {
	const address = "http://data.city.example/daily.csv"
	w.add(address, "Daily", "text/csv", "https://portal.city.example/", 300,
		func(n int) string { return fmt.Sprintf("id,n\n1,%d\n2,%d\n", n, n/30) })
	list := w.versions[address]
	for i := range list {
		list[i].At = time.Date(2025, 9, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, i)
	}
	for i := range list[298:] { // all on the day of version 297
		list[298+i].At = list[297].At.Add(time.Duration(i+1) * time.Minute)
	}
	return address
}

func TestAFileWithManyVersionsHasACalendar(t *testing.T) {
	t.Parallel()
	w := newWorld()
	address := addDaily(w)
	list := w.versions[address]
	h := site(w)
	text := body(t, get(t, h, "/dataset?url="+address))
	for _, want := range []string{"The days of 2026 with new versions", `aria-label="1 January 2026: version 122"`, "2025 (122)</a>",
		"2026 (178)</a>", ": 3 versions", list[122].ID} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if n := strings.Count(text, `class="mark d`); n != 176 {
		t.Errorf("%d days of 2026 have a mark", n)
	}
	older := body(t, get(t, h, "/dataset?url="+address+"&year=2025"))
	if n := strings.Count(older, `class="mark d`); n != 122 || !strings.Contains(older, `aria-label="1 September 2025: version 0"`) {
		t.Errorf("%d days of 2025 have a mark", n)
	}
	few := body(t, get(t, h, "/dataset?url=http://data.city.example/trees.csv"))
	if strings.Contains(few, `plot calendar`) || !strings.Contains(few, "Timeline of versions") {
		t.Error("a file with few versions has a calendar")
	}
	for year, want := range map[string]int{"2024": 200, "x": 400, "0": 400, "10000": 400} {
		if got := get(t, h, "/dataset?url="+address+"&year="+year).StatusCode; got != want {
			t.Errorf("year=%s: %d, want %d", year, got, want)
		}
	}
}
