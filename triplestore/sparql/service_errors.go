package sparql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"syscall"
)

// refusal is the error about an answer with another status than 200.
type refusal struct {
	code         int
	status, text string
	retryAfter   string
}

func (e *refusal) Error() string {
	s := "the endpoint answered " + e.status
	if e.text != "" {
		s += ": " + e.text
	}
	if e.retryAfter != "" {
		s += " (it may be asked again after " + e.retryAfter + ")"
	}
	return s
}

// maxReason is the number of bytes of a refusal's body that are read, maxReasonShown the number that are shown.
const (
	maxReason      = 4 << 10
	maxReasonShown = 300
)

// refusalOf returns the refusal for a response, with the text of its body.
func refusalOf(resp *http.Response) *refusal {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxReason))
	e := &refusal{code: resp.StatusCode, status: resp.Status, text: plainReason(resp.Header.Get("Content-Type"), string(body))}
	if after := resp.Header.Get("Retry-After"); after != "" && len(after) < 40 {
		if strings.Trim(after, "0123456789") == "" {
			after += " s"
		}
		e.retryAfter = strings.ToValidUTF8(after, "?")
	}
	return e
}

var (
	hiddenText = regexp.MustCompile(`(?is)<(style|script|title|head)\b.*?</(style|script|title|head)>`)
	markup     = regexp.MustCompile(`(?s)<[^>]*>`)
)

// plainReason returns the message of an error page, or the detail of a problem document (RFC 9457), in one line.
func plainReason(contentType, body string) string {
	mt, _, _ := mime.ParseMediaType(contentType)
	switch {
	case strings.HasSuffix(mt, "json"):
		var p struct{ Title, Detail, Message, Exception string }
		if json.Unmarshal([]byte(body), &p) == nil {
			for _, s := range []string{p.Detail, p.Message, p.Exception, p.Title} {
				if s != "" {
					body = s
					break
				}
			}
		}
	case strings.Contains(mt, "html") || strings.HasPrefix(strings.TrimSpace(body), "<!"):
		body = markup.ReplaceAllString(hiddenText.ReplaceAllString(body, " "), " ")
	}
	body = strings.Join(strings.Fields(strings.ToValidUTF8(body, "?")), " ")
	if len(body) > maxReasonShown {
		body = strings.ToValidUTF8(body[:maxReasonShown], "") + "..."
	}
	return body
}

// sentence returns an error that describes err, the error of a request, in words for the user of the query. It wraps
// err.
func sentence(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // without the method and the address, which the message names already
	}
	name, isName := errors.AsType[*net.DNSError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	words := ""
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case isName:
		words = "the name of its host, " + name.Name + ", is not known"
	case errors.Is(err, syscall.ECONNREFUSED):
		words = "nothing answers at this address (connection refused)"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		words = "the endpoint closed the connection"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		words, err = "the answer ends in the middle", io.ErrUnexpectedEOF
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		words = "its network cannot be reached"
	case isNet && timeout.Timeout():
		words = "the endpoint did not answer in time"
	case errors.As(err, new(tls.RecordHeaderError)), strings.Contains(last(err), "server gave HTTP response to HTTPS client"):
		words = "the endpoint does not speak TLS at this address: it may be an http address, not https"
	case errors.As(err, new(x509.HostnameError)):
		words = "its certificate is for another host"
	case errors.As(err, new(x509.UnknownAuthorityError)):
		words = "its certificate comes from an unknown authority"
	case errors.As(err, new(x509.CertificateInvalidError)):
		words = "its certificate is not valid: " + strings.TrimPrefix(last(err), "x509: ")
	case errors.As(err, new(tls.AlertError)):
		words = "the endpoint refused the TLS connection"
	case strings.Contains(last(err), "malformed HTTP"):
		words = "what answers at this address is not an HTTP server"
	default:
		return err
	}
	return &worded{words, err}
}

// last returns the text of the innermost error.
func last(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// worded is an error with another text.
type worded struct {
	words string
	err   error
}

func (e *worded) Error() string { return e.words }
func (e *worded) Unwrap() error { return e.err }

// incompleteAnswer returns the text of a warning that the answer of an endpoint may be incomplete.
func incompleteAnswer(endpoint, why string) string {
	return fmt.Sprintf("SERVICE <%s>: %s; rows may be missing", endpoint, why)
}
