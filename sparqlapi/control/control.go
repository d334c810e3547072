// Package control takes orders for the running archive over HTTP: inject URLs into the queue, pause and resume the crawl,
// write a backup.
//
// The router asks for the token before a request comes here. An order is answered when it is durable.
package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"odarchive/crawler/backup"
	"odarchive/crawler/frontier"
	"odarchive/sparqlapi/problem"
)

// Crawl is what the orders about the crawl go to.
type Crawl interface {
	// Inject makes URLs known and gives them scores, or keeps them out; it says how many were new.
	Inject(ctx context.Context, list []frontier.Injection) (added int, err error)
	// Pause stops the crawl, also after a restart, until Resume.
	Pause(ctx context.Context, why string) error
	Resume(ctx context.Context) error
	// Held says why the crawl stands still; "" where it does not.
	Held() string
}

// API holds the handlers.
type API struct {
	Crawl  Crawl
	Backup func(ctx context.Context, w io.Writer, since *backup.Info) error
}

const maxBody = 64 << 20

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
}

func answer(w http.ResponseWriter, value any) error {
	body, err := json.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	_, err = w.Write(append(body, '\n'))
	return err
}

// Inject answers POST /crawl/inject: [{"url", "score", "blacklisted"}].
func (a *API) Inject(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	var list []frontier.Injection
	if err := json.Unmarshal(body, &list); err != nil {
		return problem.Newf(http.StatusBadRequest, "Not a list of URLs", `expected [{"url": "https://...", "score": 1, "blacklisted": false}, ...]: %v`, err)
	}
	added, err := a.Crawl.Inject(r.Context(), list)
	var bad *frontier.BadURL
	if errors.As(err, &bad) {
		return problem.Wrap(http.StatusBadRequest, "Not a URL that can be crawled", err)
	}
	if err != nil {
		return err
	}
	return answer(w, map[string]int{"given": len(list), "added": added})
}

// Pause answers POST /crawl/pause?why=.
func (a *API) Pause(w http.ResponseWriter, r *http.Request) error {
	if err := a.Crawl.Pause(r.Context(), r.URL.Query().Get("why")); err != nil {
		return err
	}
	return answer(w, map[string]string{"held": a.Crawl.Held()})
}

// Resume answers POST /crawl/resume.
func (a *API) Resume(w http.ResponseWriter, r *http.Request) error {
	if err := a.Crawl.Resume(r.Context()); err != nil {
		return err
	}
	return answer(w, map[string]string{"held": a.Crawl.Held()})
}

// Copy answers POST /backup with a backup of the whole archive; the body may say which backup it is to follow on.
func (a *API) Copy(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	var since *backup.Info
	if len(body) > 0 {
		since = new(backup.Info)
		if err := json.Unmarshal(body, since); err != nil || since.ID == "" {
			return problem.New(http.StatusBadRequest, "Not a backup's description", "post what `odarchive backup --json` printed of the earlier backup, or nothing")
		}
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	if err := a.Backup(r.Context(), w, since); err != nil {
		panic(http.ErrAbortHandler) // the stream has begun: cut it visibly; the reader's checksum says so too
	}
	return nil
}
