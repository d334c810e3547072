package harvest

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"

	"odarchive/crawler/catalog"
)

// ErrUnreached is wrapped by the error for a source that has not answered: its host is not known, refuses, or is silent, also
// behind a connection.
var ErrUnreached = errors.New("nothing answers there")

// Reaching returns a Doer whose requests are not tried again as long as the source has not answered. Whoever has
// other sources to read may try again later; after the first answer, failures of the network are passed on as they are.
func Reaching(d Doer) Doer { return &reaching{doer: d} }

type reaching struct {
	doer    Doer
	reached atomic.Bool
}

func (r *reaching) Do(req *http.Request) (*http.Response, error) {
	resp, err := r.doer.Do(req)
	if err == nil {
		r.reached.Store(true)
		return resp, nil
	}
	if !r.reached.Load() && req.Context().Err() == nil && isUnanswered(err) {
		err = unreached{err}
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
