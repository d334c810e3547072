package politeness

import (
	"fmt"
	"strings"
	"time"
)

// Hours of the day in which fetching is allowed, for those who crawl by night only. The zero value allows all.
type Hours struct {
	from, to time.Duration // since midnight; equal: always
	zone     *time.Location
}

// ParseHours reads "22:00-06:00", in a time zone (nil: UTC). "" allows all hours.
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
		return Hours{}, fmt.Errorf("politeness: the hours %q are not written like 22:00-06:00", text)
	}
	return Hours{sinceMidnight(a), sinceMidnight(b), zone}, nil
}

func sinceMidnight(t time.Time) time.Duration {
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
}

// Closed says why nothing is fetched at a time, "" when it may be.
func (h Hours) Closed(now time.Time) string {
	if h.from == h.to {
		return ""
	}
	at := sinceMidnight(now.In(h.zone))
	open := at >= h.from && at < h.to
	if h.from > h.to { // over midnight
		open = at >= h.from || at < h.to
	}
	if open {
		return ""
	}
	return fmt.Sprintf("fetching is allowed from %s on", time.Time{}.Add(h.from).Format("15:04"))
}
