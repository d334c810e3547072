package crawler

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/politeness"

	"golang.org/x/net/html"
)

// Statements by which hosts ask not to be archived, besides robots.txt. They are honoured only if the operator says so:
// an archive with a mandate by law need not, and portals publish open data under headers that their web servers add to
// all pages.
const (
	NoArchive      = "noarchive" // X-Robots-Tag, and <meta name="robots"> of pages
	TDMReservation = "tdm"       // W3C TDM Reservation Protocol: /.well-known/tdmrep.json, the header tdm-reservation, <meta>
)

// CheckStatements returns an error if a word is none of the statements.
func CheckStatements(list []string) error {
	for _, one := range list {
		if one != NoArchive && one != TDMReservation {
			return fmt.Errorf("%q: expected %s or %s", one, NoArchive, TDMReservation)
		}
	}
	return nil
}

func (p *Pipeline) honours(statement string) bool { return slices.Contains(p.Honour, statement) }

// honour gives the exchange of a file that its host asks not to keep its outcome, and reports whether it did. The body
// is examined no further.
func (p *Pipeline) honour(ex *fetch.Exchange) bool {
	why := p.OptOut(ex)
	if why == "" {
		return false
	}
	ex.Outcome, ex.ErrorClass, ex.Why = catalog.RobotsDenied, "", why
	ex.Taped.Write = nil // it is in no WARC file either
	return true
}

// OptOut returns why the body of an exchange is not to be kept by what its header, or the page itself, says and the
// archive honours; "" if it may be.
func (p *Pipeline) OptOut(ex *fetch.Exchange) (why string) {
	if len(p.Honour) == 0 || ex.Body == nil {
		return ""
	}
	if p.honours(NoArchive) && saysNoArchive(ex.ResponseHeader.Values("X-Robots-Tag")) {
		return "the host asks archives not to keep it (X-Robots-Tag: noarchive)"
	}
	if p.honours(TDMReservation) && strings.TrimSpace(ex.ResponseHeader.Get("Tdm-Reservation")) == "1" {
		return "the host reserves its rights (tdm-reservation: 1)"
	}
	return p.pageOptOut(ex)
}

// saysNoArchive reports whether values of X-Robots-Tag have the rule noarchive or none, for all robots or for this one.
func saysNoArchive(values []string) bool {
	for _, v := range values {
		forUs := true // rules before the name of a robot are for all
		for rule := range strings.SplitSeq(strings.ToLower(v), ",") {
			rule = strings.TrimSpace(rule)
			if name, rest, ok := strings.Cut(rule, ":"); ok && name != "unavailable_after" && !strings.HasPrefix(name, "max-") {
				forUs, rule = strings.TrimSpace(name) == "odarchive", strings.TrimSpace(rest)
			}
			if forUs && (rule == "noarchive" || rule == "none") {
				return true
			}
		}
	}
	return false
}

// maxPageHead bounds how much of a page is searched for its meta elements, in bytes.
const maxPageHead = 64 << 10

// pageOptOut is OptOut for what the meta elements of a page say. What is declared as another type is no page.
func (p *Pipeline) pageOptOut(ex *fetch.Exchange) (why string) {
	if t := mediaType(ex.ContentType); t != "" && t != "text/html" && t != "application/xhtml+xml" {
		return ""
	}
	body := ex.Body.Open()
	defer body.Close()
	head, err := io.ReadAll(io.LimitReader(body, maxPageHead))
	if err != nil {
		return "" // keeping it will fail as well
	}
	for name, content := range metaElements(head) {
		switch {
		case p.honours(NoArchive) && (name == "robots" || name == "odarchive") && saysNoArchive([]string{content}):
			return "the page asks archives not to keep it (meta " + name + ": noarchive)"
		case p.honours(TDMReservation) && name == "tdm-reservation" && strings.TrimSpace(content) == "1":
			return "the page reserves its rights (meta tdm-reservation)"
		}
	}
	return ""
}

// metaElements yields the names, in lower case, and contents of meta elements.
func metaElements(page []byte) func(yield func(name, content string) bool) {
	return func(yield func(name, content string) bool) {
		z := html.NewTokenizer(bytes.NewReader(page))
		z.SetMaxBuf(maxPageHead)
		for {
			kind := z.Next()
			if kind == html.ErrorToken {
				return
			}
			if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
				continue
			}
			t := z.Token()
			if t.Data != "meta" {
				continue
			}
			var name, content string
			for _, a := range t.Attr {
				switch a.Key {
				case "name":
					name = strings.ToLower(strings.TrimSpace(a.Val))
				case "content":
					content = a.Val
				}
			}
			if name != "" && !yield(name, content) {
				return
			}
		}
	}
}

const (
	tdmrepPath = "/.well-known/tdmrep.json"
	tdmrepAge  = 24 * time.Hour // how long what a host said holds
	maxTDMRep  = 1 << 20        // bytes of the file
	maxTDMHost = 10_000         // hosts that are remembered
	maxTDMRule = 1000           // rules of a host
)

// reservations remembers what the tdmrep.json files of hosts say.
type reservations struct {
	mu    sync.Mutex // guards hosts
	hosts map[string]reservation
}

type reservation struct {
	until time.Time
	rules []tdmRule
}

// tdmRule is an element of a tdmrep.json file.
type tdmRule struct {
	Location    string `json:"location"`
	Reservation int    `json:"tdm-reservation"`
	pattern     *regexp.Regexp
}

func (r *reservations) of(origin string, now time.Time) (rules []tdmRule, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.hosts[origin]
	return found.rules, ok && now.Before(found.until)
}

func (r *reservations) set(origin string, rules []tdmRule, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.hosts) >= maxTDMHost {
		clear(r.hosts)
	}
	if r.hosts == nil {
		r.hosts = map[string]reservation{}
	}
	r.hosts[origin] = reservation{until, rules}
}

// reservedFor returns why the host's tdmrep.json reserves the rights in a URL, "" if it does not or need not be asked.
// The file is read once a day, as a visit of its own: the error may be a *politeness.Wait.
func (p *Pipeline) reservedFor(ctx context.Context, link string, wait time.Duration) (why string, err error) {
	if !p.honours(TDMReservation) {
		return "", nil
	}
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", nil // the visit says what is wrong with it
	}
	if _, err := address.Parse(link); err != nil {
		return "", nil
	}
	origin := u.Scheme + "://" + u.Host
	rules, known := p.reserved.of(origin, time.Now())
	if !known {
		if rules, err = p.readTDMRep(ctx, origin, wait); err != nil {
			return "", err
		}
		p.reserved.set(origin, rules, time.Now().Add(tdmrepAge))
	}
	for _, r := range rules { // the first that matches counts
		if r.pattern.MatchString(u.EscapedPath()) {
			if r.Reservation == 1 {
				return "the host reserves its rights in " + r.Location + " (" + tdmrepPath + ")", nil
			}
			return "", nil
		}
	}
	return "", nil
}

// readTDMRep requests the tdmrep.json file of a host. A host without one, or with one that cannot be read, reserves
// nothing.
func (p *Pipeline) readTDMRep(ctx context.Context, origin string, wait time.Duration) (rules []tdmRule, err error) {
	link := origin + tdmrepPath
	pass, verdict, err := p.Gate.Visit(ctx, link, wait)
	if err != nil || !verdict.Allowed {
		return nil, err
	}
	result := politeness.Result{}
	defer func() { pass.Leave(result) }()
	ex, err := p.Fetch(ctx, fetch.Request{URL: link, Check: p.redirects(pass, nil), MaxBody: maxTDMRep})
	if err != nil {
		return nil, err
	}
	defer p.remove(ex)
	result = politeness.ResultOf(ex)
	if ex.Body == nil || ex.Status != http.StatusOK {
		return nil, nil
	}
	body := ex.Body.Open()
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, maxTDMRep))
	if err != nil {
		return nil, err
	}
	return parseTDMRep(text), nil
}

// parseTDMRep returns the rules of a tdmrep.json file. Those that are malformed are left out.
func parseTDMRep(text []byte) (rules []tdmRule) {
	var all []tdmRule
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	for _, r := range all[:min(len(all), maxTDMRule)] {
		if !strings.HasPrefix(r.Location, "/") || len(r.Location) > 1000 {
			continue
		}
		path, end := strings.CutSuffix(r.Location, "$")
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(path), `\*`, ".*")
		if end {
			pattern += "$"
		}
		var err error
		if r.pattern, err = regexp.Compile(pattern); err == nil {
			rules = append(rules, r)
		}
	}
	return rules
}
