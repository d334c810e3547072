package rdfio

import "fmt"

// mendIRI percent-encodes the characters that must not stand in an IRI (RFC 3987 §2.2). Escapes of Turtle stay.
func mendIRI(s []byte) []byte {
	mended := make([]byte, 0, len(s)+8)
	for _, c := range s {
		switch {
		case c <= ' ' || c == 0x7f || c == '<' || c == '>' || c == '"' || c == '{' || c == '}' || c == '|' || c == '^' || c == '`':
			mended = fmt.Appendf(mended, "%%%02X", c)
		default:
			mended = append(mended, c)
		}
	}
	return mended
}
