// Writes the heads of the WARC records of exported versions, and reads from such heads how the version
// was fetched.
//
// The bytes of a version have no transfer or content coding, but the head that the host sent may name codings and
// another length. In the record, these fields of the head have the prefix X-Orig-, as in files of Webrecorder's tools.
// Fields that were received with this prefix get it a second time, so that UndoHeads can restore the head.

package warc

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"odarchive/crawler/catalog"
)

// undone is the prefix of HTTP fields that do not describe the bytes in the record.
const undone = "X-Orig-"

// ResponseHead has what the HTTP head of a version's record is made from.
type ResponseHead struct {
	Status   int         // of the response; 0 for a version that was not fetched by HTTP
	Header   http.Header // of the response; has lost the order and the spelling of the names
	Size     int64       // of the version, in bytes
	Exchange *catalog.Exchange
}

// HTTP returns the head with prefixes: the head that was received if the exchange has all of it, otherwise one with the
// fields of Header in alphabetic order. It returns nil if Status is 0.
func (r ResponseHead) HTTP() []byte {
	switch {
	case r.Status == 0:
		return nil
	case r.received():
		return r.mark(r.Exchange.Head)
	}
	b := fmt.Appendf(nil, "HTTP/1.1 %d %s\r\n", r.Status, http.StatusText(r.Status))
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		if !isToken(name) {
			continue
		}
		for _, value := range r.Header[name] {
			b = fmt.Appendf(b, "%s: %s\r\n", name, textproto.TrimString(fieldValue(value)))
		}
	}
	return r.mark(append(b, "\r\n"...))
}

// received reports whether the exchange has the complete head of the response.
func (r ResponseHead) received() bool {
	if r.Exchange == nil || HeadEnd(r.Exchange.Head, 0) != len(r.Exchange.Head) {
		return false
	}
	line, _, _ := bytes.Cut(r.Exchange.Head, []byte("\n"))
	m := Message{StartLine: string(bytes.TrimRight(line, "\r"))}
	return m.Status() == r.Status
}

// mark returns the head with the prefix added to fields that do not describe the bytes in the record.
func (r ResponseHead) mark(head []byte) []byte {
	size := strconv.FormatInt(r.Size, 10)
	b := make([]byte, 0, len(head)+3*len(undone))
	eachField(head, func(line []byte, name string, value []byte) {
		switch strings.ToLower(name) {
		case "content-encoding", "transfer-encoding":
			b = append(b, undone...)
		case "content-length":
			if string(bytes.TrimSpace(value)) != size {
				b = append(b, undone...)
			}
		default:
			if isMarked(name) {
				b = append(b, undone...)
			}
		}
		b = append(b, line...)
	})
	return b
}

// UndoHeads returns the head without the prefixes that mark added.
func UndoHeads(head []byte) []byte {
	b := make([]byte, 0, len(head))
	eachField(head, func(line []byte, name string, _ []byte) {
		if isMarked(name) {
			line = line[len(undone):]
		}
		b = append(b, line...)
	})
	return b
}

func isMarked(name string) bool {
	return len(name) > len(undone) && strings.EqualFold(name[:len(undone)], undone)
}

// eachField calls f with each line of a head, including its line end. name and value are those of the field that begins
// in the line; they are empty for the first line, for continuation lines and for malformed ones.
func eachField(head []byte, f func(line []byte, name string, value []byte)) {
	first := true
	for line := range bytes.Lines(head) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if first || len(name) == 0 || !ok || name[0] == ' ' || name[0] == '\t' {
			name, value = nil, nil
		}
		first = false
		f(line, string(bytes.TrimRight(name, " \t")), value)
	}
}

// fieldValue replaces control characters, which could end the field, by spaces.
func fieldValue(s string) string {
	if strings.IndexFunc(s, isControlByte) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if isControlByte(r) {
			return ' '
		}
		return r
	}, s)
}

func isControlByte(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

// isToken reports whether a name can stand in an HTTP head (RFC 9110 §5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
