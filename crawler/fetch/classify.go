package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"odarchive/crawler/catalog"
)

// classifyRequest says what an error before the body means. The texts of net/http's errors have to do where it has no
// types; the tests hold them.
func (f *Fetcher) classifyRequest(ctx context.Context, ex *Exchange, err error) {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	var forbidden *forbiddenError
	if errors.As(err, &forbidden) {
		ex.fail(catalog.Blocked, catalog.ErrForbiddenTarget, forbidden.Error())
		return
	}
	ex.fail(catalog.NoVersion, class(err), err.Error())
}

// classifyBody says what an error inside the body means.
func (f *Fetcher) classifyBody(ex *Exchange, in *incoming, err error) {
	var wrong *decodeError
	switch {
	case errors.Is(err, errTooLarge), errors.Is(err, errRatio):
		ex.fail(catalog.NoVersion, catalog.ErrTooLarge, err.Error())
	case in.err != nil && in.err != io.EOF: // the transfer broke first, whatever a decoder made of it
		ex.fail(catalog.NoVersion, bodyClass(in.err), in.err.Error())
	case errors.As(err, &wrong):
		ex.fail(catalog.NoVersion, catalog.ErrDecode, wrong.Error())
	default:
		ex.fail(catalog.NoVersion, bodyClass(err), err.Error())
	}
}

// bodyClass: once a body has begun, a connection that breaks has cut it off.
func bodyClass(err error) catalog.ErrorClass {
	switch c := class(err); {
	case c == catalog.ErrNetwork, errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "stream error"):
		return catalog.ErrTruncated
	default:
		return c
	}
}

func class(err error) catalog.ErrorClass {
	text := err.Error()
	var (
		dns     *dnsError
		timeout interface{ Timeout() bool }
		certErr *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		unknown x509.UnknownAuthorityError
		op      *net.OpError
	)
	switch {
	case errors.As(err, &dns):
		return catalog.ErrDNS
	case errors.Is(err, errIdle), errors.Is(err, errSlow), errors.Is(err, errTotal), errors.Is(err, os.ErrDeadlineExceeded),
		errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return catalog.ErrTimeout
	case strings.Contains(text, "server response headers exceeded"), strings.Contains(text, "header list larger than"):
		return catalog.ErrHeaderTooLarge
	case errors.As(err, &certErr), errors.As(err, &record), errors.As(err, &alert), errors.As(err, &unknown),
		strings.Contains(text, "tls: "), strings.Contains(text, "x509: "):
		return catalog.ErrTLS
	case errors.Is(err, io.ErrUnexpectedEOF):
		return catalog.ErrTruncated
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.EPIPE),
		errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH), errors.Is(err, net.ErrClosed), errors.As(err, &op),
		strings.Contains(text, "server closed idle connection"):
		return catalog.ErrNetwork
	}
	return catalog.ErrProtocol
}
