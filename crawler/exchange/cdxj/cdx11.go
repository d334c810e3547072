package cdxj

import (
	"cmp"
	"strconv"
	"strings"
)

// CDX11Header is the first line of an index of the format CDX-11, without its end. It sorts before all others.
const CDX11Header = " CDX N b a m s k r M S V g"

// CDX11 returns the line of a capture in the format CDX-11, without its end: the key, the time as 14 digits, the
// address, media type, status, digest, target of a redirect, robots flags, length, offset and file. Unknown fields are
// "-", which the target and the flags always are. A SHA-1 has no prefix, as usual in this format.
func (c Capture) CDX11() string {
	status := "-"
	if c.Status > 0 {
		status = strconv.Itoa(c.Status)
	}
	digest := c.Digest
	if name, value, ok := strings.Cut(digest, ":"); ok && strings.EqualFold(name, "sha1") {
		digest = value
	}
	f := []string{c.Key, c.At.UTC().Format(Timestamp), c.URL, c.MIME, status, digest, "-", "-",
		strconv.FormatInt(c.Length, 10), strconv.FormatInt(c.Offset, 10), c.File}
	for i := range f {
		f[i] = cmp.Or(strings.Join(strings.Fields(f[i]), "%20"), "-")
	}
	return strings.Join(f, " ")
}
