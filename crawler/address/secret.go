package address

import (
	"regexp"
	"strconv"
	"strings"
)

// WithoutSecret returns a URL without its credentials, and whether it had any: the user and password of http and https,
// and the password of ftp, whose user names the directory. The archive describes its files in public, so it neither
// keeps nor sends credentials. From a text that is not a valid URL, WithoutSecret removes whatever may be a user or
// password. Without credentials, it returns raw as it is spelled.
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

// WithoutSecret returns the URL without its credentials, and whether it had any.
func (u URL) WithoutSecret() (public URL, stripped bool) {
	user := ""
	if u.Scheme == "ftp" {
		user, _, _ = strings.Cut(u.User, ":")
	}
	stripped = user != u.User
	u.User = user
	return u, stripped
}

// withoutUser removes what may be credentials, between the two slashes and an '@', from an invalid URL that begins like
// one of http, https or ftp. A password may contain a slash: if the text before the first slash cannot be a host and a
// port, everything up to the last '@' is removed.
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

// Redact removes users and passwords from the URLs in a text, such as an error message.
func Redact(text string) string { return userInText.ReplaceAllString(text, "$1") }
