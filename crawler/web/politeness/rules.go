package politeness

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/temoto/robotstxt"
)

// Limits for one robots.txt.
const (
	maxRobots    = 512 << 10 // bytes; RFC 9309 §2.5 asks for at least 500 KiB
	maxPattern   = 2 << 10   // bytes of one rule
	maxWildcards = 1000      // rules with wildcards; further ones are cut before the wildcard
	maxSitemaps  = 1000
)

// Rules are the rules of one robots.txt for one crawler (RFC 9309).
//
// temoto/robotstxt matches the patterns. This file adds what it lacks: selecting and merging groups, tolerance of lines
// on which it fails, percent-encoding, anchored wildcards, and precedence by length with Allow before Disallow.
type Rules struct {
	ranks      []rank // most specific first
	CrawlDelay time.Duration
	Sitemaps   []string
}

// rank holds the rules of one length and one verdict, as a group of Disallow lines.
type rank struct {
	length int
	allow  bool
	group  *robotstxt.Group
}

// ParseRobots parses a robots.txt for the crawler with a product token. It never fails: it skips what it cannot parse.
func ParseRobots(text []byte, token string) *Rules {
	if len(text) > maxRobots { // the last line may be incomplete
		text = text[:maxRobots]
		text = text[:bytes.LastIndexAny(text, "\r\n")+1]
	}
	groups, sitemaps := readGroups(text)
	mine := groups[strings.ToLower(token)]
	if mine == nil {
		mine = groups["*"]
	}
	r := &Rules{Sitemaps: sitemaps}
	if mine != nil {
		r.CrawlDelay = mine.delay
		r.ranks = compile(mine.rules)
	}
	return r
}

// group is the union of all groups of one product token (§2.2.1).
type group struct {
	rules []rule
	delay time.Duration
}

type rule struct {
	pattern string // normalised
	allow   bool
}

func readGroups(text []byte) (groups map[string]*group, sitemaps []string) {
	groups = map[string]*group{}
	var agents []*group
	inRules := false
	text = cutMark(text)
	for line := range bytes.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		key, value, ok := cutLine(line)
		if !ok {
			continue
		}
		switch key {
		case "user-agent", "useragent", "user agent":
			if inRules {
				agents, inRules = nil, false
			}
			if token := productToken(value); token != "" {
				if groups[token] == nil {
					groups[token] = &group{}
				}
				agents = append(agents, groups[token])
			} else if len(agents) == 0 {
				agents = []*group{{}} // rules after it must not apply to the groups above
			}
		case "allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw": // common misspellings
			inRules = true
			allow := key == "allow"
			if len(value) > maxPattern { // a longer pattern is cut, and so matches more
				value = cutPattern(value[:maxPattern])
				if allow {
					value = ""
				}
			}
			if value == "" {
				continue
			}
			for _, g := range agents {
				g.rules = append(g.rules, rule{normalisePattern(value), allow})
			}
		case "crawl-delay", "crawldelay":
			if d, ok := parseDelay(value); ok {
				for _, g := range agents {
					g.delay = max(g.delay, d)
				}
			}
		case "sitemap", "site-map": // belongs to no group, and does not end one
			if value != "" && len(sitemaps) < maxSitemaps && len(value) <= maxPattern {
				sitemaps = append(sitemaps, value)
			}
		}
	}
	return groups, sitemaps
}

// cutMark removes a byte order mark, or a part of one.
func cutMark(text []byte) []byte {
	for _, c := range []byte("\xef\xbb\xbf") {
		if len(text) == 0 || text[0] != c {
			break
		}
		text = text[1:]
	}
	return text
}

// cutPattern removes an incomplete escape at the end.
func cutPattern(p string) string {
	if i := strings.LastIndexByte(p, '%'); i >= 0 && i > len(p)-3 {
		return p[:i]
	}
	return p
}

// cutLine parses "key: value # comment". Some files have a space instead of the colon.
func cutLine(line []byte) (key, value string, ok bool) {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		line = line[:i]
	}
	k, v, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		fields := bytes.Fields(line)
		if len(fields) != 2 {
			return "", "", false
		}
		k, v = fields[0], fields[1]
	}
	return strings.ToLower(string(bytes.TrimSpace(k))), string(bytes.TrimSpace(v)), true
}

// productToken returns the product token of a User-agent line (§2.2.1): "odarchive" for "odarchive/1.0 (...)".
func productToken(v string) string {
	if strings.HasPrefix(v, "*") {
		return "*"
	}
	end := strings.IndexFunc(v, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_' || r >= '0' && r <= '9' || r == '.')
	})
	if end >= 0 {
		v = v[:end]
	}
	return strings.ToLower(v)
}

func parseDelay(v string) (time.Duration, bool) {
	v = strings.TrimSuffix(strings.ReplaceAll(v, ",", "."), "s")
	s, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || math.IsNaN(s) || s < 0 {
		return 0, false
	}
	return time.Duration(min(s, (30*24*time.Hour).Seconds()) * float64(time.Second)), true
}

// mark precedes every pattern and path, and occurs nowhere else. It anchors patterns with wildcards, which the library
// would match anywhere in a path.
const mark = "/\x01"

func compile(rules []rule) []rank {
	texts := map[rank]*strings.Builder{}
	wild := 0
	for _, r := range rules {
		k := rank{length: len(r.pattern), allow: r.allow}
		pattern := r.pattern
		if strings.ContainsAny(pattern, "*$") {
			if wild++; wild > maxWildcards {
				if r.allow {
					continue
				}
				pattern = pattern[:strings.IndexAny(pattern, "*$")]
			}
		}
		if texts[k] == nil {
			texts[k] = &strings.Builder{}
		}
		texts[k].WriteString("Disallow: " + mark + pattern + "\n")
	}
	ranks := make([]rank, 0, len(texts))
	for k, text := range texts {
		data, err := robotstxt.FromString("User-agent: *\n" + text.String())
		if err != nil { // never happens; a rule that fails must still forbid
			data, _ = robotstxt.FromString("User-agent: *\nDisallow: " + mark)
		}
		k.group = data.FindGroup("*")
		ranks = append(ranks, k)
	}
	slices.SortFunc(ranks, func(a, b rank) int {
		switch {
		case a.length != b.length:
			return b.length - a.length
		case a.allow:
			return -1
		default:
			return 1
		}
	})
	return ranks
}

// Allowed reports whether a request target, path and query as they are sent, may be fetched.
func (r *Rules) Allowed(pathAndQuery string) bool {
	if pathAndQuery == "/robots.txt" { // §2.2.2
		return true
	}
	path := mark + normalisePath(pathAndQuery)
	for _, k := range r.ranks {
		if !k.group.Test(path) {
			return k.allow
		}
	}
	return true
}

// normalisePattern normalises the percent-encoding of a pattern (§2.2.2), so that it can be compared with a normalised
// path. '*' stays a wildcard, and '$' an anchor at the end; elsewhere '$' is a character.
func normalisePattern(p string) string {
	anchored := strings.HasSuffix(p, "$")
	p = strings.TrimSuffix(p, "$")
	for strings.Contains(p, "**") {
		p = strings.ReplaceAll(p, "**", "*")
	}
	if !strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "*") {
		p = "/" + p
	}
	p = normalise(p, "*")
	if anchored {
		p += "$"
	}
	return p
}

func normalisePath(p string) string { return normalise(p, "") }

func normalise(s, special string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				i += 2
				if isUnreserved(byte(v)) {
					b.WriteByte(byte(v))
				} else {
					b.Write([]byte{'%', hex[v>>4], hex[v&15]})
				}
				continue
			}
		}
		if c > ' ' && c < utf8.RuneSelf && c != 0x7f && c != '$' && c != '*' || strings.IndexByte(special, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
