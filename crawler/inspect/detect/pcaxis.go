package detect

import (
	"bytes"
	"regexp"
)

// pcAxis recognises a file of PC-Axis by its keywords, in any order (PX file format specification 2013).
func pcAxis(b []byte) bool {
	head := b[:min(len(b), 64<<10)]
	if !firstKeyword.Match(head) {
		return false
	}
	found := 0
	for _, word := range []string{"\nMATRIX", "\nSTUB", "\nHEADING", "\nVALUES", "\nDECIMALS", "\nCONTENTS", "\nDATA=", "\nUNITS"} {
		if bytes.Contains(head, []byte(word)) {
			found++
		}
	}
	return found >= 4
}

// firstKeyword is a keyword with its value, as PC-Axis begins.
var firstKeyword = regexp.MustCompile(`\A[A-Z][A-Z0-9-]{2,30}(\[[a-z]{2}\])?(\("[^"\n]{0,200}"\))?=["0-9A-Z]`)
