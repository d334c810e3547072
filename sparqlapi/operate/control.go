// Takes orders for the running archive over HTTP: inject URLs into the queue, make them due, drop them,
// pause and resume the crawl, write a backup. It also reports the state of the crawl, by host.
//
// The router checks the token. An order is answered when it is durable.

package operate

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"odarchive/crawler"
	"odarchive/crawler/archive/series"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/backup"
	"odarchive/crawler/queue/frontier"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
	"odarchive/sparqlapi/target"
)

// Crawl carries out orders.
type Crawl interface {
	// Inject adds URLs, sets their scores, or blocks them. It returns how many were new.
	Inject(ctx context.Context, list []frontier.Injection) (added int, err error)
	// Order carries out an order about URLs, hosts and patterns.
	Order(ctx context.Context, o frontier.Order) (frontier.Ordered, error)
	// Orders returns the latest orders, newest first, at most limit.
	Orders(limit int) ([]frontier.Note, error)
	// Pause stops the crawl until Resume, also after a restart.
	Pause(ctx context.Context, why string) error
	Resume(ctx context.Context) error
	// Held returns why the crawl is on hold, or "".
	Held() string
}

// Progress reports the state of the crawl.
type Progress interface {
	Status() (crawler.Status, error)
	// Hosts returns at most limit hosts whose names follow after, in the order of names.
	Hosts(after string, limit int) ([]crawler.HostStatus, error)
	Host(name string) (crawler.HostStatus, bool, error)
	// Series returns what was visited over time, in slots.
	Series(from, to time.Time, step time.Duration) ([]series.Slot, error)
}

// ControlAPI holds the handlers.
type ControlAPI struct {
	Crawl         Crawl
	Progress      Progress
	Settings      HostSettings  // nil: there are no routes of settings
	CampaignStore CampaignStore // nil: there are no routes of campaigns
	Scope         Scope         // nil: there are no routes of the scope
	Withdrawals   Withdrawals   // nil: there are no routes of withdrawals
	Retained      Retention     // nil: there are no routes of retention
	HarvestTable  Harvests      // nil: there are no routes of planned harvests
	Backup        func(ctx context.Context, w io.Writer, since *backup.Info) error
	Now           func() time.Time // the archive's clock; nil for time.Now
	Log           *slog.Logger     // logs backups that fail after their beginning was sent; may be nil
}

const maxBody = 64 << 20

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = problem.Wrap(http.StatusBadRequest, "The request was interrupted", err)
	}
	return body, err
}

// Inject answers POST /crawl/inject: [{"url", "score", "blacklisted"}], or an order as the others take it. Malformed
// URLs are left out: then the answer has status 207 and names them. If all are malformed, or one with strict=1, nothing
// is done.
func (a *ControlAPI) Inject(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	var as order
	if json.Unmarshal(body, &as) == nil && len(as.Targets) > 0 {
		return a.carryOut(w, r, frontier.OrderInject, body)
	}
	var list []frontier.Injection
	if err := json.Unmarshal(body, &list); err != nil {
		return problem.Newf(http.StatusBadRequest, "Not a list of URLs",
			`expected [{"url": "https://...", "score": 1, "blacklisted": false}, ...]: %v`, err)
	}
	good, done := make([]frontier.Injection, 0, len(list)), injected{Given: len(list)}
	var first error
	for i, one := range list {
		_, err := crawler.CleanSeed(catalog.Seed{URL: one.URL})
		if err == nil {
			good = append(good, one)
			continue
		}
		first = cmp.Or(first, err)
		done.Bad = append(done.Bad, answer.Bad{Index: i, Error: err.Error()})
	}
	if first != nil && (len(good) == 0 || answer.Strict(r)) {
		return notCrawled(first)
	}
	done.Added, err = a.Crawl.Inject(r.Context(), good)
	if _, bad := errors.AsType[*frontier.BadURL](err); bad {
		return notCrawled(err)
	}
	if err != nil {
		return err
	}
	if first != nil {
		return answer.Partly(w, r, done)
	}
	return answer.JSON(w, r, done)
}

// injected is the answer to Inject.
type injected struct {
	Added int          `json:"added"`
	Given int          `json:"given"`
	Bad   []answer.Bad `json:"bad,omitempty"`
}

func notCrawled(err error) error {
	return problem.Wrap(http.StatusBadRequest, "Not a URL that can be crawled", err)
}

// Status answers GET /crawl/status: the state of the crawl, and what it waits for. Only who may direct the crawl is
// told the names of workers.
func (a *ControlAPI) Status(w http.ResponseWriter, r *http.Request) error {
	s, err := a.Progress.Status()
	if err != nil {
		return err
	}
	if caller, _ := access.Of(r.Context()); s.Workers != nil && !caller.Rights.Has(access.Crawl) {
		s.Workers = s.Workers.Unnamed()
	}
	return answer.JSON(w, r, s)
}

// Hosts answers GET /crawl/hosts?host= or ?after=&limit=: the state, reason to wait, next visit and counts of hosts.
func (a *ControlAPI) Hosts(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if name := q.Get("host"); name != "" {
		one, known, err := a.Progress.Host(name)
		if err != nil {
			return err
		}
		if !known {
			return problem.Newf(http.StatusNotFound, "Unknown host", "the crawler has no URL of host %q", name)
		}
		return answer.JSON(w, r, one)
	}
	limit, err := target.Int(q, "limit", 100, 1, 10_000)
	if err != nil {
		return err
	}
	hosts, err := a.Progress.Hosts(q.Get("after"), limit)
	if err != nil {
		return err
	}
	page := map[string]any{"hosts": hosts}
	if len(hosts) == limit {
		page["after"] = hosts[len(hosts)-1].Host
	}
	return answer.JSON(w, r, page)
}
