package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptHub is a WebSub hub with one subscription.
type scriptHub struct {
	mu  sync.Mutex
	now url.Values // guarded by mu: the subscription; nil for none
}

// cmdHub implements "hub VAR", which starts a WebSub hub and sets VAR to its address. POST /publish and POST /forge send what a
// subscriber must believe and must not, and answer with the subscriber's status. GET /state says what is subscribed to.
func cmdHub(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hub VAR")
	}
	h := &scriptHub{}
	server := httptest.NewServer(h)
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

func (h *scriptHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/hub":
		if err := r.ParseForm(); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		go h.verify(r.PostForm)
	case "/publish", "/forge":
		fmt.Fprintln(w, "status", h.send(r.URL.Path == "/publish"))
	case "/state":
		h.mu.Lock()
		defer h.mu.Unlock()
		fmt.Fprintln(w, "topic", h.now.Get("hub.topic"))
	default:
		http.NotFound(w, r)
	}
}

// verify asks the subscriber whether it meant a request.
func (h *scriptHub) verify(form url.Values) {
	q := url.Values{"hub.mode": form["hub.mode"], "hub.topic": form["hub.topic"], "hub.challenge": {"a challenge"}, "hub.lease_seconds": {"86400"}}
	resp, err := http.Get(form.Get("hub.callback") + "?" + q.Encode())
	if err != nil {
		return
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 200 || string(text) != "a challenge" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now = nil; form.Get("hub.mode") == "subscribe" {
		h.now = form
	}
}

func (h *scriptHub) send(signed bool) int {
	h.mu.Lock()
	form := h.now
	h.mu.Unlock()
	mac := hmac.New(sha256.New, []byte(form.Get("hub.secret")))
	if !signed {
		mac.Write([]byte("something else"))
	}
	r, err := http.NewRequest(http.MethodPost, form.Get("hub.callback"), strings.NewReader(""))
	if err != nil {
		return 0
	}
	r.Header.Set("X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}
