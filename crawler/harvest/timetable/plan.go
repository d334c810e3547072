package timetable

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/harvest"
)

// Plan says what is harvested, and when. It is a [[harvest]] table of the settings file, or the body of an order.
type Plan struct {
	Kind     string   `toml:"kind" json:"kind"`
	URL      string   `toml:"url" json:"url"`
	Every    Interval `toml:"every" json:"every,omitempty"` // from one start to the next; 0 with At, and else a day
	At       Texts    `toml:"at" json:"at,omitempty"`       // times of day, such as "03:30", or of a week, such as "mon 03:30"
	Portal   string   `toml:"portal" json:"portal,omitempty"`
	Since    string   `toml:"since" json:"since,omitempty"`
	Until    string   `toml:"until" json:"until,omitempty"`
	Sets     Texts    `toml:"set" json:"set,omitempty"`
	Limit    int      `toml:"limit" json:"limit,omitempty"` // listings; 0 for all
	Graphs   bool     `toml:"graphs" json:"graphs,omitempty"`
	Withdraw bool     `toml:"withdraw" json:"withdraw,omitempty"` // without asking
	Paused   Reason   `toml:"paused" json:"paused,omitempty"`     // why it is not run, "" if it is
}

const (
	usualEvery = Interval(24 * time.Hour)
	minEvery   = Interval(time.Minute)
	maxEvery   = Interval(10 * 366 * 24 * time.Hour)
	maxTimes   = 48
	maxText    = 2000 // bytes of a setting
)

// ErrBad is wrapped by the errors for plans that are malformed.
var ErrBad = errors.New("not a harvest that can be planned")

// Check returns the plan in its usual form, or an error that names the first invalid setting.
func (p Plan) Check() (Plan, error) {
	bad := func(format string, args ...any) (Plan, error) {
		return p, fmt.Errorf("%w: "+format, append([]any{ErrBad}, args...)...)
	}
	p.Kind, p.URL, p.Portal = strings.TrimSpace(p.Kind), strings.TrimSpace(p.URL), strings.TrimSpace(p.Portal)
	for _, text := range append([]string{p.Kind, p.URL, p.Portal, p.Since, p.Until, string(p.Paused)}, p.Sets...) {
		if len(text) > maxText || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
			return bad("%.100q is too long, or has control characters", text)
		}
	}
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return bad("url %q is not an address such as https://data.example.org", p.URL)
	}
	if _, secret := address.WithoutSecret(p.URL); secret {
		return bad("the url has a user or password, which would become public")
	}
	switch {
	case p.Kind == "":
		return bad("%s has no kind", p.URL)
	case p.Every != 0 && len(p.At) > 0:
		return bad("%s has both every and at", p.URL)
	case p.Every != 0 && (p.Every < minEvery || p.Every > maxEvery):
		return bad("every = %q: expected a time from %s to ten years", p.Every, minEvery)
	case len(p.At) > maxTimes:
		return bad("more than %d times in at", maxTimes)
	case p.Limit < 0:
		return bad("limit %d is negative", p.Limit)
	}
	if p.Every == 0 && len(p.At) == 0 {
		p.Every = usualEvery
	}
	for _, at := range p.At {
		if _, _, err := parseAt(at); err != nil {
			return bad("%w", err)
		}
	}
	for _, date := range []string{p.Since, p.Until} {
		if _, err := harvest.ParseSince(date); err != nil {
			return bad("%w", err)
		}
	}
	return p, nil
}

// Part returns the part of the source that the plan selects.
func (p Plan) Part() harvest.Selection {
	return harvest.Selection{Since: p.Since, Until: p.Until, Sets: p.Sets}
}

// ID returns what identifies the plan: ten hexadecimal digits of the SHA-256 of what it harvests.
func (p Plan) ID() string {
	sum := sha256.Sum256([]byte(strings.Join([]string{p.Kind, p.URL, p.Portal, p.Part().String()}, "\n")))
	return hex.EncodeToString(sum[:5])
}

// When says when the plan is run, for people: "every 24h", "at 03:30, mon 12:00".
func (p Plan) When() string {
	if len(p.At) > 0 {
		return "at " + strings.Join(p.At, ", ")
	}
	return "every " + cmp.Or(p.Every, usualEvery).String()
}

// host returns the host of the source. One harvest of a host runs at a time.
func (p Plan) host() string {
	u, err := url.Parse(p.URL)
	if err != nil {
		return p.URL
	}
	return strings.ToLower(u.Hostname())
}

// next returns the time of the run that follows one that began at a time, after another time.
func (p Plan) next(began, after time.Time) time.Time {
	if len(p.At) == 0 {
		every := time.Duration(cmp.Or(p.Every, usualEvery))
		if due := began.Add(every); due.After(after) {
			return due
		}
		return after.Add(min(every, time.Minute)) // it took longer than that
	}
	var first time.Time
	for _, at := range p.At {
		weekday, minute, err := parseAt(at)
		if err != nil {
			continue // Check refuses those
		}
		for day := range 9 { // the eighth day may have the same weekday, and a day may lack the hour
			y, m, d := after.Date()
			t := time.Date(y, m, d+day, minute/60, minute%60, 0, 0, after.Location())
			if !t.After(after) || weekday >= 0 && t.Weekday() != time.Weekday(weekday) {
				continue
			}
			if first.IsZero() || t.Before(first) {
				first = t
			}
			break
		}
	}
	return first
}

// parseAt parses "03:30" or "mon 03:30". weekday is -1 for every day.
func parseAt(text string) (weekday, minute int, err error) {
	day, clock, both := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	if weekday = -1; both {
		if weekday = weekdayOf(day); weekday < 0 {
			return 0, 0, fmt.Errorf("at %q: expected a time such as 03:30 or mon 03:30", text)
		}
	} else {
		clock = day
	}
	t, err := time.Parse("15:04", strings.TrimSpace(clock))
	if err != nil {
		return 0, 0, fmt.Errorf("at %q: expected a time such as 03:30 or mon 03:30", text)
	}
	return weekday, t.Hour()*60 + t.Minute(), nil
}

func weekdayOf(name string) int {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if full := strings.ToLower(d.String()); name == full || name == full[:3] {
			return int(d)
		}
	}
	return -1
}

// Interval is a duration, written as "90m", "24h" or "7d".
type Interval time.Duration

// ParseInterval parses a duration. Beside the units of time.ParseDuration, there are days.
func ParseInterval(text string) (Interval, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n > 0 && n <= 3660 {
			return Interval(n * float64(24*time.Hour)), nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a time such as 90m, 24h or 7d", text)
	}
	return Interval(d), nil
}

// String returns the shortest usual form: "24h", "1h30m".
func (i Interval) String() string {
	text := time.Duration(i).String()
	if before, ok := strings.CutSuffix(text, "m0s"); ok {
		text = before + "m"
	}
	if before, ok := strings.CutSuffix(text, "h0m"); ok {
		text = before + "h"
	}
	return text
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *Interval) UnmarshalText(text []byte) (err error) {
	*i, err = ParseInterval(string(text))
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (i Interval) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// Texts is a text, or a list of texts.
type Texts []string

// UnmarshalTOML implements toml.Unmarshaler.
func (t *Texts) UnmarshalTOML(value any) error {
	switch v := value.(type) {
	case string:
		*t = Texts{v}
		return nil
	case []any:
		*t = nil
		for _, one := range v {
			s, ok := one.(string)
			if !ok {
				return fmt.Errorf("%v is not a text", one)
			}
			*t = append(*t, s)
		}
		return nil
	}
	return fmt.Errorf("%v is neither a text nor a list of texts", value)
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Texts) UnmarshalJSON(raw []byte) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil || value == nil {
		return err
	}
	return t.UnmarshalTOML(value)
}

// Reason says why a plan is paused, "" if it is not. In settings, true is a reason, too.
type Reason string

// UnmarshalTOML implements toml.Unmarshaler.
func (r *Reason) UnmarshalTOML(value any) error {
	switch v := value.(type) {
	case string:
		*r = Reason(v)
	case bool:
		if *r = ""; v {
			*r = "paused"
		}
	default:
		return fmt.Errorf("paused = %v: expected true, false or a reason", value)
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Reason) UnmarshalJSON(raw []byte) error {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil || value == nil {
		return err
	}
	return r.UnmarshalTOML(value)
}
