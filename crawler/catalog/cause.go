package catalog

import (
	"fmt"
	"net/http"
	"strings"
)

// WhyPrivate is part of the explanation of a visit that the address of the host forbids.
const WhyPrivate = "an address that is not public"

// Cause says in a few words why a visit kept nothing, so that visits can be counted by cause. It is "" for a visit that
// found the file.
func Cause(o Outcome, c ErrorClass, status int, why string) string {
	switch o {
	case Archived, Unchanged, "":
		return ""
	case RobotsDenied:
		if strings.Contains(why, " cannot be read ") {
			return "not asked: the host's robots.txt cannot be read"
		}
		return "not asked: robots.txt forbids it"
	case RetryLater:
		return "the host asked to be left alone for a while"
	case Blocked:
		if strings.Contains(why, WhyPrivate) {
			return "not asked: the host's address is private"
		}
		return "not asked: out of scope, or a target that is never asked"
	}
	switch c {
	case ErrHTTPStatus:
		return statusCause(status)
	case ErrSoft404:
		return "a page or a message came instead of data"
	case ErrNetwork:
		return "the host cannot be reached"
	case ErrDNS:
		return "the name of the host is not known"
	case ErrTLS:
		return "no secure connection to the host"
	case ErrTimeout:
		return "no answer in time"
	case ErrTruncated:
		return "the answer broke off"
	case ErrTooLarge:
		return "too large"
	case ErrEmptyBody:
		return "the answer was empty"
	case ErrDecode:
		return "the answer could not be decoded"
	case ErrProtocol, ErrHeaderTooLarge:
		return "the answer is not valid HTTP or FTP"
	case ErrTooManyRedirect:
		return "the answers redirect for ever"
	case ErrBadURL:
		return "an address that cannot be fetched"
	case ErrForbiddenTarget:
		return "not asked: out of scope, or a target that is never asked"
	case ErrDiskFull:
		return "the disk of this machine is full"
	case ErrBytesWithdrawn:
		return "withdrawn here, and not kept again"
	case ErrInternal:
		return "a fault of this program"
	}
	return "nothing to keep came"
}

// statusCause says what an HTTP status of an error means.
func statusCause(status int) string {
	words := strings.ToLower(http.StatusText(status))
	switch {
	case status == http.StatusNotFound:
		words = "not found"
	case status == http.StatusGone:
		words = "gone for good"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		words = "the server refuses it"
	case status >= 500:
		words = "the server failed"
	case status == 0:
		return "the server answered with an error"
	case words == "":
		words = "the server answered with an error"
	}
	return fmt.Sprintf("%s (%d)", words, status)
}
