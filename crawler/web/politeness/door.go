package politeness

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
)

// door is the state of a door: of the URLs of one scheme, host and port. A host has a door for each scheme. What fails
// at one says nothing about the others: a refused port 21 is not port 80. The pause between requests and the only
// connection are the host's (turnstile).
//
// The rule: a door is closed when its URLs fail in a row, failuresInRow different ones, with no answer in between, and
// again at each further one; each time for twice as long. A URL that has failed says no more of its door until it has
// answered: its retries, however many and after whatever, are its own affair. Any answer opens the door, and ends the
// row.
//
// A connection that was made and then broke is neither a failure nor an answer: somebody listens, and dislikes this
// URL. Where that is so for every URL, robots.txt cannot be read either, and nothing is asked.
type door struct {
	dead  []uint64  // hashes of the URLs that have failed since their own last answer, the latest maxDead of them
	row   int       // how many of them failed since the last answer of any
	level int       // how often in a row the door was closed
	until time.Time // when it opens; zero if it was not closed since the last answer
	last  time.Time // when it was closed
	error string    // the last failure, for people
}

const (
	firstBackoff  = time.Minute
	quiet         = 30 * time.Minute // after that time without a failure, a back-off starts over
	failuresInRow = 3                // so many different URLs that fail in a row are a failure of their door
	maxDead       = 100
	maxFailure    = 200 // bytes of door.error
)

// word is what a result says of the door that the request went through.
type word int

const (
	nothing  word = iota // there was no request, or what came of it is this machine's
	answered             // whatever the answer was
	failed               // nothing answered, or not in time
	broken               // a connection was made, and ended before an answer
)

// says returns what a result says of its door. This is the one place that decides whose a failure is.
func (r Result) says() word {
	if r.URL == "" {
		return nothing
	}
	switch r.Class {
	case catalog.ErrForbiddenTarget, catalog.ErrBadURL, catalog.ErrDiskFull, catalog.ErrInternal:
		return nothing
	case catalog.ErrNetwork, catalog.ErrTimeout, catalog.ErrDNS, catalog.ErrTLS:
		switch {
		case r.Latency > 0: // an answer began
			return answered
		case r.Class == catalog.ErrNetwork && r.Connected:
			return broken
		}
		return failed
	}
	return answered
}

// note updates the door after a request, which closes it for at most longest. It reports whether what must be stored
// has changed.
func (d *door) note(r Result, now time.Time, longest time.Duration) (changed bool) {
	if d.level > 0 && now.Sub(d.last) > quiet && now.Sub(d.until) > quiet {
		*d, changed = door{dead: d.dead}, true
	}
	url := hashOf(r.URL)
	known := slices.Index(d.dead, url)
	switch r.says() {
	case answered:
		changed = changed || d.row > 0 || d.level > 0 || known >= 0
		if known >= 0 {
			d.dead = slices.Delete(d.dead, known, known+1)
		}
		*d = door{dead: d.dead}
	case failed:
		d.error = r.Error[:min(len(r.Error), maxFailure)]
		if known >= 0 {
			return changed
		}
		d.dead = append(d.dead, url)
		d.dead = d.dead[max(0, len(d.dead)-maxDead):]
		changed = true
		if d.row++; d.row >= failuresInRow {
			d.until, d.last = now.Add(min(backoffTime(d.level), longest)), now
			d.level++
		}
	}
	return changed
}

func hashOf(url string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(url))
	return h.Sum64()
}

// backoffTime returns the length of a back-off that was doubled so often. It varies by a quarter, so that hosts that
// failed together are not retried together.
func backoffTime(level int) time.Duration {
	wait := firstBackoff << min(level, 20)
	return wait + time.Duration(rand.Int64N(int64(wait)/4+1))
}

// Closed describes a door that is closed: its URLs must not be asked for.
type Closed struct {
	Door     string    `json:"door"` // scheme, host and port, as address.URL.Authority returns it
	Until    time.Time `json:"until"`
	Failures int       `json:"failures"` // different URLs that failed in a row
	Error    string    `json:"error"`    // the last of the failures
}

// Closed describes a door, and reports whether it is closed now.
func (g *Gate) Closed(name string) (c Closed, closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	scheme, host := splitDoor(name)
	t, err := g.turnstile(host)
	if err != nil {
		return Closed{Door: name}, false
	}
	return t.closed(scheme, host, time.Now())
}

// closed describes the door of a scheme.
func (t *turnstile) closed(scheme, host string, now time.Time) (c Closed, closed bool) {
	c.Door = scheme + "://" + host
	d := t.doors[scheme]
	if d == nil || !now.Before(d.until) {
		return c, false
	}
	c.Until, c.Failures, c.Error = d.until, d.row, d.error
	return c, true
}

// closedDoors describes the closed doors of a host.
func (t *turnstile) closedDoors(host string, now time.Time) (all []Closed) {
	for scheme := range t.doors {
		if c, closed := t.closed(scheme, host, now); closed {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b Closed) int { return strings.Compare(a.Door, b.Door) })
	return all
}

// splitDoor splits the name of a door. The scheme of a host without one is "": such a passage goes through no door.
func splitDoor(name string) (scheme, host string) {
	scheme, host, found := strings.Cut(name, "://")
	if !found {
		return "", name
	}
	return scheme, host
}

// noteDoor updates the door that a request went through, if that is one of the host, and reports whether what must be
// stored has changed. The caller holds mu.
func (t *turnstile) noteDoor(host string, r Result, now time.Time, longest time.Duration) (changed bool) {
	u, err := address.Parse(r.URL)
	if err != nil || u.Group() != host {
		return false
	}
	d := t.doors[u.Scheme]
	if d == nil {
		if r.says() != failed {
			return false
		}
		if d = (&door{}); t.doors == nil {
			t.doors = map[string]*door{}
		}
		t.doors[u.Scheme] = d
	}
	changed = d.note(r, now, longest)
	if d.level == 0 && len(d.dead) == 0 {
		delete(t.doors, u.Scheme)
	}
	return changed
}

// wait returns the error for a closed door.
func (c Closed) wait() *Wait {
	_, host := splitDoor(c.Door)
	return &Wait{Host: host, Door: c.Door, Until: c.Until, Why: "back-off", Failures: c.Failures, Failure: c.Error}
}

// failures returns how often, and how, a door failed, in words.
func failures(n int, last string) string {
	text := fmt.Sprintf("%d failures", n)
	if n == 1 {
		text = "a failure"
	}
	if last != "" {
		text += ": " + last
	}
	return text
}
