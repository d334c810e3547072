package catalog

import (
	"strings"
	"testing"
)

func TestEveryFailureHasACauseInPeoplesWords(t *testing.T) {
	t.Parallel()
	for _, c := range []ErrorClass{ErrProtocol, ErrTruncated, ErrNetwork, ErrTimeout, ErrTooLarge, ErrDecode, ErrHeaderTooLarge,
		ErrHTTPStatus, ErrTooManyRedirect, ErrBadURL,
		ErrForbiddenTarget, ErrEmptyBody, ErrTLS, ErrDNS, ErrSoft404, ErrDiskFull, ErrBytesWithdrawn, ErrInternal} {
		if words := Cause(NoVersion, c, 0, ""); words == "" || words == "nothing to keep came" || strings.Contains(words, string(c)+" ") &&
			strings.Contains(string(c), "-") {
			t.Errorf("%s: %q", c, words)
		}
	}
	for status, want := range map[int]string{404: "not found (404)", 410: "gone for good (410)", 403: "the server refuses it (403)",
		500: "the server failed (500)", 418: "i'm a teapot (418)", 499: "the server answered with an error (499)"} {
		if words := Cause(NoVersion, ErrHTTPStatus, status, ""); words != want {
			t.Errorf("%d: %q, want %q", status, words, want)
		}
	}
	if Cause(Archived, "", 200, "") != "" || Cause(Unchanged, "", 304, "") != "" {
		t.Error("a visit that found the file has a cause")
	}
	if words := Cause(Blocked, ErrForbiddenTarget, 0,
		"a.example is at 10.0.0.1, "+WhyPrivate); words != "not asked: the host's address is private" {
		t.Errorf("%q", words)
	}
}
