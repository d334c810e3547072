package cdx

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/sparqlapi/problem"
)

const (
	// MaxLines is the maximum number of lines of an answer. A resumeKey continues after them.
	MaxLines = 100_000
	// maxHeld bounds the captures in memory when they are sorted, or when the last lines are requested.
	maxHeld    = 50_000
	maxFilters = 20
)

// request has the parsed parameters of a request.
type request struct {
	prefixes   []string // of keys, in order
	exact      bool
	from, to   string // timestamps of 14 digits; "" means no bound
	filters    []filter
	fields     []string // canonical names; nil means those of the format
	collapse   func(catalog.Capture) string
	format     string // "cdxj", "text", "json", "jsonl"
	limit      int
	last       bool // the last lines instead of the first
	reverse    bool
	closest    time.Time // if not zero, lines are in the order of their distance from it
	resume     string    // resumeKey, "" for the beginning
	showResume bool
	pages      pages
}

// parse parses the parameters of a request. It ignores unknown parameters, as other servers do.
func parse(q url.Values) (request, error) {
	r := request{limit: MaxLines, format: "cdxj", resume: q.Get("resumeKey"), showResume: isOn(q.Get("showResumeKey"))}
	if err := r.parseTarget(q.Get("url"), q.Get("matchType")); err != nil {
		return r, err
	}
	var err error
	if r.from, err = bound(q.Get("from"), "00000101000000"); err != nil {
		return r, err
	}
	if r.to, err = bound(q.Get("to"), "99991231235959"); err != nil {
		return r, err
	}
	if l := q.Get("limit"); l != "" {
		if r.limit, err = strconv.Atoi(l); err != nil || r.limit == 0 {
			return r, bad("limit=%q is not a number of lines", l)
		}
		if r.last = r.limit < 0; r.last {
			r.limit = min(-max(r.limit, -maxHeld), maxHeld)
		}
		r.limit = min(r.limit, MaxLines)
	}
	switch f := q.Get("output"); f {
	case "", "cdxj":
	case "json", "jsonl", "text":
		r.format = f
	case "ndjson":
		r.format = "jsonl"
	case "cdx":
		r.format = "text"
	default:
		return r, bad("output=%q: expected cdxj, text, json or jsonl", f)
	}
	if err := r.parseFields(q); err != nil {
		return r, err
	}
	if err := r.parseFilters(q); err != nil {
		return r, err
	}
	if err := r.parseCollapse(q.Get("collapse")); err != nil {
		return r, err
	}
	if err := r.parseSort(q); err != nil {
		return r, err
	}
	return r, r.parsePages(q)
}

// parseTarget reads url and matchType: "*.host" is a domain, "url*" a prefix.
func (r *request) parseTarget(target, match string) error {
	if target == "" {
		return bad("expected /cdx?url= followed by an address")
	}
	if match == "" {
		switch {
		case strings.HasPrefix(target, "*."):
			match, target = "domain", target[2:]
		case strings.HasSuffix(target, "*"):
			match, target = "prefix", target[:len(target)-1]
		default:
			match = "exact"
		}
	}
	scheme, _, _ := strings.Cut(target, ":")
	if !slices.Contains([]string{"http", "https", "ftp"}, strings.ToLower(scheme)) {
		target = "http://" + strings.TrimLeft(target, "/")
	}
	key, err := address.CDX(target)
	if err != nil {
		return problem.Wrap(http.StatusBadRequest, "Bad parameter", err)
	}
	host := key[:strings.IndexByte(key, ')')]
	switch match {
	case "exact":
		r.prefixes, r.exact = []string{key + "\x00"}, true
	case "prefix":
		r.prefixes = []string{key}
	case "host":
		r.prefixes = []string{host + ")"}
	case "domain": // in the order of keys; a port follows the host name
		host, _, _ = strings.Cut(host, ":")
		r.prefixes = []string{host + ")", host + ",", host + ":"}
	default:
		return bad("matchType=%q: expected exact, prefix, host or domain", match)
	}
	return nil
}

var digits = regexp.MustCompile(`^[0-9]{1,14}$`)

// bound completes a timestamp of fewer digits, to the beginning or the end of the period it names, with the digits of
// rest.
func bound(s, rest string) (string, error) {
	if s == "" {
		return "", nil
	}
	if !digits.MatchString(s) {
		return "", bad("%q is not a timestamp: expected up to 14 digits, YYYYMMDDhhmmss", s)
	}
	return s + rest[len(s):], nil
}

// fieldNames has the names that other servers use for our fields.
var fieldNames = map[string][]string{
	"urlkey": nil, "timestamp": nil, "original": {"url"}, "mimetype": {"mime", "mime-detected"}, "statuscode": {"status"}, "digest": nil,
	"length":   nil,
	"filename": nil, "charset": {"encoding"}, "id": nil, "md5": nil, "etag": nil, "lastmodified": {"last-modified"},
}

func fieldName(s string) (string, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	for name, others := range fieldNames {
		if s == name || slices.Contains(others, s) {
			return name, true
		}
	}
	return "", false
}

func (r *request) parseFields(q url.Values) error {
	list := q.Get("fl")
	if list == "" {
		list = q.Get("fields")
	}
	if list == "" {
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		field, ok := fieldName(name)
		if !ok {
			return bad(
				"unknown field %q; expected urlkey, timestamp, original, mimetype, statuscode, digest, length, filename, charset, id, "+
					"md5, etag, lastmodified", name)
		}
		r.fields = append(r.fields, field)
	}
	if r.format == "cdxj" && q.Get("output") == "" {
		r.format = "text"
	}
	return nil
}

// filter is one [!][=|~]field:expression: the field contains, equals or matches the expression. Without = or ~, an
// expression with special characters also counts as a regular expression, as users of the Wayback Machine expect.
type filter struct {
	field string
	not   bool
	match func(string) bool
}

func (r *request) parseFilters(q url.Values) error {
	list := q["filter"]
	if len(list) > maxFilters {
		return bad("%d filters; at most %d are allowed", len(list), maxFilters)
	}
	for _, s := range list {
		f := filter{}
		rest, not := strings.CutPrefix(s, "!")
		f.not = not
		mark := ""
		if rest != "" && (rest[0] == '=' || rest[0] == '~') {
			mark, rest = rest[:1], rest[1:]
		}
		name, expr, ok := strings.Cut(rest, ":")
		if f.field, _ = fieldName(name); !ok || f.field == "" {
			return bad("filter=%q: expected [!][=|~]field:expression, as in filter=!statuscode:200", s)
		}
		re, err := regexp.Compile("^(?:" + expr + ")$")
		switch {
		case len(expr) > 1000:
			return bad("a filter's expression is longer than 1,000 characters")
		case mark == "=":
			f.match = func(v string) bool { return v == expr }
		case mark == "~" && err == nil:
			begin, err := regexp.Compile("^(?:" + expr + ")")
			if err != nil {
				return bad("filter=%q: %v", s, err)
			}
			f.match = begin.MatchString
		case err != nil:
			return bad("filter=%q: %v", s, err)
		case strings.ContainsAny(expr, `.*+?[](){}|^$\`):
			f.match = func(v string) bool { return re.MatchString(v) || strings.Contains(v, expr) }
		default:
			f.match = func(v string) bool { return strings.Contains(v, expr) }
		}
		r.filters = append(r.filters, f)
	}
	return nil
}

// parseCollapse parses field[:n]: of adjacent captures with the same first n characters of a field, the first is given.
func (r *request) parseCollapse(s string) error {
	if s == "" {
		return nil
	}
	name, width, cut := strings.Cut(s, ":")
	field, ok := fieldName(name)
	n, err := strconv.Atoi(width)
	if !ok || cut && (err != nil || n < 1) {
		return bad("collapse=%q: expected a field, or a field and a number of characters, as in timestamp:8", s)
	}
	r.collapse = func(c catalog.Capture) string {
		v := value(c, field)
		if cut {
			v = v[:min(n, len(v))]
		}
		return c.Key + " " + v
	}
	return nil
}

func (r *request) parseSort(q url.Values) error {
	sort, closest := q.Get("sort"), q.Get("closest")
	if closest != "" && sort == "" {
		sort = "closest"
	}
	switch sort {
	case "", "default", "regular":
		return nil
	case "reverse":
		r.reverse, r.last = true, false
	case "closest":
		if !digits.MatchString(closest) {
			return bad("sort=closest requires closest=, up to 14 digits, YYYYMMDDhhmmss")
		}
		full := closest + "00000101000000"[len(closest):]
		t, err := time.Parse("20060102150405", full)
		if err != nil {
			return bad("closest=%q is not a time", closest)
		}
		r.closest = t
	default:
		return bad("sort=%q: expected reverse or closest", sort)
	}
	if !r.exact {
		return bad("sort=%s requires matchType=exact", sort)
	}
	return nil
}

func isOn(s string) bool { return s == "true" || s == "1" }

func bad(format string, args ...any) error {
	return problem.Newf(http.StatusBadRequest, "Bad parameter", format, args...)
}
