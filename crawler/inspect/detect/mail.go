package detect

import (
	"bytes"
	"strings"
	"time"
)

// mail recognises a message by the fields of its header (RFC 5322), a mailbox by the line before each message (RFC
// 4155), and a web page saved as a message (RFC 2557).
func (f *file) mail(b []byte) (Detection, bool) {
	envelope := fromLine(firstLine(b))
	if envelope && !f.hints.says("message/rfc822") {
		return Detection{Type: "application/mbox", Confidence: 0.9, Because: "messages, each behind a line that says from whom and when"},
			true
	}
	known, fields, related, sent := 0, 0, false, false
	for line := range bytes.Lines(b) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 || fields > 60 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' || envelope && fields == 0 && bytes.HasPrefix(line, []byte("From ")) {
			continue
		}
		name, value, ok := bytes.Cut(line, []byte{':'})
		if !ok || len(name) == 0 || len(name) > 60 || bytes.ContainsAny(name, " \t,;\"<>{}") {
			if fields == 0 || known < 3 {
				return Detection{}, false
			}
			break
		}
		fields++
		low := strings.ToLower(string(name))
		switch low {
		case "content-type":
			related = strings.HasPrefix(strings.ToLower(string(bytes.TrimSpace(value))), "multipart/related")
		case "received", "to", "delivered-to":
			sent = true
		}
		if mailField(low) {
			known++
		}
	}
	if related && !sent && known >= 2 {
		return Detection{Type: "multipart/related", Confidence: 0.85,
			Because: "a page with its parts, saved as a message that was never sent"}, true
	}
	if known < 3 || known*3 < fields*2 {
		return Detection{}, false
	}
	return Detection{Type: "message/rfc822", Confidence: 0.9, Because: "the header fields of a mail message"}, true
}

func mailField(name string) bool {
	switch name {
	case "from", "to", "subject", "date", "message-id", "mime-version", "received", "return-path", "reply-to", "cc", "bcc", "sender",
		"in-reply-to",
		"references", "content-type", "content-transfer-encoding", "content-location", "delivered-to", "dkim-signature", "user-agent",
		"thread-index",
		"thread-topic", "importance", "authentication-results", "envelope-to", "status", "organization", "newsgroups", "path":
		return true
	}
	for _, p := range []string{"x-", "list-", "arc-", "resent-"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// fromLine reports whether a line is "From", a sender, and a time in the format of asctime (RFC 4155, appendix A).
func fromLine(line []byte) bool {
	fields := strings.Fields(string(line[:min(len(line), 512)]))
	if len(fields) < 7 || fields[0] != "From" {
		return false
	}
	for i := 2; i+5 <= len(fields) && i < 4; i++ {
		if _, err := time.Parse("Mon Jan 2 15:04:05 2006", strings.Join(fields[i:i+5], " ")); err == nil {
			return true
		}
	}
	return false
}
