package files

import (
	"net/http"
	"net/url"
	"regexp"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// MementoTimestamp is the layout of times in the addresses of web archives, in UTC.
const MementoTimestamp = "20060102150405"

// stamped is the part of such an address before the URL: up to 14 digits, and a modifier of two letters. Players ask
// with id_ for the bytes as they are. This archive never changes them, so that all modifiers mean the same.
var stamped = regexp.MustCompile(`^([0-9]{4,14})([a-z]{2}_)?$`)

// starred is that part of the address of a calendar: of all versions, or of those of a year.
var starred = regexp.MustCompile(`^([0-9]{0,14})\*$`)

// calendar redirects to the page of a URL, with the year that the digits begin with. Other web archives have a calendar
// there.
func (m *Memento) calendar(w http.ResponseWriter, r *http.Request, address, digits string) error {
	q := url.Values{"url": {address}}
	if len(digits) >= 4 {
		q.Set("year", digits[:4])
	}
	if _, err := m.some(r.Context(), address); err != nil {
		return err
	}
	http.Redirect(w, r, m.Mint.Base+"dataset?"+q.Encode()+"#versions", http.StatusFound)
	return nil
}

// Web answers GET /web/{TIMESTAMP}{URL} as other web archives do: with the bytes of the version of that second, or with
// a redirect to the one whose time is nearest. Without a timestamp, that is the latest one.
func (m *Memento) Web(w http.ResponseWriter, r *http.Request) error {
	first, stamp, modifier := r.PathValue("timestamp"), "", ""
	var calendar []string
	if found := stamped.FindStringSubmatch(first); found != nil {
		stamp, modifier = found[1], found[2]
	} else if calendar = starred.FindStringSubmatch(first); calendar == nil {
		// the route has taken the beginning of the address for a timestamp
		r = r.Clone(r.Context())
		r.SetPathValue("*", first+"/"+r.PathValue("*"))
	}
	address, _, err := target.URL(r)
	if err != nil {
		return err
	}
	if calendar != nil {
		return m.calendar(w, r, address, calendar[1])
	}
	list, err := m.some(r.Context(), address)
	if err != nil {
		return err
	}
	v := list[len(list)-1]
	if stamp != "" {
		at, err := parseStamp(stamp)
		if err != nil {
			return problem.Newf(http.StatusBadRequest, "Bad timestamp", "%q is not a time: expected up to 14 digits, YYYYMMDDhhmmss", stamp)
		}
		v = nearest(list, at)
	}
	exact := v.At.UTC().Format(MementoTimestamp)
	if exact == stamp {
		return m.Serve(w, r, v.ID)
	}
	w.Header().Set("Cache-Control", "no-cache")
	http.Redirect(w, r, m.Mint.Base+"web/"+exact+modifier+"/"+reference(address), http.StatusFound)
	return nil
}

// parseStamp parses a timestamp; what it lacks is the beginning of the year, month, day, hour or minute.
func parseStamp(s string) (time.Time, error) {
	const rest = "00000101000000"
	return time.Parse(MementoTimestamp, s+rest[min(len(s), len(rest)):])
}

// nearest returns the version whose time is nearest to at, in whole seconds; of several, the last.
func nearest(list []catalog.Version, at time.Time) catalog.Version {
	best := list[0]
	for _, v := range list {
		if distance(v, at) <= distance(best, at) {
			best = v
		}
	}
	return best
}

func distance(v catalog.Version, at time.Time) time.Duration {
	return v.At.Truncate(time.Second).Sub(at).Abs()
}
