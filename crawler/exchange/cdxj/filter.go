package cdxj

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/exchange/warc"
)

// Filter selects records that match all its conditions, and of a list any entry. The zero value selects all records.
type Filter struct {
	URL    []string // addresses in any spelling; with "*" at the end, the beginning of addresses
	Host   []string // names of hosts, with or without the port
	Status []string // "404", or a class, "4xx"
	Types  []string // of records
	MIME   []string // "text/csv", or "text/*"
	From   time.Time
	To     time.Time // exclusive

	keys []addressKey // of URL
}

// addressKey is the index key of an address, or the beginning of keys.
type addressKey struct {
	key    string
	prefix bool
}

// NewFilter checks a filter and prepares it for use. The error names the field at fault.
func NewFilter(f Filter) (Filter, error) {
	for _, address := range f.URL {
		start, prefix := strings.CutSuffix(address, "*")
		f.keys = append(f.keys, addressKey{Key(start), prefix})
	}
	f.Host, f.MIME, f.Status = lower(f.Host), lower(f.MIME), lower(f.Status)
	for _, status := range f.Status {
		digits := strings.ReplaceAll(status, "x", "0")
		if n, err := strconv.Atoi(digits); err != nil || n < 100 || n > 999 || len(status) != 3 {
			return f, fmt.Errorf("%q is not a status such as 404 or 4xx", status)
		}
	}
	known := []string{warc.Warcinfo, warc.Response, warc.Resource, warc.Request, warc.Metadata, warc.Revisit, warc.Conversion,
		warc.Continuation}
	for i, t := range f.Types {
		f.Types[i] = strings.ToLower(t)
		if !slices.Contains(known, f.Types[i]) {
			return f, fmt.Errorf("%q is not a type of record; expected one of %s", t, strings.Join(known, ", "))
		}
	}
	return f, nil
}

func lower(list []string) (out []string) {
	for _, s := range list {
		out = append(out, strings.ToLower(s))
	}
	return out
}

// NeedsHTTP reports whether the filter needs the heads of HTTP messages (see Describe).
func (f Filter) NeedsHTTP() bool { return len(f.Status)+len(f.MIME) > 0 }

// anyOf reports whether a list is empty, or an entry matches.
func anyOf[T any](list []T, matches func(T) bool) bool {
	return len(list) == 0 || slices.ContainsFunc(list, matches)
}

// Matches reports whether the filter selects the record for which Describe returned c.
func (f Filter) Matches(c Capture) bool {
	if len(f.Types) > 0 && !slices.Contains(f.Types, c.Type) {
		return false
	}
	if !f.From.IsZero() && c.At.Before(f.From) || !f.To.IsZero() && (c.At.IsZero() || !c.At.Before(f.To)) {
		return false
	}
	status, key := strconv.Itoa(c.Status), ""
	if len(f.keys) > 0 {
		key = Key(c.URL)
	}
	return anyOf(f.Status, func(class string) bool { return len(status) == 3 && matchesClass(status, class) }) &&
		anyOf(f.MIME, func(mime string) bool {
			kind, all := strings.CutSuffix(mime, "*")
			return c.MIME == mime || all && strings.HasPrefix(c.MIME, kind)
		}) &&
		anyOf(f.Host, func(host string) bool { return hostIs(c.URL, host) }) &&
		anyOf(f.keys, func(k addressKey) bool {
			return c.URL != "" && (key == k.key || k.prefix && strings.HasPrefix(key, k.key))
		})
}

// matchesClass compares a status with one in which "x" stands for any digit.
func matchesClass(status, class string) bool {
	for i := range 3 {
		if class[i] != 'x' && class[i] != status[i] {
			return false
		}
	}
	return true
}

func hostIs(address, host string) bool {
	u, err := url.Parse(address)
	return err == nil && (strings.ToLower(u.Hostname()) == host || strings.ToLower(u.Host) == host)
}

// Indexed reports whether all records that the filter selects can be found with an index. unlisted is the index's
// number of records that belong to no capture.
func (f Filter) Indexed(unlisted int) bool {
	if len(f.Status) > 0 {
		return true // only captures have one
	}
	captures := len(f.Types) > 0
	for _, t := range f.Types {
		captures = captures && isCapture(t)
	}
	return captures || len(f.MIME) == 0 && len(f.URL)+len(f.Host) > 0 && unlisted == 0
}

// Prefix returns the longest common prefix of the keys of all captures that the filter selects.
func (f Filter) Prefix() string {
	var all []string
	for _, k := range f.keys {
		if !k.prefix {
			k.key += " "
		}
		all = append(all, k.key)
	}
	if len(all) == 0 {
		for _, name := range f.Host {
			host, _, _ := strings.Cut(Key("http://"+name+"/"), ")")
			host, _, _ = strings.Cut(host, ":")
			all = append(all, host)
		}
	}
	if len(all) == 0 {
		return ""
	}
	first, last := slices.Min(all), slices.Max(all)
	n := 0
	for n < min(len(first), len(last)) && first[n] == last[n] {
		n++
	}
	return first[:n]
}

// Candidate reports whether the filter may select a capture of an index, or a record that belongs to it. The times in
// an index have whole seconds.
func (f Filter) Candidate(c Capture) bool {
	f.Types, f.MIME = nil, nil
	if !f.From.IsZero() {
		f.From = f.From.Truncate(time.Second)
	}
	return f.Matches(c)
}

// ParseTime parses a time for a filter: RFC 3339, a date, or 4 to 14 digits. The time is the span from from up to, but
// not including, until: a year, a month, a day and so on, by its precision.
func ParseTime(s string) (from, until time.Time, err error) {
	for _, l := range []struct {
		layout string
		years  int
		months int
		days   int
		step   time.Duration
	}{
		{time.RFC3339Nano, 0, 0, 0, 0}, {"2006-01-02", 0, 0, 1, 0}, {"2006-01", 0, 1, 0, 0}, {"2006", 1, 0, 0, 0}, {"200601", 0, 1, 0, 0},
		{"20060102", 0, 0, 1, 0},
		{"2006010215", 0, 0, 0, time.Hour}, {"200601021504", 0, 0, 0, time.Minute}, {Timestamp, 0, 0, 0, time.Second},
	} {
		t, err := time.Parse(l.layout, s)
		if err != nil {
			continue
		}
		t = t.UTC()
		end := t.AddDate(l.years, l.months, l.days).Add(l.step)
		if end.Equal(t) { // RFC 3339: as precise as it is written
			end = t.Add(time.Nanosecond)
			if !strings.Contains(s, ".") {
				end = t.Add(time.Second)
			}
		}
		return t, end, nil
	}
	return from, until, fmt.Errorf("%q is not a time such as 2026-01-31, 2026-01-31T12:00:00Z or 20260131120000", s)
}
