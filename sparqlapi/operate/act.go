package operate

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"odarchive/sparqlapi/problem"
	"odarchive/triplestore/disk"
)

// Act is a request that may change the archive.
type Act struct {
	log   *AuditLog
	line  AuditLine
	body  *beginning
	said  string
	begun bool
}

type actKey struct{}

// WithAct returns the request with an Act in its context, for Begin. line says who sends what. The caller must call End
// when the request has been answered. A nil Log records nothing.
func WithAct(l *AuditLog, r *http.Request, line AuditLine) (*http.Request, *Act) {
	if l == nil {
		return r, nil
	}
	a := &Act{log: l, line: line}
	r = r.WithContext(context.WithValue(r.Context(), actKey{}, a))
	if isOrder(r) {
		a.body = &beginning{ReadCloser: r.Body}
		r.Body = a.body
	}
	return r, a
}

// BeginAct records durably that a request is about to change something. who, if not "", replaces the name in its line.
// If that fails, the error is the answer, and nothing may be changed. Begin does nothing when it is called again, and
// for requests without an Act.
func BeginAct(ctx context.Context, who string) error {
	a, ok := ctx.Value(actKey{}).(*Act)
	if !ok || a.begun {
		return nil
	}
	if who != "" {
		a.line.Who = who
	}
	err := a.log.Append(&a.line)
	if err == nil {
		err = a.log.Sync(a.line.N)
	}
	if err == nil {
		a.begun = true
		return nil
	}
	p := &problem.Error{Status: http.StatusServiceUnavailable, Title: "The audit log cannot be written",
		Detail: "nothing was changed: what cannot be recorded is not done", RetryAfter: time.Minute, Cause: err}
	if disk.IsFull(err) {
		p.Status, p.Detail = http.StatusInsufficientStorage, "nothing was changed: the disk is full"
	}
	return p
}

// NoteAct sets the text of what a request says to do, for one whose body is not such a text alone.
func NoteAct(ctx context.Context, text string) {
	if a, ok := ctx.Value(actKey{}).(*Act); ok {
		a.said = Redact(strings.ToValidUTF8(text[:min(len(text), auditMaxBody)], ""))
	}
}

// End records the status of the answer; 0 if there was none.
func (a *Act) End(status int) error {
	if a == nil || !a.begun {
		return nil
	}
	end := AuditLine{Of: a.line.N, Status: status, Body: a.said}
	if a.body != nil {
		end.Body = a.body.text()
	}
	return a.log.Append(&end)
}

// isOrder reports whether the body of a request is short text that says what to do, rather than data.
func isOrder(r *http.Request) bool {
	if r.Body == nil || r.Body == http.NoBody {
		return false
	}
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && (t == "application/json" || t == "application/sparql-update" || t == "application/x-www-form-urlencoded")
}

// auditMaxBody is how many bytes of a body are recorded.
const auditMaxBody = 500

// beginning remembers the first bytes of a body that is read.
type beginning struct {
	io.ReadCloser
	first []byte
}

func (b *beginning) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.first = append(b.first, p[:min(n, auditMaxBody-len(b.first))]...)
	return n, err
}

// text returns the bytes without what follows "token=" and "secret=".
func (b *beginning) text() string { return Redact(string(b.first)) }

// Redact removes the values of parameters that may be secrets from a part of an address or a form.
func Redact(part string) string {
	for _, name := range []string{"secret=", "token="} {
		for at := 0; ; {
			i := strings.Index(strings.ToLower(part[at:]), name)
			if i < 0 {
				break
			}
			at += i + len(name)
			end := strings.IndexAny(part[at:], "&;")
			if end < 0 {
				end = len(part) - at
			}
			part = part[:at] + "-" + part[at+end:]
		}
	}
	return part
}
