package frontier

import "strings"

// Records leave out what follows from their keys: most URLs are spelled as their keys are, but for the order of the
// host's labels.

// spell returns the URL that a key is made of, if it was in canonical form, and else one that resembles it. It never
// fails.
func spell(key string) string {
	scheme, rest, ok := strings.Cut(key, "://(")
	host, path, ok2 := strings.Cut(rest, ")")
	if !ok || !ok2 {
		return key
	}
	var b strings.Builder
	b.Grow(len(key))
	b.WriteString(scheme)
	b.WriteString("://")
	if user, after, ok := strings.Cut(host, "@"); ok {
		b.WriteString(user)
		b.WriteByte('@')
		host = after
	}
	labels, port := host, ""
	if i := strings.LastIndexByte(host, ','); i >= 0 { // an IP address has no comma
		labels, port = host[:i], host[i+1:]
		for first := true; labels != ""; first = false {
			if !first {
				b.WriteByte('.')
			}
			i := strings.LastIndexByte(labels, ',')
			b.WriteString(labels[i+1:])
			labels = labels[:max(i, 0)]
		}
	}
	b.WriteString(labels)
	b.WriteString(port)
	b.WriteString(path)
	return b.String()
}

// groupIn returns the group of a URL that is in canonical form, and else any text.
func groupIn(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

// sharedEnd returns the length of the longest common end of two texts.
func sharedEnd(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}
