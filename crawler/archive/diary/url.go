package diary

import "strings"

// alikeURLs reports whether two final URLs differ at most in their queries and in tokens of their paths, which servers make
// anew for each answer.
func alikeURLs(a, b string) bool {
	a, _, _ = strings.Cut(a, "?")
	b, _, _ = strings.Cut(b, "?")
	if a == b {
		return true
	}
	one, other := strings.Split(a, "/"), strings.Split(b, "/")
	if len(one) != len(other) || len(one) <= beforePath {
		return false
	}
	for i := range one {
		if one[i] != other[i] && (i < beforePath || !areTokens(one[i], other[i])) {
			return false
		}
	}
	return true
}

const (
	beforePath = 3  // segments: scheme, nothing, and host
	minToken   = 16 // characters
)

// areTokens reports whether two segments of paths are random texts: long, of letters and digits, and different in more than
// half of their places. Names of two days or editions share their words, and most of their digits.
func areTokens(a, b string) bool {
	if !isLong(a) || !isLong(b) {
		return false
	}
	if isJWT(a) && isJWT(b) {
		return true
	}
	long, short := max(len(a), len(b)), min(len(a), len(b))
	differences := long - short
	for i := range short {
		if a[i] != b[i] {
			differences++
		}
	}
	return 2*differences > long
}

// isJWT reports whether a segment looks like a JSON Web Token, of which only the time and the signature differ (RFC 7519).
func isJWT(segment string) bool {
	return strings.HasPrefix(segment, "eyJ") && strings.Count(segment, ".") == 2
}

// isLong reports whether a segment is long enough for a token, and has the characters of base64url, hexadecimal digits or a
// JSON Web Token, with letters and digits among them.
func isLong(segment string) bool {
	letters, digits := 0, 0
	for i := range len(segment) {
		switch c := segment[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			letters++
		case !strings.ContainsRune("-_.~=%", rune(c)):
			return false
		}
	}
	return len(segment) >= minToken && letters > 0 && digits > 1
}
