package politeness

import (
	"fmt"
	"strings"
	"time"
)

// Hours are the hours of the day in which fetching is allowed. The zero value allows all.
type Hours struct {
	from, to time.Duration // since midnight; equal for all hours
	zone     *time.Location
}

// ParseHours parses hours such as "22:00-06:00" in a time zone (nil for UTC). "" allows all hours.
func ParseHours(text string, zone *time.Location) (Hours, error) {
	if zone == nil {
		zone = time.UTC
	}
	if text == "" {
		return Hours{zone: zone}, nil
	}
	from, to, ok := strings.Cut(text, "-")
	a, err1 := time.Parse("15:04", strings.TrimSpace(from))
	b, err2 := time.Parse("15:04", strings.TrimSpace(to))
	if !ok || err1 != nil || err2 != nil {
		return Hours{}, fmt.Errorf("politeness: the hours %q do not have the form 22:00-06:00", text)
	}
	return Hours{sinceMidnight(a), sinceMidnight(b), zone}, nil
}

func sinceMidnight(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
}

// Closed returns why nothing may be fetched at a time, "" if it may.
func (h Hours) Closed(now time.Time) string {
	if h.from == h.to {
		return ""
	}
	at := sinceMidnight(now.In(h.zone))
	open := at >= h.from && at < h.to
	if h.from > h.to { // across midnight
		open = at >= h.from || at < h.to
	}
	if open {
		return ""
	}
	return fmt.Sprintf("fetching is allowed from %s on", time.Time{}.Add(h.from).Format("15:04"))
}
