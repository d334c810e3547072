package fetch

import (
	"mime"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"odarchive/crawler/address"
)

const longestRetryAfter = 24 * time.Hour

// RetryAfter parses both forms of the header (RFC 9110 §10.2.3). It returns 0 for an invalid value, and at most a day.
func RetryAfter(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if v == "" {
		return 0
	}
	if strings.Trim(v, "0123456789") == "" {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n > int64(longestRetryAfter/time.Second) {
			return longestRetryAfter
		}
		return time.Duration(n) * time.Second
	}
	t, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return max(0, min(t.Sub(now), longestRetryAfter))
}

// restWanted returns for how long a host does not want to be asked because a limit of requests is used up, as it says
// in RateLimit-Remaining and RateLimit-Reset, or their older names with X-. It returns 0 if it does not say so, and at
// most an hour: what a host means by these fields varies.
func restWanted(h http.Header, now time.Time) time.Duration {
	for _, prefix := range []string{"Ratelimit-", "X-Ratelimit-"} {
		left, leftOK := leadingNumber(h.Get(prefix + "Remaining"))
		reset, resetOK := leadingNumber(h.Get(prefix + "Reset"))
		if !leftOK || !resetOK || left > 0 {
			continue
		}
		if reset > 1e9 { // a time, not a number of seconds
			reset = max(0, reset-now.Unix())
		}
		return min(time.Duration(min(reset, 3600))*time.Second, time.Hour)
	}
	return 0
}

// leadingNumber parses the number at the beginning of a field such as "0" or "0;w=60".
func leadingNumber(v string) (n int64, ok bool) {
	v = strings.TrimSpace(v)
	if end := strings.IndexFunc(v, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
		v = v[:end]
	}
	n, err := strconv.ParseInt(v, 10, 64)
	return n, err == nil
}

// maxName is the maximum length of a file name in bytes, as file systems have it.
const maxName = 200

// fileName returns a name for a file, from Content-Disposition (RFC 6266) or else the last part of the URL's path.
func fileName(disposition string, u address.URL) string {
	if _, params, err := mime.ParseMediaType(disposition); err == nil && params["filename"] != "" {
		if name := safeName(params["filename"]); name != "" {
			return name
		}
	} else if name := safeName(looseFileName(disposition)); name != "" {
		return name
	}
	last := path.Base(u.Path)
	if plain, err := url.PathUnescape(last); err == nil {
		last = plain
	}
	return safeName(last)
}

// looseFileName parses what mime.ParseMediaType rejects: unquoted names with spaces or non-ASCII bytes.
func looseFileName(disposition string) string {
	_, rest, ok := strings.Cut(disposition, "filename=")
	if !ok {
		return ""
	}
	rest = strings.TrimSpace(rest)
	if quoted, ok := strings.CutPrefix(rest, `"`); ok {
		rest, _, _ = strings.Cut(quoted, `"`)
		return rest
	}
	rest, _, _ = strings.Cut(rest, ";")
	return strings.TrimSpace(rest)
}

// safeName makes a path element of a name: no directories, no control characters, valid UTF-8, at most maxName bytes.
func safeName(name string) string {
	name = strings.ToValidUTF8(name, "_")
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimSpace(name)
	if strings.Trim(name, ".") == "" {
		return ""
	}
	if len(name) > maxName { // keep the extension
		ext := path.Ext(name)
		if len(ext) > 20 {
			ext = ""
		}
		cut := maxName - len(ext)
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut] + ext
	}
	return name
}

// cookies are the cookies of one fetch, by authority. Some portals redirect a new visitor once to set one. No cookie
// outlives the fetch or reaches another host.
type cookies map[string][]*http.Cookie

const (
	maxCookies     = 30
	maxCookieBytes = 4 << 10
)

// set adds the cookies that a response sets.
func (c cookies) set(u address.URL, h http.Header) {
	for i, line := range h.Values("Set-Cookie") {
		cookie, err := http.ParseSetCookie(line)
		if err != nil || i >= maxCookies || len(line) > maxCookieBytes {
			continue
		}
		mine := c[u.Authority()]
		kept := mine[:0]
		for _, old := range mine {
			if old.Name != cookie.Name {
				kept = append(kept, old)
			}
		}
		if cookie.MaxAge >= 0 && len(kept) < maxCookies {
			kept = append(kept, cookie)
		}
		c[u.Authority()] = kept
	}
}

// header returns the Cookie header for a URL.
func (c cookies) header(u address.URL) string {
	var b strings.Builder
	for _, cookie := range c[u.Authority()] {
		pair := cookie.Name + "=" + cookie.Value
		if b.Len()+len(pair) > maxCookieBytes {
			break
		}
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(pair)
	}
	return b.String()
}
