package harvest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"odarchive/crawler/catalog"
)

// ErrUnreached is wrapped by the error for a source that has not answered: its host is not known, refuses, or is
// silent, also behind a connection.
var ErrUnreached = errors.New("nothing answers there")

// Reaching returns a Doer whose requests are not tried again as long as the source has not answered: a scheme, host and
// port that did not answer is not asked a second time, at this address or another. Whoever has other sources to read
// may try again later, with another Doer; after the first answer, failures of the network are passed on as they are.
func Reaching(d Doer) Doer { return &reaching{doer: d, silent: map[string]error{}} }

type reaching struct {
	doer    Doer
	mu      sync.Mutex
	reached bool
	silent  map[string]error // by scheme and host with port: the error of its only request
}

func (r *reaching) Do(req *http.Request) (*http.Response, error) {
	door := req.URL.Scheme + "://" + req.URL.Host
	r.mu.Lock()
	err := r.silent[door]
	r.mu.Unlock()
	if err != nil {
		return nil, err
	}
	resp, err := r.doer.Do(req)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.reached = true
		clear(r.silent)
		return resp, nil
	}
	if !r.reached && req.Context().Err() == nil && isUnanswered(err) {
		err = unreached{err}
		r.silent[door] = err
	}
	return nil, err
}

// isUnanswered reports whether an error is that of finding a host, of connecting to it, or of waiting for its answer.
func isUnanswered(err error) bool {
	var name *net.DNSError
	var op *net.OpError
	var wait interface{ Timeout() bool }
	var host interface{ Class() catalog.ErrorClass } // as robots.txt found it, which is asked for first
	return errors.As(err, &name) || errors.As(err, &op) && op.Op == "dial" || errors.As(err, &wait) && wait.Timeout() ||
		errors.As(err, &host) && (host.Class() == catalog.ErrDNS || host.Class() == catalog.ErrTimeout)
}

type unreached struct{ error }

func (u unreached) Error() string   { return fmt.Sprintf("%v: %v", ErrUnreached, u.error) }
func (u unreached) Unwrap() []error { return []error{u.error, ErrUnreached, ErrFinal} }
