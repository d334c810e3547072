package ui

import "strings"

// squeeze returns a style sheet without its comments and without the white space that means nothing, because every page
// waits for it. It changes nothing inside quotes.
func squeeze(css []byte) []byte {
	out := make([]byte, 0, len(css))
	space := false // white space or a comment was left out
	for i := 0; i < len(css); i++ {
		c := css[i]
		switch {
		case strings.IndexByte(" \t\r\n\f", c) >= 0:
			space = true
			continue
		case c == '/' && i+1 < len(css) && css[i+1] == '*':
			end := strings.Index(string(css[i+2:]), "*/")
			if end < 0 {
				return out
			}
			i += end + 3
			space = true
			continue
		}
		if space && len(out) > 0 && strings.IndexByte("{};,:", out[len(out)-1]) < 0 && strings.IndexByte("{};,", c) < 0 {
			out = append(out, ' ')
		}
		space = false
		if c == '"' || c == '\'' {
			end := i + 1
			for end < len(css) && css[end] != c {
				if css[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(css))
			out = append(out, css[i:end]...)
			i = end - 1
			continue
		}
		out = append(out, c)
	}
	return out
}
