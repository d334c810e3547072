// Package retention decides which versions of files need not be kept, by rules of whoever runs the archive. It knows
// versions by their records only, and removes nothing.
//
// The first rule whose conditions hold for a version decides. What no rule is for stays. The latest version of a file
// stays, unless a rule with keep = "none" is for it.
package retention

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/scope"
)

// Rule says which versions stay among those that its conditions hold for. JSON and TOML names are stable.
type Rule struct {
	Name   string   `toml:"name" json:"name"`               // default: its number, from 1
	Portal string   `toml:"portal" json:"portal,omitempty"` // lists the file; "" for any, and for files that none lists
	Match  string   `toml:"match" json:"match,omitempty"`   // conditions of package scope on URL, type and size; "" for none
	Older  string   `toml:"older" json:"older,omitempty"`   // only versions that were fetched longer ago: 90d, 2y, 36h; "" for all
	Keep   string   `toml:"keep" json:"keep"`               // all, none, "last 3", "one a day", "one a week", "one a month", "one a year"
	Except []string `toml:"except" json:"except,omitempty"` // ids and IRIs of versions, and URLs, that the rule is not for

	matches *scope.Scope // nil for all
	older   time.Duration
	last    int    // of Keep "last N"; 0 for others
	period  string // of Keep "one a PERIOD"; "" for others
}

// Limits of rules.
const (
	maxRules  = 100
	maxName   = 100 // bytes
	maxExcept = 10_000
)

// Check returns the rules, ready for Decide. The error says what is wrong with them.
func Check(rules []Rule) ([]Rule, error) {
	if len(rules) > maxRules {
		return nil, fmt.Errorf("%d rules of retention, and at most %d are allowed", len(rules), maxRules)
	}
	seen := map[string]bool{}
	out := slices.Clone(rules)
	for i := range out {
		r := &out[i]
		if r.Name = strings.TrimSpace(r.Name); r.Name == "" {
			r.Name = strconv.Itoa(i + 1)
		}
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("rule of retention %.100q: %w", r.Name, err)
		}
		if seen[r.Name] {
			return nil, fmt.Errorf("there are two rules of retention with the name %q", r.Name)
		}
		seen[r.Name] = true
	}
	return out, nil
}

func (r *Rule) check() (err error) {
	if len(r.Name) > maxName || len(r.Except) > maxExcept {
		return fmt.Errorf("expected a name of at most %d bytes, and at most %d exceptions", maxName, maxExcept)
	}
	if r.Match != "" {
		if r.matches, err = scope.Open(nil, scope.Options{Deny: []string{r.Match}}); err != nil {
			return fmt.Errorf("match: %w", err)
		}
	}
	if r.Older != "" {
		if r.older, err = parseAge(r.Older); err != nil {
			return fmt.Errorf("older: %w", err)
		}
	}
	return r.parseKeep()
}

// parseAge parses an age such as 36h, 90d or 2y. A year has 365 days.
func parseAge(text string) (time.Duration, error) {
	for unit, days := range map[string]int{"d": 1, "y": 365} {
		if number, ok := strings.CutSuffix(text, unit); ok {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n*days > 100*365 {
				break
			}
			return time.Duration(n*days) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not an age such as 36h, 90d or 2y", text)
	}
	return d, nil
}

func (r *Rule) parseKeep() error {
	words := strings.Fields(r.Keep)
	switch {
	case r.Keep == "all":
		return nil
	case r.Keep == "none":
		if r.Older == "" {
			return errors.New(`keep = "none" needs older, as in older = "2y"`)
		}
		return nil
	case len(words) == 2 && words[0] == "last":
		n, err := strconv.Atoi(words[1])
		if err == nil && n >= 1 && n <= 1_000_000 {
			r.last = n
			return nil
		}
	case len(words) == 3 && words[0] == "one" && words[1] == "a" && slices.Contains([]string{"day", "week", "month", "year"}, words[2]):
		r.period = words[2]
		return nil
	}
	return fmt.Errorf(`keep = %q: expected "all", "none", "last N", "one a day", "one a week", "one a month" or "one a year"`, r.Keep)
}

// Gone is a version that a rule does not keep.
type Gone struct {
	catalog.Version
	Rule int // its place in the rules
}

// Decide returns which versions of a file need not be kept, oldest first. rules are those that Check has returned;
// versions are all of the file, in the order of their dates.
func Decide(rules []Rule, file catalog.Resource, versions []catalog.Version, now time.Time) (gone []Gone) {
	left := slices.DeleteFunc(slices.Clone(versions), func(v catalog.Version) bool { return v.Withdrawn != nil })
	latest := slices.IndexFunc(left, func(v catalog.Version) bool { return v.N == file.LatestN() && v.IsData() })
	if latest < 0 { // the last by date otherwise
		latest = len(left) - 1
		for i, v := range slices.Backward(left) {
			if v.IsData() {
				latest = i
				break
			}
		}
	}
	for i, v := range left {
		n := slices.IndexFunc(rules, func(r Rule) bool { return r.isFor(file, v, now) })
		if n < 0 || i == latest && rules[n].Keep != "none" || rules[n].keeps(left, i) {
			continue
		}
		gone = append(gone, Gone{v, n})
	}
	return gone
}

// isFor reports whether the conditions of a rule hold for a version.
func (r *Rule) isFor(file catalog.Resource, v catalog.Version, now time.Time) bool {
	switch {
	case r.Portal != "" && !slices.Contains(file.Portals, r.Portal):
		return false
	case r.older > 0 && now.Sub(v.At) <= r.older:
		return false
	case slices.ContainsFunc(r.Except, func(e string) bool { return e == v.ID || e == v.URL || strings.HasSuffix(e, "/"+v.ID) }):
		return false
	}
	return r.matches == nil || r.matches.Test(scope.Question{Area: scope.Crawl, URL: v.URL, Type: v.Type, Size: v.Size}) != ""
}

// keeps reports whether a rule keeps the version at a place among those of its file that are not withdrawn.
func (r *Rule) keeps(all []catalog.Version, i int) bool {
	switch {
	case r.last > 0:
		return len(all)-i <= r.last
	case r.period != "": // the last one of each period
		return i == len(all)-1 || r.periodOf(all[i].At) != r.periodOf(all[i+1].At)
	}
	return r.Keep == "all"
}

// periodOf names the period, in UTC, that a time is in.
func (r *Rule) periodOf(at time.Time) string {
	at = at.UTC()
	switch r.period {
	case "day":
		return at.Format("2006-01-02")
	case "week":
		year, week := at.ISOWeek()
		return fmt.Sprint(year, week)
	case "month":
		return at.Format("2006-01")
	}
	return at.Format("2006")
}

// Reason is what the record of a version says that a rule did not keep.
func (r *Rule) Reason() string {
	text := fmt.Sprintf("The rule of retention %q keeps %s", r.Name, r.Keep)
	if r.Older != "" {
		text += " of versions older than " + r.Older
	}
	return text + "."
}
