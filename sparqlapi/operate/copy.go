package operate

import (
	"encoding/json"
	"errors"
	"net/http"

	"odarchive/crawler/copies/backup"
	"odarchive/sparqlapi/problem"
)

// Copy answers POST /backup with a backup of the whole archive. The body may describe an earlier backup: then the
// answer has only what changed since.
func (a *ControlAPI) Copy(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	var since *backup.Info
	if len(body) > 0 {
		since = new(backup.Info)
		if err := json.Unmarshal(body, since); err != nil || since.ID == "" {
			return problem.New(http.StatusBadRequest, "Not a backup's description",
				"expected the output of `odarchive backup --json` for the earlier backup, or no body")
		}
	}
	out := &delayed{w: w}
	err = a.Backup(r.Context(), out, since)
	if err == nil {
		err = out.send()
	}
	switch {
	case err == nil:
		return nil
	case !out.begun && errors.Is(err, backup.ErrChain):
		return problem.Wrap(http.StatusConflict, "The backup cannot follow that one", err)
	case !out.begun:
		return err
	case !out.failed && a.Log != nil:
		a.Log.ErrorContext(r.Context(), "backup cut off", "path", r.URL.Path, "err", err)
	}
	panic(http.ErrAbortHandler) // part of the stream is sent: cut it visibly; its checksum is missing, too
}

// delayed holds the first 64 KiB of an answer back, so that an early failure can still be answered with its cause.
type delayed struct {
	w      http.ResponseWriter
	held   []byte
	begun  bool // something was sent
	failed bool // the client stopped reading
}

const delayedBytes = 64 << 10

func (d *delayed) Write(p []byte) (int, error) {
	if !d.begun {
		d.held = append(d.held, p...)
		if len(d.held) < delayedBytes {
			return len(p), nil
		}
		return len(p), d.send()
	}
	return d.pass(p)
}

// send sends what is held back.
func (d *delayed) send() error {
	if d.begun {
		return nil
	}
	d.begun = true
	d.w.Header().Set("Content-Type", "application/octet-stream")
	_, err := d.pass(d.held)
	d.held = nil
	return err
}

func (d *delayed) pass(p []byte) (int, error) {
	n, err := d.w.Write(p)
	d.failed = d.failed || err != nil
	return n, err
}
