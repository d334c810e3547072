package unpack

import (
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"odarchive/crawler/inspect/charset"
)

// maxName is the maximum length of a part of a path, in bytes.
const maxName = 200

// cleanPath turns any name of a member into a harmless relative path: no drive, no root, no "..", no control
// characters, forward slashes.
func cleanPath(raw string) string {
	s := strings.ToValidUTF8(raw, "_")
	s = strings.ReplaceAll(s, `\`, "/")
	if len(s) >= 2 && s[1] == ':' {
		s = s[2:]
	}
	var parts []string
	for p := range strings.SplitSeq(s, "/") {
		p = strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError {
				return '_'
			}
			return r
		}, p)
		p = strings.TrimSpace(p)
		switch p {
		case "", ".":
			continue
		case "..":
			p = "_"
		}
		if len(p) > maxName {
			ext := path.Ext(p)
			if len(ext) > 16 {
				ext = ""
			}
			p = strings.ToValidUTF8(p[:maxName-len(ext)], "") + ext
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return "unnamed"
	}
	if len(parts) > 64 {
		parts = parts[len(parts)-64:]
	}
	return strings.Join(parts, "/")
}

// decodeNames returns the names of a zip that does not declare their encoding in UTF-8. It assumes one encoding for
// all.
func decodeNames(names []string) []string {
	all := strings.Join(names, "\n")
	if utf8.ValidString(all) {
		return names
	}
	enc := "ibm437" // the format's default (APPNOTE.TXT, appendix D)
	if g := charset.Detect([]byte(all), ""); g.Confidence >= 0.6 {
		enc = g.Name
	}
	r, err := charset.NewReader(strings.NewReader(all), enc)
	if err != nil {
		return names
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return names
	}
	out := strings.Split(string(text), "\n")
	if len(out) != len(names) {
		return names
	}
	return out
}
