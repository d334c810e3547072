package oai

import "bytes"

// root returns the offset of the element OAI-PMH, behind white space, script warnings, XML declaration and document
// type. It returns -1 if there is none.
func root(body []byte) int {
	for at := 0; ; {
		i := bytes.Index(body[at:], []byte("OAI-PMH"))
		if i < 0 {
			return -1
		}
		i += at
		at = i + len("OAI-PMH")
		begin := bytes.LastIndexByte(body[:i], '<')
		if begin < 0 || at >= len(body) || bytes.IndexByte([]byte(" \t\r\n>/"), body[at]) < 0 {
			continue
		}
		prefix := body[begin+1 : i]
		if len(prefix) == 0 || (prefix[len(prefix)-1] == ':' && !bytes.ContainsAny(prefix, " \t\r\n\"'!?/")) {
			return begin
		}
	}
}
