package hooks

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	requestTimeout = 30 * time.Second
	lastAnswer     = 5 * time.Second // how long an answer may take after the context of Run has ended
	maxAnswer      = 64 << 10        // bytes of an answer that are read, so that its connection can be used again
)

// post sends one request. retryAfter is how long the hook asks to wait, 0 if it does not. If ctx ends after the request
// was sent, post waits for the answer up to lastAnswer.
func (s *Sender) post(ctx context.Context, h Hook, seq uint64, body []byte) (retryAfter time.Duration, err error) {
	ctx, cancel := outlasting(ctx)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("malformed address") // err contains the address, which may have a secret
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", s.opts.UserAgent)
	sign(r.Header, s.opts.Secret, messageID(h, seq), s.opts.Now(), body)
	answer, err := s.client.Do(r)
	if err != nil {
		var withURL *url.Error
		if errors.As(err, &withURL) {
			err = withURL.Err // leaves out the address, which may have a secret
		}
		return 0, err
	}
	defer answer.Body.Close()
	io.CopyN(io.Discard, answer.Body, maxAnswer) // the body and errors of reading it do not matter
	if answer.StatusCode/100 == 2 {
		return 0, nil
	}
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
		retryAfter = time.Duration(min(seconds, 24*60*60)) * time.Second
	}
	return retryAfter, fmt.Errorf("it answered %s", answer.Status)
}

// outlasting returns a context that ends lastAnswer after ctx has ended.
func outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	timer := make(chan *time.Timer, 1)
	stop := context.AfterFunc(ctx, func() { timer <- time.AfterFunc(lastAnswer, cancel) })
	return longer, func() {
		if !stop() {
			(<-timer).Stop()
		}
		cancel()
	}
}

// messageID returns the webhook-id of an event for a hook. It is the same each time the event is sent.
func messageID(h Hook, seq uint64) string {
	return "msg_" + strings.TrimPrefix(h.name, "hook ") + "_" + strconv.FormatUint(seq, 10)
}

// sign sets the headers of Standard Webhooks. If secret is nil, it sets no signature.
func sign(h http.Header, secret []byte, id string, now time.Time, body []byte) {
	stamp := strconv.FormatInt(now.Unix(), 10)
	h.Set("Webhook-Id", id)
	h.Set("Webhook-Timestamp", stamp)
	if secret == nil {
		return
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	h.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
