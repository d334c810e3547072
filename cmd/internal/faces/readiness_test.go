package faces

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A server that gets SIGTERM says that it is not ready before it takes no more requests, if anybody asks that.
func TestAServerThatIsToldToEndIsNotReadyBeforeItEnds(t *testing.T) {
	t.Parallel()
	const delay = time.Second
	for name, test := range map[string]struct {
		cause   error
		watched bool
		delayed bool
	}{
		"a load balancer looks":  {ErrTerminated, true, true},
		"nobody looks":           {ErrTerminated, false, false},
		"somebody at a terminal": {context.Canceled, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			ended := make(chan error, 1)
			answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "here") })
			go func() { ended <- serve(ctx, slog.New(slog.DiscardHandler), answer, delay, time.Minute, l) }()
			get := func(path string) (status int, body string, closes bool) {
				t.Helper()
				res, err := http.Get("http://" + l.Addr().String() + path)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				text, err := io.ReadAll(res.Body)
				if err != nil {
					t.Fatal(err)
				}
				return res.StatusCode, string(text), res.Close
			}
			if test.watched {
				if status, _, closes := get("/readyz"); status != http.StatusOK || closes {
					t.Errorf("/readyz of a server that goes on: %d, %v", status, closes)
				}
			}
			began := time.Now()
			cancel(test.cause)
			if test.delayed {
				for status := 0; status != http.StatusServiceUnavailable; {
					var body string
					if status, body, _ = get("/readyz"); status == http.StatusServiceUnavailable &&
						!strings.Contains(body, `"state":"stopping"`) {
						t.Errorf("/readyz says %s", body)
					}
				}
				if status, body, closes := get("/x"); status != http.StatusOK || body != "here" || !closes {
					t.Errorf("another request: %d %q, the connection closes: %v", status, body, closes)
				}
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if took := time.Since(began); (took >= delay) != test.delayed {
				t.Errorf("it took %v", took)
			}
		})
	}
}
