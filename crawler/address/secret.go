package address

import (
	"regexp"
	"strconv"
	"strings"
)

// WithoutSecret returns a URL without what nobody else should read in it, and whether there was any: the user and the
// password of http and https, and the password of ftp, where the user names the directory. An archive describes what it
// holds in public, so it neither keeps such secrets nor sends them. Of what is no URL, all that may be such a secret is taken out.
func WithoutSecret(raw string) (public string, stripped bool) {
	if !strings.Contains(raw, "@") {
		return raw, false
	}
	u, err := Parse(raw)
	if err != nil {
		public = withoutUser(raw)
		return public, public != raw
	}
	if u, stripped = u.WithoutSecret(); !stripped {
		return raw, false
	}
	return u.String(), true
}

// WithoutSecret is the same for a URL that has been read already.
func (u URL) WithoutSecret() (public URL, stripped bool) {
	user := ""
	if u.Scheme == "ftp" {
		user, _, _ = strings.Cut(u.User, ":")
	}
	stripped = user != u.User
	u.User = user
	return u, stripped
}

// withoutUser takes out of a text that is no URL, but begins like one of http, https or ftp, what stands where the user and the
// password would: between the two slashes and an @. A password may hold a slash, so where the text up to the first one cannot be a host
// and a port, the last @ counts.
func withoutUser(raw string) string {
	scheme, _, ok := strings.Cut(raw, "//")
	switch strings.ToLower(strings.TrimSpace(scheme)) {
	case "http:", "https:", "ftp:", "":
	default:
		ok = false
	}
	if !ok {
		return raw
	}
	begin := len(scheme) + 2
	authority := raw[begin:]
	if i := strings.IndexAny(authority, "/?#\\"); i >= 0 {
		authority = authority[:i]
	}
	at := strings.LastIndex(authority, "@")
	if _, port, ok := strings.Cut(authority, ":"); at < 0 && ok {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			at = strings.LastIndex(raw[begin:], "@")
		}
	}
	return raw[:begin] + raw[begin+at+1:]
}

var userInText = regexp.MustCompile(`(?i)\b((?:https?|ftp)://)[^\s/?#"'<>@]*@`)

// Redact takes the users and passwords out of the URLs in a sentence, such as an error's.
func Redact(text string) string { return userInText.ReplaceAllString(text, "$1") }
