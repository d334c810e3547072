package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// watched calls cancel when it has seen a text.
type watched struct {
	bytes.Buffer
	until string
	then  context.CancelFunc
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	if strings.Contains(w.String(), w.until) {
		w.then()
	}
	return n, err
}

func TestTheDemoTakesANewcomerThroughTheMainJobAndEndsWellAtCtrlC(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, stderr := &watched{until: "6. Watch", then: cancel}, &bytes.Buffer{}
	if status := run(ctx, []string{"demo"}, strings.NewReader(""), out, stderr); status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, stderr, out)
	}
	for _, step := range []string{"ODArchive demo", "version 0, text/csv", "4. Query", "text/csv", "5. Download", "Open in a browser", "curl -G http://localhost"} {
		if !strings.Contains(out.String(), step) {
			t.Errorf("%q is not there\n%s", step, out)
		}
	}
}
