package crawler

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/politeness"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Waits is what is due, and what of that must not be asked for yet. A file is due by its schedule; when it may be asked
// for is up to its host. All messages are made of it.
type Waits struct {
	Held    string     `json:"held,omitempty"`    // why nothing is asked at all, such as a pause of the crawl
	Due     int        `json:"due"`               // files that are due now
	Askable int        `json:"mayBeAsked"`        // those of them whose hosts may be asked now
	NextDue time.Time  `json:"nextDue,omitzero"`  // when the next file that is not due yet will be
	Hosts   []HostWait `json:"hosts"`             // that hold up the others, those that may be asked first
	More    int        `json:"more,omitempty"`    // such hosts that are not listed
	Partial bool       `json:"partial,omitempty"` // not all was counted, because it is too much
}

// HostWait is what a host, or one of its doors (scheme, host and port), holds up, and why.
type HostWait struct {
	Host     string    `json:"host"`
	Door     string    `json:"door,omitempty"` // scheme, host and port if only files there wait; "" for all of the host
	Due      int       `json:"due,omitempty"`  // files that are due; 0 where they were not counted
	Until    time.Time `json:"until"`          // when it may be asked again
	Why      string    `json:"why"`            // politeness.Wait.Why, or proxy
	Failures int       `json:"failures,omitempty"`
	Failure  string    `json:"failure,omitempty"` // the last of these; or why robots.txt cannot be read
}

// Waits returns what is due and what waits, with at most limit hosts.
func (p *Pipeline) Waits(limit int) (Waits, error) {
	q, err := p.Frontier.Queue(limit)
	if err != nil {
		return Waits{}, err
	}
	w := Waits{Held: p.Frontier.Held(), Due: q.Due, Askable: q.Askable, NextDue: q.NextDue, Hosts: make([]HostWait, len(q.Waits)),
		More: q.Hosts - len(q.Waits), Partial: q.Partial}
	for i, one := range q.Waits {
		w.Hosts[i] = p.hostWait(one)
	}
	return w, nil
}

// recentWaits is Waits for those who look often: a long queue is counted once in a few seconds.
func (p *Pipeline) recentWaits() (Waits, error) {
	p.waits.mu.Lock()
	defer p.waits.mu.Unlock()
	if time.Since(p.waits.at) < waitsKept && (p.waits.last.Partial || p.waits.last.Due > waitsCheap) {
		return p.waits.last, nil
	}
	w, err := p.Waits(maxWaits)
	if err == nil {
		p.waits.last, p.waits.at = w, time.Now()
	}
	return w, err
}

const (
	waitsKept  = 5 * time.Second
	waitsCheap = 2000 // so many due files are counted in about a millisecond of processor time
)

// lastWaits is what recentWaits returned last.
type lastWaits struct {
	mu   sync.Mutex // guards the rest; held while they are counted, so that one request counts for all
	last Waits
	at   time.Time
}

func (p *Pipeline) hostWait(w frontier.Wait) HostWait {
	h := HostWait{Host: w.Host, Door: w.Door, Due: w.Due, Until: w.Until, Why: w.Why}
	if w.Why == politeness.WhyUnread && p.Gate != nil {
		h.Failure = p.Gate.Robots.Unread(w.Door)
		return h
	}
	if w.Door != "" && p.Gate != nil {
		if c, closed := p.Gate.Closed(w.Door); closed {
			h.Failures, h.Failure = c.Failures, c.Error
		}
	}
	return h
}

// WaitOf returns what holds up one URL, without how many others are due. ok is false if its host may be asked.
func (p *Pipeline) WaitOf(url string) (w HostWait, ok bool, err error) {
	u, err := address.Parse(url)
	if err != nil {
		return HostWait{}, false, err
	}
	held, ok, err := p.Frontier.Wait(u.Group(), u.Authority())
	if err != nil || !ok {
		return HostWait{}, false, err
	}
	return p.hostWait(held), true, nil
}

// whyWaits says why a host must not be asked, in words.
var whyWaits = map[string]string{
	"politeness":         "the pause between two requests",
	"robots":             "the Crawl-delay of its robots.txt",
	"retry-after":        "it asked to be left alone",
	"rate-limit":         "its limit of requests",
	"daily":              "the requests of the day that an operator permits are used up",
	"paused":             "an operator has paused it",
	politeness.WhyUnread: "its robots.txt cannot be read: nothing may be fetched until it can",
	"network":            "it could not be reached, or the network was down",
	"proxy":              "its proxy cannot be used",
	"busy":               "it is being asked",
}

// Reason returns why the host must not be asked, in words.
func (h HostWait) Reason() string {
	if h.Failures > 0 {
		return strings.TrimSuffix(english.Plural(h.Failures, "failure", "")+" in a row: "+h.Failure, ": ")
	}
	if h.Why == politeness.WhyUnread && h.Failure != "" {
		return h.Failure
	}
	if h.Why == "back-off" && h.Door == "" {
		return "it answered that it is overloaded"
	}
	if text, ok := whyWaits[h.Why]; ok {
		return text
	}
	if h.Why == "back-off" {
		return "its files failed in a row"
	}
	return h.Why
}

// advise is String with what a person can do.
func (h HostWait) advise() string {
	switch h.Why {
	case "retry-after", "back-off":
		return h.String() + "; 'odarchive admin requeue " + h.Host + "' lets it be asked at once"
	case "paused":
		return "an operator has paused " + h.Host + "; 'odarchive admin resume " + h.Host + "' ends that"
	}
	return h.String()
}

// Name returns the host, or its door if only files there wait.
func (h HostWait) Name() string {
	if h.Door != "" {
		return h.Door
	}
	return h.Host
}

// String returns a sentence without a full stop: "city.example may be asked again at 14:05:00Z (it asked to be left
// alone)".
func (h HostWait) String() string {
	return fmt.Sprintf("%s may be asked again at %s (%s)", h.Name(), h.Until.UTC().Format(time.RFC3339), h.Reason())
}

// String says what is due and what waits, in one sentence without a full stop.
func (w Waits) String() string {
	if w.Due == 0 && w.NextDue.IsZero() {
		return "no file is waiting for a visit"
	}
	if w.Due == 0 {
		return "nothing is due before " + w.NextDue.UTC().Format(time.RFC3339)
	}
	text := humanize.Comma(int64(w.Due)) + " files are due"
	if w.Due == 1 {
		text = "1 file is due"
	}
	if w.Partial {
		text = "more than " + text
	}
	if w.Held != "" {
		return text + ", and nothing is asked for: the crawl stands still: " + w.Held
	}
	if held := w.Due - w.Askable; held > 0 && w.Askable > 0 {
		text += fmt.Sprintf(", %s may be asked for now", humanize.Comma(int64(w.Askable)))
	} else if w.Askable > 0 {
		text += " and may be asked for now"
	}
	said := 0
	for i, g := range sameReason(w.Hosts) {
		switch {
		case i >= maxSaid:
			return text + "; " + english.Plural(len(w.Hosts)+w.More-said, "more host waits", "more hosts wait")
		case i == 0 && len(g) == len(w.Hosts) && w.More == 0:
			text += "; " + g.String()
		default:
			text += fmt.Sprintf("; %s of them: %s", humanize.Comma(int64(g.due())), g)
		}
		said += len(g)
	}
	if w.More > 0 && len(w.Hosts) > 0 {
		text += "; " + english.Plural(w.More, "more host waits", "more hosts wait")
	}
	return text
}

// waiting are hosts that wait for the same reason, those that may be asked first.
type waiting []HostWait

// sameReason returns the hosts by the reason for which they wait, in the order of the first of each.
func sameReason(hosts []HostWait) (groups []waiting) {
	place := map[string]int{}
	for _, h := range hosts {
		reason := h.Why + " " + h.Failure
		at, known := place[reason]
		if !known {
			at = len(groups)
			place[reason] = at
			groups = append(groups, nil)
		}
		groups[at] = append(groups[at], h)
	}
	return groups
}

func (g waiting) due() (files int) {
	for _, h := range g {
		files += h.Due
	}
	return files
}

// String is that of the one host, or names the first of several and when the first of them may be asked again.
func (g waiting) String() string {
	if len(g) == 1 {
		return g[0].String()
	}
	var names []string
	first, last := g[0].Until, g[0].Until
	for _, h := range g {
		if len(names) < maxSaid {
			names = append(names, h.Name())
		}
		if h.Until.Before(first) {
			first = h.Until
		}
		if h.Until.After(last) {
			last = h.Until
		}
	}
	if more := len(g) - len(names); more > 0 {
		names = append(names, english.Plural(more, "more", "more"))
	}
	from := "at "
	if last.Sub(first) >= time.Second {
		from = "from " // the first of them
	}
	return fmt.Sprintf("%s may be asked again %s%s (%s)", english.WordSeries(names, "and"), from, first.UTC().Format(time.RFC3339),
		g[0].Reason())
}

// waitOf describes what the gate waits for.
func waitOf(w *politeness.Wait) HostWait {
	return HostWait{Host: w.Host, Door: w.Door, Until: w.Until, Why: w.Why, Failures: w.Failures, Failure: w.Failure}
}

// NotFetched is the error for a URL that a person named and that was not fetched.
type NotFetched struct {
	URL string
	Why string // a sentence without a full stop
}

func (n *NotFetched) Error() string { return n.URL + " was not fetched: " + n.Why }

// maxSaid is the number of hosts that a sentence names.
const maxSaid = 3
