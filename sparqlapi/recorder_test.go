package sparqlapi

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// dripping is a client that needs some time for each write.
type dripping struct {
	http.ResponseWriter
	took time.Duration
}

func (d *dripping) Write(p []byte) (int, error) {
	time.Sleep(d.took)
	return d.ResponseWriter.Write(p)
}

func TestAClientThatDripsIsCutOffAndASlowAnswerIsNot(t *testing.T) {
	for _, c := range []struct {
		about        string
		client, host time.Duration // between the writes of 100 bytes
		cut          bool
	}{
		{"a client that takes 10 bytes a second", 10 * time.Second, 0, true},
		{"a client that takes 10,000 bytes a second", 10 * time.Millisecond, 0, false},
		{"an answer of 10 bytes a second", 0, 10 * time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := &recorder{ResponseWriter: &dripping{httptest.NewRecorder(), c.client}}
			var err error
			for range 100 {
				time.Sleep(c.host)
				if _, err = io.WriteString(w, strings.Repeat("x", 100)); err != nil {
					break
				}
			}
			if errors.Is(err, errSlowClient) != c.cut {
				t.Errorf("%s: %v", c.about, err)
			}
		})
	}
}
