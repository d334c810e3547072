// Package push takes what hubs send (W3C WebSub), and lists the subscriptions.
package push

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"odarchive/crawler/websub"
	"odarchive/sparqlapi/answer"
	"odarchive/sparqlapi/problem"
)

// Subscriber keeps subscriptions. *websub.Subscriber implements it.
type Subscriber interface {
	Verify(ctx context.Context, id string, in websub.Intent) (answer string, err error)
	Deliver(ctx context.Context, id, signature string, body io.Reader) (moved int, err error)
	List() []websub.Subscription
	Counts() websub.Counts
}

// API holds the handlers.
type API struct{ Subscriber Subscriber }

// maxTime is how long a hub may take to send a body.
const maxTime = 30 * time.Second

type idKey struct{}

// WithID returns a context with the id of the subscription that a request is for. It is not in the address that handlers see, so
// that no log has it.
func WithID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, idKey{}, id)
}

func idOf(r *http.Request) string {
	id, _ := r.Context().Value(idKey{}).(string)
	return id
}

// Verify answers GET /websub/{id}: a hub asks whether a request was meant.
func (a *API) Verify(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	text, err := a.Subscriber.Verify(r.Context(), idOf(r), websub.Intent{
		Mode: q.Get("hub.mode"), Topic: q.Get("hub.topic"), Challenge: q.Get("hub.challenge"), Lease: q.Get("hub.lease_seconds"), Reason: q.Get("hub.reason")})
	if err != nil {
		return refusal(err)
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8") // and nosniff, because others choose the text
	w.Header().Set("Cache-Control", "no-store")
	_, err = io.WriteString(w, text)
	return err
}

// Deliver answers POST /websub/{id}: a hub says that a topic has changed.
func (a *API) Deliver(w http.ResponseWriter, r *http.Request) error {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(maxTime)) // an error means that there is no such limit
	if r.ContentLength > websub.MaxBody {
		w.Header().Set("Connection", "close") // or net/http would read the body before it answers
		return refusal(websub.ErrTooLarge)
	}
	_, err := a.Subscriber.Deliver(r.Context(), idOf(r), r.Header.Get("X-Hub-Signature"), r.Body)
	if err != nil {
		w.Header().Set("Connection", "close")
		return refusal(err)
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// refusal returns the answer to a hub.
func refusal(err error) error {
	for known, status := range map[error]int{
		websub.ErrUnknown: http.StatusNotFound, websub.ErrEnded: http.StatusGone, websub.ErrSignature: http.StatusForbidden, websub.ErrTooLarge: http.StatusRequestEntityTooLarge,
	} {
		if errors.Is(err, known) {
			return problem.Wrap(status, "Not taken from a hub", err)
		}
	}
	if errors.Is(err, websub.ErrTooMany) {
		return &problem.Error{Status: http.StatusTooManyRequests, Title: "Not taken from a hub", Detail: err.Error(), RetryAfter: time.Minute, Cause: err}
	}
	return err
}

// List answers GET /crawl/subscriptions: the subscriptions, and figures.
func (a *API) List(w http.ResponseWriter, r *http.Request) error {
	return answer.JSON(w, r, map[string]any{"counts": a.Subscriber.Counts(), "subscriptions": a.Subscriber.List()})
}
