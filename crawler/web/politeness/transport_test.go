package politeness

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/web/fetch"
)

// trip is a function as a RoundTripper.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answering(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i+1 < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

// politeTo returns a transport for hosts whose robots.txt forbids everything and has a Crawl-delay.
func politeTo(base trip) *Transport {
	gate := New(Options{Delay: time.Second, Fetch: func(context.Context, fetch.Request) (*fetch.Exchange, error) {
		return &fetch.Exchange{Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 404}, nil
	}})
	return &Transport{Gate: gate, Base: base, UserAgent: "odarchive/1.0"}
}

func get(t *testing.T, tr *Transport, url string) (string, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

func TestAnInterfaceIsAskedOneRequestAtATimeWithPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var under, most atomic.Int64
		var times []time.Time
		tr := politeTo(func(r *http.Request) (*http.Response, error) {
			most.Store(max(most.Load(), under.Add(1)))
			times = append(times, time.Now())
			time.Sleep(100 * time.Millisecond)
			under.Add(-1)
			return answering(200, "ok"), nil
		})
		done := make(chan error)
		for range 4 {
			go func() { _, err := get(t, tr, "http://a.example/api"); done <- err }()
		}
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if most.Load() != 1 || times[3].Sub(times[0]) < 3*time.Second {
			t.Errorf("%d at a time, %v for four", most.Load(), times[3].Sub(times[0]))
		}
		if requests, bytes := tr.Traffic(); requests != 4 || bytes != 8 {
			t.Errorf("%d requests, %d bytes", requests, bytes)
		}
	})
}

func TestAHostThatAsksForPatienceGetsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		tr := politeTo(func(*http.Request) (*http.Response, error) {
			if asked++; asked == 1 {
				return answering(503, "", "Retry-After", "120"), nil
			}
			return answering(200, "ok"), nil
		})
		began := time.Now()
		if _, err := get(t, tr, "http://a.example/api"); err != nil {
			t.Fatal(err)
		}
		if body, err := get(t, tr, "http://a.example/api"); err != nil || body != "ok" || time.Since(began) < 2*time.Minute {
			t.Errorf("%q, %v, after %v", body, err, time.Since(began))
		}
		asked = 0
		tr.Longest = time.Second
		if _, err := get(t, tr, "http://a.example/api"); err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, tr, "http://a.example/api"); err == nil || !strings.Contains(err.Error(), "may be asked again at") {
			t.Errorf("error %v", err)
		}
	})
}

// stuck is a body that sends nothing and does not end.
type stuck struct{ ctx context.Context }

func (s stuck) Read([]byte) (int, error) { <-s.ctx.Done(); return 0, s.ctx.Err() }
func (s stuck) Close() error             { return nil }

func TestAnAnswerThatStallsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := politeTo(func(r *http.Request) (*http.Response, error) {
			resp := answering(200, "")
			resp.Body = stuck{r.Context()}
			return resp, nil
		})
		if _, err := get(t, tr, "http://a.example/api"); err == nil || !strings.Contains(err.Error(), "sent nothing for 1m0s") {
			t.Errorf("error %v", err)
		}
		tr.Base = trip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		if _, err := get(t, tr, "http://a.example/api"); err == nil || errors.Is(err, context.Canceled) ||
			!strings.Contains(err.Error(), "did not answer within") {
			t.Errorf("error %v", err)
		}
	})
}

// A mistyped portal is an error at once. Waiting for its back-off would take minutes.
// dripping is a body that sends a blank each second and does not end.
type dripping struct{ ctx context.Context }

func (d dripping) Close() error { return nil }

func (d dripping) Read(p []byte) (int, error) {
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(time.Second):
		return copy(p, " "), nil
	}
}

func TestAnAnswerThatDripsIsGivenUpAfterTheTimeInWhichItMustBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := politeTo(func(r *http.Request) (*http.Response, error) {
			resp := answering(200, "")
			resp.Body = dripping{r.Context()}
			return resp, nil
		})
		began := time.Now()
		_, err := get(t, tr, "http://a.example/api")
		if err == nil || !strings.Contains(err.Error(), "sent only 301 bytes in 5m1s") || time.Since(began) > 6*time.Minute {
			t.Errorf("%v, after %v", err, time.Since(began))
		}
	})
}

func TestAReaderMayTakeItsTimeBetweenTwoReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := politeTo(func(*http.Request) (*http.Response, error) { return answering(200, "a list"), nil })
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://a.example/api", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var got []byte
		for one := make([]byte, 1); err == nil; time.Sleep(10 * time.Minute) {
			var n int
			n, err = resp.Body.Read(one)
			got = append(got, one[:n]...)
		}
		if string(got) != "a list" || !errors.Is(err, io.EOF) {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestAnInterfaceIsNotAskedWhileTheServerFailsToReturnRobotsTxt(t *testing.T) {
	for about, ex := range map[string]fetch.Exchange{
		"503":      {Outcome: catalog.RetryLater, ErrorClass: catalog.ErrHTTPStatus, Status: 503, Why: "503"},
		"hangs":    {Outcome: catalog.NoVersion, ErrorClass: catalog.ErrTimeout, RemoteAddr: "192.0.2.1:80", Why: "no answer"},
		"hangs up": {Outcome: catalog.NoVersion, ErrorClass: catalog.ErrNetwork, RemoteAddr: "192.0.2.1:80", Why: "EOF"},
	} {
		synctest.Test(t, func(t *testing.T) {
			gate := New(Options{Delay: time.Second, Fetch: func(context.Context, fetch.Request) (*fetch.Exchange, error) {
				return &ex, nil
			}})
			tr := &Transport{Gate: gate, Base: trip(func(*http.Request) (*http.Response, error) {
				t.Errorf("%s: it was asked", about)
				return answering(200, ""), nil
			})}
			if _, err := get(t, tr, "http://a.example/api"); err == nil || !strings.Contains(err.Error(), "asked again at") {
				t.Errorf("%s: %v", about, err)
			}
			if v, err := gate.Robots.Allowed(t.Context(), "http://a.example/1"); err != nil || !v.Unread() || v.RetryAt.IsZero() {
				t.Errorf("%s: files are not due: %+v, %v", about, v, err)
			}
		})
	}
}

func TestAHostThatCannotBeAskedIsAnErrorAtOnce(t *testing.T) {
	for class, permanent := range map[catalog.ErrorClass]bool{catalog.ErrDNS: false, catalog.ErrForbiddenTarget: true} {
		synctest.Test(t, func(t *testing.T) {
			gate := New(Options{Delay: time.Second, Fetch: func(context.Context, fetch.Request) (*fetch.Exchange, error) {
				return &fetch.Exchange{Outcome: catalog.NoVersion, ErrorClass: class, Why: "lookup a.example: no such host"}, nil
			}})
			tr := &Transport{Gate: gate, Base: trip(func(*http.Request) (*http.Response, error) {
				t.Error("it was asked")
				return answering(200, ""), nil
			})}
			begun := time.Now()
			for range 3 {
				_, err := get(t, tr, "https://a.example/api")
				var lasting interface{ Permanent() bool }
				if err == nil || !errors.As(err, &lasting) || lasting.Permanent() != permanent ||
					!strings.Contains(err.Error(), "no such host") {
					t.Errorf("%s: %v", class, err)
				}
			}
			if took := time.Since(begun); took > time.Second {
				t.Errorf("%s: it took %v", class, took)
			}
		})
	}
}

// As a repository that accepts connections and never answers: its robots.txt shows it, which is asked for first.
func TestASourceThatNeverAnswersIsKnownInTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		silent := true
		gate := New(Options{Delay: time.Second, Fetch: func(ctx context.Context, _ fetch.Request) (*fetch.Exchange, error) {
			if silent {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
			time.Sleep(20 * time.Second)
			return &fetch.Exchange{Outcome: catalog.NoVersion, ErrorClass: catalog.ErrHTTPStatus, Status: 404}, nil
		}})
		tr := &Transport{Gate: gate, Base: trip(func(*http.Request) (*http.Response, error) { asked++; return answering(200, "ok"), nil })}
		began := time.Now()
		_, err := get(t, tr, "http://a.example/oai")
		var host interface{ Class() catalog.ErrorClass }
		if !errors.As(err, &host) || host.Class() != catalog.ErrTimeout || time.Since(began) != 10*time.Second || asked > 0 {
			t.Errorf("%v after %s, %d requests", err, time.Since(began), asked)
		}
		silent = false
		tr.answered.Store(true) // after its first answer, a source may be slow
		if _, err := get(t, tr, "http://a.example/oai"); err != nil || asked != 1 {
			t.Errorf("%v, %d requests", err, asked)
		}
	})
}
