package diary

import "strings"

// alikeURLs reports whether two final URLs differ at most in their queries and in tokens of their paths, which servers
// make anew for each answer.
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

// areTokens reports whether two segments of paths are random texts of the same length that differ in more than half of
// their places. Names of files are not taken for tokens: what has words changes less often between letters and digits.
func areTokens(a, b string) bool {
	if isJWT(a) && isJWT(b) {
		return true
	}
	if len(a) != len(b) || !isRandom(a) || !isRandom(b) {
		return false
	}
	differences := 0
	for i := range len(a) {
		if a[i] != b[i] {
			differences++
		}
	}
	return 2*differences > len(a)
}

// isJWT reports whether a segment looks like a JSON Web Token, of which only the time and the signature differ (RFC
// 7519).
func isJWT(segment string) bool {
	return strings.HasPrefix(segment, "eyJ") && strings.Count(segment, ".") == 2
}

// isRandom reports whether a segment looks like hexadecimal digits, a UUID or base64url: long, and if it has other
// letters than a to f, often of another kind than the character before. Of base64, six in ten are, of hexadecimal
// digits with a prefix almost half; of names of data sets with their years, two in ten. What has several separators is
// more likely a name.
func isRandom(segment string) bool {
	const lower, upper, digit = 1, 2, 3
	kind, changes, n, hexadecimal := 0, 0, 0, true
	for i := range len(segment) {
		now := 0
		switch c := segment[i]; {
		case c >= '0' && c <= '9':
			now = digit
		case c >= 'a' && c <= 'z':
			now, hexadecimal = lower, hexadecimal && c <= 'f'
		case c >= 'A' && c <= 'Z':
			now, hexadecimal = upper, hexadecimal && c <= 'F'
		case strings.IndexByte("-_~=", c) < 0: // a dot is of a name
			return false
		default:
			continue
		}
		if n++; kind != 0 && now != kind {
			changes++
		}
		kind = now
	}
	often := 4
	if len(segment)-n > 1 {
		often = 3
	}
	return len(segment) >= minToken && changes > 1 && (hexadecimal || often*changes >= n)
}
