package webapi

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/address"
	"odarchive/crawler/harvest"
)

// client adds credentials to requests to the host of the base, and takes them out of whatever comes back: errors,
// addresses, headers and bodies. A host may repeat a key in its next link or in a message.
type client struct {
	api    *API
	next   http.RoundTripper
	pacer  *Pacer
	user   string
	secret string
	hidden []string // what must not be kept of whatever comes back; nil without any
}

// newClient returns a client that follows redirects within the host of the base only.
func (a *API) newClient(next http.RoundTripper, pacer *Pacer, getenv func(string) string) (*http.Client, *client, error) {
	user, secret, err := a.credentials(getenv)
	if err != nil {
		return nil, nil, err
	}
	c := &client{api: a, next: next, pacer: pacer, user: user, secret: secret, hidden: secrets(user, secret)}
	return &http.Client{Transport: c, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if !a.sameHost(req.URL) {
			return &elsewhere{req.URL.Redacted()}
		}
		if len(via) >= 10 {
			return &elsewhere{"too many places, one after the other"}
		}
		return nil
	}}, c, nil
}

// elsewhere is the error of a redirect that is not followed.
type elsewhere struct{ where string }

func (e *elsewhere) Error() string {
	return "the interface redirects to " + e.where + ", which is not followed"
}

// Is makes it an error that another attempt does not change.
func (e *elsewhere) Is(target error) bool { return target == harvest.ErrFinal }

// secrets returns what must not be kept: the secret, and what is sent of it and the user in basic authentication, with
// or without what fills it up. A user is not secret by itself. fetch knows how they may be spelled.
func secrets(user, secret string) []string {
	if secret == "" {
		return nil
	}
	return []string{strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(user+":"+secret)), "="), secret}
}

// sameHost reports whether an address is at the scheme and host of the base.
func (a *API) sameHost(u *url.URL) bool {
	return u.Scheme == a.base.Scheme && strings.EqualFold(u.Host, a.base.Host) && u.User == nil
}

// hide removes the secret from a text.
func (c *client) hide(text string) string { return address.RemoveSecrets(text, c.hidden...) }

// RoundTrip implements http.RoundTripper. It waits for the turn of the request: each redirect and each repetition
// counts.
func (c *client) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := c.pacer.Take(req.Context()); err != nil {
		return nil, err
	}
	out := req
	if auth := c.api.document.Auth; auth != nil && c.api.sameHost(req.URL) {
		out = req.Clone(address.WithSecrets(req.Context(), c.hidden...))
		out.Header.Set("Accept-Encoding", "identity") // so that a record of the answer can be searched for the secret
		switch auth.Kind {
		case "bearer":
			out.Header.Set("Authorization", "Bearer "+c.secret)
		case "basic":
			out.SetBasicAuth(c.user, c.secret)
		case "header":
			out.Header.Set(auth.Name, c.secret)
		case "query":
			query := auth.Name + "=" + url.QueryEscape(c.secret)
			if rest := withoutParameter(out.URL.RawQuery, auth.Name); rest != "" {
				query = rest + "&" + query
			}
			out.URL.RawQuery = query
		}
	}
	resp, err := c.next.RoundTrip(out)
	if err != nil {
		return nil, c.publicError(err)
	}
	resp.Request = req // without the secret
	if c.hidden != nil {
		for name, values := range resp.Header {
			for i, v := range values {
				resp.Header[name][i] = c.hide(v)
			}
		}
	}
	return resp, nil
}

// secretError is an error whose text had the secret. The cause is left out, since its text has it still.
type secretError string

func (e secretError) Error() string { return string(e) }

// publicError returns an error without the secret. An error that does not have it stays as it is.
func (c *client) publicError(err error) error {
	if text := err.Error(); c.hide(text) != text {
		return secretError(c.hide(text))
	}
	return err
}

// withoutParameter removes the parameters of a name from a query.
func withoutParameter(query, name string) string {
	var kept []string
	for part := range strings.SplitSeq(query, "&") {
		key, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(key); err == nil {
			key = plain
		}
		if part != "" && key != name {
			kept = append(kept, part)
		}
	}
	return strings.Join(kept, "&")
}

// ask requests a document of the interface and takes the secret out of the answer.
func (c *client) ask(ctx context.Context, doer harvest.Doer, address string) (harvest.Answer, error) {
	accept := c.api.document.Accept
	switch {
	case accept != "":
	case c.api.document.XML:
		accept = "application/xml, text/xml, */*;q=0.1"
	default:
		accept = "application/json, */*;q=0.1"
	}
	answer, err := harvest.Ask(ctx, doer, harvest.Request{URL: address, Accept: accept, Max: c.api.document.MaxAnswer})
	if err != nil {
		var status *harvest.StatusError
		if errors.As(err, &status) {
			status.Body = []byte(c.hide(string(status.Body)))
		}
		return answer, c.publicError(err)
	}
	if c.hidden != nil {
		answer.Body = []byte(c.hide(string(answer.Body)))
	}
	return answer, nil
}
