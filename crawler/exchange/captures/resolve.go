package captures

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/cdxj"
	"odarchive/crawler/exchange/warc"
)

const (
	maxRedirects  = 10        // that are followed one after the other
	redirectsTime = time.Hour // longest time between a redirect and the response for its target
)

// resolve finds the bodies of revisits and redirects. It drops those whose body is not in the file, and adds their
// number to others.
func resolve(all []entry, others int) ([]Capture, int) {
	// The maps have only what revisits and redirects refer to: most files have few of these and many records.
	byID, byDigest, byDate, byURL := map[string]*entry{}, map[string]*entry{}, map[string]*entry{}, map[string][]*entry{}
	redirects := false
	for i := range all {
		e := &all[i]
		redirects = redirects || e.location != ""
		if e.kind == warc.Revisit {
			byID[e.refersTo], byDigest[e.digest] = nil, nil
			if key, ok := dateKey(strings.Cut(e.refersAt, " ")); ok {
				byDate[key] = nil
			}
		}
	}
	for i := range all {
		e := &all[i]
		if redirects {
			byURL[place(e.URL)] = append(byURL[place(e.URL)], e)
		}
		if e.kind == warc.Revisit || e.location != "" {
			continue
		}
		if _, wanted := byID[e.id]; wanted {
			byID[e.id] = e
		}
		if first, wanted := byDigest[e.digest]; wanted && first == nil {
			byDigest[e.digest] = e
		}
		if len(byDate) > 0 {
			key := e.URL + " " + e.At.Format(time.RFC3339Nano)
			if _, wanted := byDate[key]; wanted {
				byDate[key] = e
			}
		}
	}
	for _, list := range byURL {
		slices.SortStableFunc(list, func(a, b *entry) int { return a.At.Compare(b.At) })
	}
	delete(byID, "")
	delete(byDigest, "")
	original := func(e *entry) *entry {
		if o := byID[e.refersTo]; o != nil {
			return o
		}
		if o := byDigest[e.digest]; o != nil {
			return o
		}
		if key, ok := dateKey(strings.Cut(e.refersAt, " ")); ok {
			return byDate[key]
		}
		return nil
	}
	var found []Capture
	for i := range all {
		e := &all[i]
		c := e.Capture
		var o *entry
		switch {
		case e.location != "":
			if o, c.FinalURL, c.hops = follow(e, byURL); o != nil && o.kind == warc.Revisit {
				o = original(o)
			}
		case e.kind == warc.Revisit:
			if o = original(e); e.status == http.StatusOK {
				c.head = e.offset
			}
		default:
			found = append(found, c)
			continue
		}
		if o == nil {
			others++
			continue
		}
		if c.offset, c.segments, c.length, c.Truncated = o.offset, o.segments, o.length, o.Truncated; c.FinalURL == "" {
			c.FinalURL = o.FinalURL
		}
		found = append(found, c)
	}
	return found, others
}

// dateKey returns a key of an address and a date. ok is false if the date is malformed. The third parameter is ignored:
// it is the last result of strings.Cut.
func dateKey(uri, date string, _ bool) (key string, ok bool) {
	at, err := warc.ParseDate(date)
	return uri + " " + at.Format(time.RFC3339Nano), err == nil
}

// follow follows a redirect to the first record that is not a redirect. It returns the record, its URL and the
// redirects that lead there, or nil if the file lacks it. The records in byURL are in the order of their dates.
func follow(e *entry, byURL map[string][]*entry) (*entry, string, []catalog.Hop) {
	hops := []catalog.Hop{{URL: e.URL, Status: e.status, At: e.At}}
	at, here, location := e.At, e.URL, e.location
	seen := map[string]bool{place(here): true}
	for range maxRedirects {
		base, err := url.Parse(here)
		if err != nil {
			return nil, "", nil
		}
		target, err := base.Parse(location)
		if err != nil {
			return nil, "", nil
		}
		target.Fragment = ""
		here = target.String()
		list := byURL[place(here)]
		// The first record that is not before the redirect. The redirect's date may be that of the end of the fetch.
		i, _ := slices.BinarySearchFunc(list, at.Add(-time.Second), func(o *entry, at time.Time) int { return o.At.Compare(at) })
		if i < len(list) && list[i] == e {
			i++
		}
		if i == len(list) || list[i].At.Sub(at) >= redirectsTime {
			return nil, "", nil
		}
		next := list[i]
		if next.location == "" {
			return next, here, hops
		}
		if seen[place(here)] {
			return nil, "", nil
		}
		seen[place(here)] = true
		hops = append(hops, catalog.Hop{URL: next.URL, Status: next.status, At: next.At})
		at, location = next.At, next.location
	}
	return nil, "", nil
}

// place returns the index key of an address with its scheme, which keys leave out.
func place(address string) string {
	scheme, _, _ := strings.Cut(address, ":")
	return strings.ToLower(scheme) + " " + cdxj.Key(address)
}
