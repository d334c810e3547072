package fetch

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/web/hosts"
)

// isSecret reports whether a header field must not be recorded: those that hold passwords, and names.
func isSecret(field string, names []string) bool {
	same := func(name string) bool { return strings.EqualFold(field, name) }
	return same("Authorization") || same("Proxy-Authorization") || slices.ContainsFunc(names, same)
}

// withoutSecrets returns a request without the fields that isSecret reports.
func withoutSecrets(request []byte, names []string) []byte {
	end := warc.HeadEnd(request, 0)
	if end < 0 {
		end = len(request)
	}
	out := make([]byte, 0, len(request))
	for line := range bytes.Lines(request[:end]) {
		if name, _, ok := bytes.Cut(line, []byte(":")); !ok || !isSecret(string(name), names) {
			out = append(out, line...)
		}
	}
	return append(out, request[end:]...)
}

// withoutRepeated returns a header without the values that tell something of the login.
func withoutRepeated(h http.Header, login *hosts.Secret) http.Header {
	if login == nil {
		return h
	}
	out := http.Header{}
	for name, values := range h {
		for _, v := range values {
			if !login.Repeated(name, v) {
				out[name] = append(out[name], v)
			}
		}
	}
	return out
}

// withoutLogin returns the head of a response without the fields that tell something of the login.
func withoutLogin(head []byte, login *hosts.Secret) []byte {
	if login == nil {
		return head
	}
	out := make([]byte, 0, len(head))
	dropped := false
	for line := range bytes.Lines(head) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if folded := line[0] == ' ' || line[0] == '\t'; !folded { // what is folded belongs to the field before
			dropped = ok && len(out) > 0 && login.Repeated(string(bytes.TrimSpace(name)), string(value))
		} else if !dropped && login.Repeated("", string(line)) {
			continue
		}
		if !dropped {
			out = append(out, line...)
		}
	}
	return out
}
