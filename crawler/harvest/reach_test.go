package harvest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// line is a Doer whose answers are errors, nil for an answer of nothing.
type line struct {
	errs  []error
	asked int
}

func (l *line) Do(req *http.Request) (*http.Response, error) {
	err := l.errs[min(l.asked, len(l.errs)-1)]
	if l.asked++; err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
}

func TestASourceThatHasNeverAnsweredIsAskedOnce(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("Get: %w", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
	unknown := fmt.Errorf("Get: %w", &net.DNSError{Err: "no such host", Name: "dead.example", IsNotFound: true})
	silent := fmt.Errorf("Get: %w", &net.OpError{Op: "dial", Err: timeout{}})
	reset := &net.OpError{Op: "read", Err: syscall.ECONNRESET}
	for _, c := range []struct {
		about     string
		errs      []error
		asked     int
		unreached bool
	}{
		{"refused", []error{refused}, 1, true},
		{"unknown", []error{unknown}, 1, true},
		{"silent", []error{silent}, 1, true},
		{"connected, and silent", []error{fmt.Errorf("Get: %w", timeout{})}, 1, true},
		{"a connection that breaks", []error{reset}, 4, false},
		{"refused after an answer", []error{nil, refused}, 5, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := &line{errs: c.errs}
			d := Reaching(l)
			began := time.Now()
			_, err := Ask(t.Context(), d, Request{URL: "http://dead.example/"})
			if err == nil {
				_, err = Ask(t.Context(), d, Request{URL: "http://dead.example/"})
			}
			if errors.Is(err, ErrUnreached) != c.unreached || l.asked != c.asked || c.unreached && time.Since(began) > time.Second {
				t.Errorf("%s: %v, asked %d times in %s", c.about, err, l.asked, time.Since(began))
			}
			if c.unreached && !strings.Contains(err.Error(), "nothing answers there") {
				t.Errorf("%s: %v", c.about, err)
			}
		})
	}
}

// As CKAN's harvest does, which asks for its list in several ways.
func TestAnotherAddressOfASilentSourceIsNotAsked(t *testing.T) {
	t.Parallel()
	l := &line{errs: []error{timeout{}, timeout{}, nil}}
	d := Reaching(l)
	for i, at := range []string{"a.example/api/1", "a.example/api/2", "a.example:8080/api/3", "a.example/api/4"} {
		url := "http://" + at
		_, err := Ask(t.Context(), d, Request{URL: url})
		if asked := []int{1, 1, 2, 2}[i]; !errors.Is(err, ErrUnreached) || l.asked != asked {
			t.Errorf("%s: %v after %d requests", url, err, l.asked)
		}
	}
	for _, url := range []string{"http://b.example/", "http://a.example/api/1"} { // an answer ends that, at another door too
		if _, err := Ask(t.Context(), d, Request{URL: url}); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

type timeout struct{}

func (timeout) Error() string { return "i/o timeout" }
func (timeout) Timeout() bool { return true }
