package tape

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/address"
	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/webtest"
)

// ask sends a request, reads n bytes of the answer (negative: all) and closes it.
func ask(t *testing.T, rt http.RoundTripper, method, url, body string, n int64) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Basic secret")
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if n < 0 {
		_, err = io.Copy(io.Discard, resp.Body)
	} else {
		_, err = io.CopyN(io.Discard, resp.Body, n)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnswersToOtherRequestsAreRecordedWithTheBodyOfTheRequest(t *testing.T) {
	t.Parallel()
	w := listen(t, map[string]string{
		"/plain": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		"/long":  "HTTP/1.1 500 No\r\nContent-Length: 400000\r\n\r\n" + strings.Repeat("long", 100000),
	})
	f, tape, records := taping(t, fetch.Options{AllowPrivateHosts: true})
	rt := f.Taping(tape)
	ask(t, rt, "GET", w.base+"/plain", "", -1)
	ask(t, rt, "GET", w.base+"/long", "", 10)
	all := records()
	if len(all) != 4 || tape.Missed() != 0 {
		t.Fatalf("%d records", len(all))
	}
	if all[0].block != w.answers["/plain"] || all[0].Header.Get("WARC-Truncated") != "" {
		t.Errorf("%v %q", all[0].Header, all[0].block)
	}
	if all[2].Header.Get("WARC-Truncated") != "length" || !strings.HasPrefix(w.answers["/long"], all[2].block) {
		t.Errorf("%v", all[2].Header)
	}
	if want := strings.Replace(w.requests[0], "Authorization: Basic secret\r\n", "", 1); all[1].block != want {
		t.Errorf("%q, want %q", all[1].block, want)
	}
}

func TestThePostedBodyIsRecordedOverBothVersionsOfHTTP(t *testing.T) {
	t.Parallel()
	web, err := webtest.Start([]byte("-- h2.example --\n> tls good\n-- h2.example/q --\nanswer\n-- h1.example/q --\nanswer\n"),
		webtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer web.Close()
	f, tape, records := taping(t, fetch.Options{Resolver: web, Dial: web.Dial, RootCAs: web.RootCAs()})
	rt := f.Taping(tape)
	ask(t, rt, "POST", "https://h2.example/q", "query=SELECT", -1)
	ask(t, rt, "POST", "http://h1.example/q", "query=SELECT", -1)
	all := records()
	if len(all) != 4 {
		t.Fatalf("%d records", len(all))
	}
	for i, host := range []string{"h2.example", "h1.example"} {
		answer, request := all[2*i], all[2*i+1]
		if !strings.HasSuffix(answer.block, "answer\n") || answer.Type != warc.Response {
			t.Errorf("%s: %q", host, answer.block)
		}
		if !strings.HasPrefix(request.block, "POST /q HTTP/1.1\r\nHost: "+host+"\r\n") ||
			!strings.HasSuffix(request.block, "\r\n\r\nquery=SELECT") || strings.Contains(request.block, "secret") {
			t.Errorf("%s: %q", host, request.block)
		}
	}
}

func TestASecretOfARequestIsInNoRecord(t *testing.T) {
	t.Parallel()
	w := listen(t, map[string]string{
		"/plain?key=hunter2": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
		"/echo?key=hunter2":  "HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\nyour key: hunter2!",
		"/coded?key=hunter2": "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi",
	})
	f, tape, records := taping(t, fetch.Options{AllowPrivateHosts: true})
	rt := f.Taping(tape)
	for _, path := range []string{"/plain", "/echo", "/coded"} {
		req, err := http.NewRequestWithContext(address.WithSecrets(t.Context(), "hunter2"), "GET", w.base+path+"?key=hunter2", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Key", "hunter2")
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	all := records()
	if len(all) != 2 {
		t.Errorf("%d records, want those of the answer that does not repeat the secret", len(all))
	}
	for _, r := range all {
		for _, field := range r.Header {
			if strings.Contains(field.Value, "hunter2") {
				t.Errorf("%s: %s", field.Name, field.Value)
			}
		}
		if strings.Contains(r.block, "hunter2") {
			t.Errorf("%q", r.block)
		}
	}
}
