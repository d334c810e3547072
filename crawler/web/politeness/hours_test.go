package politeness

import (
	"testing"
	"time"
)

func TestFetchingKeepsToItsHours(t *testing.T) {
	t.Parallel()
	vienna := time.FixedZone("CET", 3600)
	for _, c := range []struct {
		hours, at string
		open      bool
	}{
		{"", "12:00", true},
		{"22:00-06:00", "21:30", true}, // 22:30 there
		{"22:00-06:00", "20:59", false},
		{"22:00-06:00", "04:59", true},
		{"22:00-06:00", "05:00", false},
		{"09:00 - 17:00", "12:00", true},
		{"09:00-17:00", "16:00", false},
	} {
		h, err := ParseHours(c.hours, vienna)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := time.Parse("15:04", c.at)
		if why := h.Closed(at); (why == "") != c.open {
			t.Errorf("%q at %s UTC: %q", c.hours, c.at, why)
		}
	}
	if _, err := ParseHours("at night", nil); err == nil {
		t.Error("nonsense was taken")
	}
}
