package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"odarchive/crawler/catalog"

	"github.com/dustin/go-humanize"
)

// classifyRequest sets the outcome for an error before the body. It recognises errors of net/http that have no type by
// their texts, which tests pin. It returns an *OwnTrouble if the request failed because of this machine.
func (f *Fetcher) classifyRequest(ctx context.Context, ex *Exchange, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	var not *NotPermitted
	if errors.As(err, &not) {
		return not
	}
	if own := ownTrouble(err); own != nil {
		f.closeIdle() // idle connections hold descriptors, memory and ports
		return own
	}
	var via *ProxyTrouble
	if errors.As(err, &via) {
		return err
	}
	var forbidden *forbiddenError
	if errors.As(err, &forbidden) {
		ex.fail(catalog.Blocked, catalog.ErrForbiddenTarget, forbidden.Error())
		return nil
	}
	c, why := class(err), err.Error()
	if c == catalog.ErrHeaderTooLarge {
		why = fmt.Sprintf("the header of the response is larger than %s, which is the most that is read of one",
			humanize.IBytes(uint64(f.opts.MaxHeader)))
	}
	ex.fail(catalog.NoVersion, c, why)
	ex.noteReach(c, err, f.opts.Now())
	return nil
}

// noteReach sets Reached or Unreachable after a request that failed.
func (ex *Exchange) noteReach(c catalog.ErrorClass, err error, now time.Time) {
	var name *net.DNSError
	var refused *proxyRefusal
	switch {
	case errors.As(err, &refused): // this says nothing about the network
	case !ex.Reached.IsZero():
	case c == catalog.ErrDNS && errors.As(err, &name) && name.IsNotFound: // a missing name says nothing about the network
	case c == catalog.ErrDNS, c == catalog.ErrTimeout:
		ex.Unreachable = true
		ex.NoNames = c == catalog.ErrDNS && name != nil && name.IsTimeout
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		ex.Unreachable = true
		ex.NoRoute = errors.Is(err, syscall.ENETUNREACH)
	case c == catalog.ErrNetwork, c == catalog.ErrTLS: // a refusal or a broken connection is an answer
		ex.Reached = now
	}
}

// classifyBody sets the outcome for an error inside the body. It returns an *OwnTrouble as classifyRequest does.
func (f *Fetcher) classifyBody(ex *Exchange, in *incoming, err error) error {
	if own := ownTrouble(err); own != nil {
		return own
	}
	var wrong *decodeError
	switch {
	case errors.Is(err, errTooLarge), errors.Is(err, errRatio):
		ex.fail(catalog.NoVersion, catalog.ErrTooLarge, err.Error())
	case in.err != nil && in.err != io.EOF: // the transfer broke, and the decoder's error follows from that
		ex.fail(catalog.NoVersion, bodyClass(in.err), in.err.Error())
	case errors.As(err, &wrong):
		ex.fail(catalog.NoVersion, catalog.ErrDecode, wrong.Error())
	default:
		ex.fail(catalog.NoVersion, bodyClass(err), err.Error())
	}
	return nil
}

// bodyClass returns the class of an error inside the body, where a broken connection means truncation.
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
		refused *proxyRefusal
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
		errors.As(err, &refused),
		strings.Contains(text, "server closed idle connection"):
		return catalog.ErrNetwork
	}
	return catalog.ErrProtocol
}
