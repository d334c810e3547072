package operate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"odarchive/crawler/copies/backup"
	"odarchive/sparqlapi/problem"
)

// copyOf answers one POST /backup, and returns whether the answer was cut off and what was logged.
func copyOf(t *testing.T, size int, err error, w http.ResponseWriter) (aborted bool, log string) {
	t.Helper()
	var lines bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&lines, nil))
	api := &ControlAPI{Log: logger, Backup: func(_ context.Context, w io.Writer, _ *backup.Info) error {
		if _, failed := w.Write(make([]byte, size)); failed != nil {
			return failed
		}
		return err
	}}
	h := problem.Use(problem.Options{Log: logger})(problem.Handler(api.Copy))
	func() {
		defer func() {
			if v := recover(); v != nil {
				aborted = v == http.ErrAbortHandler
			}
		}()
		h.ServeHTTP(w, httptest.NewRequest("POST", "/backup", nil))
	}()
	return aborted, lines.String()
}

var errFull = errors.New("no space left on device")

func TestABackupThatFailsBeforeAnythingIsSentIsAnsweredWithItsCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		logged int
	}{{errFull, 500, 1}, {fmt.Errorf("backup: %w", backup.ErrChain), 409, 0}} {
		rec := httptest.NewRecorder()
		aborted, log := copyOf(t, 300, c.err, rec)
		if aborted || rec.Code != c.status || rec.Header().Get("Content-Type") != problem.ContentType {
			t.Errorf("%v: aborted %t, status %d, %s", c.err, aborted, rec.Code, rec.Header().Get("Content-Type"))
		}
		if n := strings.Count(log, c.err.Error()); n != c.logged {
			t.Errorf("%v: the log says %q", c.err, log)
		}
	}
}

func TestABackupThatFailsInTheMiddleIsCutOffAndItsCauseLoggedOnce(t *testing.T) {
	t.Parallel()
	aborted, log := copyOf(t, 1<<20, errFull, httptest.NewRecorder())
	if !aborted || strings.Count(log, "level=ERROR") != 1 || strings.Count(log, errFull.Error()) != 1 {
		t.Errorf("aborted %t, the log says %q", aborted, log)
	}
}

// deaf is a client that has left.
type deaf struct{ http.ResponseWriter }

func (deaf) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAClientThatLeavesABackupIsNoErrorOfTheServer(t *testing.T) {
	t.Parallel()
	aborted, log := copyOf(t, 1<<20, nil, deaf{httptest.NewRecorder()})
	if !aborted || strings.Contains(log, "ERROR") {
		t.Errorf("aborted %t, the log says %q", aborted, log)
	}
}

func TestASmallBackupArrivesWhole(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 300, delayedBytes, delayedBytes + 1, 1 << 20} {
		rec := httptest.NewRecorder()
		if aborted, _ := copyOf(t, size, nil, rec); aborted || rec.Code != 200 || rec.Body.Len() != size ||
			rec.Header().Get("Content-Type") != "application/octet-stream" {
			t.Errorf("%d bytes: aborted %t, %d, %d bytes", size, aborted, rec.Code, rec.Body.Len())
		}
	}
}
