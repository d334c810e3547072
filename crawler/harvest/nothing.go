package harvest

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"odarchive/crawler/address"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// ErrNothing is wrapped by the error of a harvest that found nothing, or none of the files that the source lists,
// though it read all of the source: portals list something, so that it is more likely that they were asked wrongly. A
// harvest of changes may find nothing.
var ErrNothing = errors.New("found nothing")

// found counts what a harvest found, in all runs of it.
type found struct {
	begun      bool // it went on from a mark: what was found before may be all there is
	before     bool // the last harvest read the whole list, and found something
	statements int  // passed to Quad
	brought    int  // datasets of whole portals, also those of earlier runs
	listed     int  // files, with and without an address
	taken      int  // files with an address that can be fetched
	ofPortal   int  // datasets, files and statements of the current portal
}

// nothing returns the error of a harvest that ended well and found nothing, nil if it found something or need not.
func (s *step) nothing() error {
	r, part := s.report, s.opts.Part
	if s.opts.Search || r.Limited || r.NotModified || part.Since != "" || part.Until != "" || s.found.begun && !s.whole {
		return nil
	}
	switch {
	case r.Datasets.N()+r.Seeds.N()+s.found.statements+s.found.brought == 0:
		return fmt.Errorf("%w%s", ErrNothing, s.circumstances(r.Portals.N() > 0))
	case s.found.listed > 0 && s.found.taken == 0 && !s.found.begun:
		return fmt.Errorf("%w to fetch: of %s, none has an address that can be fetched%s", ErrNothing,
			english.Plural(s.found.listed, "listed file", ""), s.circumstances(false))
	}
	return nil
}

// circumstances says what was asked, what came, and what the harvester says about it.
func (s *step) circumstances(portal bool) string {
	var b strings.Builder
	if portal {
		b.WriteString(": the portal answers, but no dataset and no file came")
	}
	if s.found.before {
		b.WriteString(", though the last harvest found some")
	}
	if len(s.report.Skipped) > 0 {
		b.WriteString("; " + s.report.Skipped[0])
	}
	if s.opts.Asked != nil {
		b.WriteString("; asked: " + s.opts.Asked())
	}
	return b.String()
}

// wayOn adds to the error of a harvest to which nothing came, and whose source does answer, what a person can do next.
func (s *step) wayOn(err error) error {
	r := s.report
	if r.Address == "" || r.Datasets.N()+r.Seeds.N()+s.found.statements > 0 || s.found.begun {
		return err
	}
	var status *StatusError
	var other interface{ OtherKind() bool }
	switch {
	case errors.Is(err, ErrNothing), errors.As(err, &other) && other.OtherKind():
	case errors.As(err, &status) && (status.Status == http.StatusNotFound || status.Status == http.StatusGone):
	default:
		return err
	}
	return fmt.Errorf("%w; 'odarchive harvest auto %s --dry-run' says what kind of portal it is", err, address.Redact(r.Address))
}

// Asked is a Doer that notes what is asked, and what comes, for people. Several goroutines may use it.
type Asked struct {
	Doer Doer

	mu    sync.Mutex // guards the rest
	first []*exchange
	more  int
}

type exchange struct {
	request, answer string
	bytes           int
}

const (
	maxAsked   = 3 // requests that are named
	maxAddress = 120
)

// Do implements Doer.
func (a *Asked) Do(req *http.Request) (*http.Response, error) {
	resp, err := a.Doer.Do(req)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.first) == maxAsked {
		a.more++
		return resp, err
	}
	e := &exchange{request: req.URL.Redacted()}
	if len(e.request) > maxAddress {
		e.request = strings.ToValidUTF8(e.request[:maxAddress], "") + "…"
	}
	if a.first = append(a.first, e); err != nil {
		e.answer = "no answer"
		return resp, err
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	e.answer = strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", strings.TrimSpace(kind)))
	resp.Body = &noted{resp.Body, a, e}
	return resp, nil
}

// String returns the first requests and their answers.
func (a *Asked) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for _, e := range a.first {
		size := ""
		if e.answer != "no answer" {
			size = ", " + humanize.IBytes(uint64(e.bytes))
		}
		all = append(all, fmt.Sprintf("%s (%s%s)", e.request, e.answer, size))
	}
	if a.more > 0 {
		all = append(all, "and "+english.Plural(a.more, "more request", ""))
	}
	return strings.Join(all, ", ")
}

// noted is a body that counts what is read of it.
type noted struct {
	io.ReadCloser
	of *Asked
	e  *exchange
}

func (n *noted) Read(p []byte) (int, error) {
	read, err := n.ReadCloser.Read(p)
	n.of.mu.Lock()
	n.e.bytes += read
	n.of.mu.Unlock()
	return read, err
}
