package records

import "strings"

// MaxSentence bounds texts that explain something, such as Why and Because, in bytes.
const MaxSentence = 1 << 10

// Cut returns s shortened to at most n bytes, with an ellipsis at the end if it was longer.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n-len("…")], "") + "…"
}
