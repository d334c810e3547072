package surt

import "strings"

// WithoutSecret returns a URL without what nobody else should read in it, and whether there was any: the user and the
// password of http and https, and the password of ftp, where the user names the directory. An archive describes what it
// holds in public, so it neither keeps such secrets nor sends them. What is no URL is returned as it is.
func WithoutSecret(raw string) (public string, stripped bool) {
	if !strings.Contains(raw, "@") {
		return raw, false
	}
	u, err := Parse(raw)
	if err != nil {
		return raw, false
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
