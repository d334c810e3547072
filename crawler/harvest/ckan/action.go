package ckan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loose"
	"odarchive/crawler/harvest/portalapi"
)

// client is a harvest through the action API.
type client struct {
	*portalapi.Harvest
	api     string         // address of the actions, once one has answered
	post    bool           // the portal runs CKAN 1.x, which accepts only POST
	seen    portalapi.Seen // IDs of packages handed to Out
	broken  int            // number of broken pages
	counted int            // packages that a search counted and did not return
}

// refused is the error of an action that the portal answered with "success": false.
type refused struct {
	action, kind, message string
	status                int
}

func (r *refused) Error() string {
	text := r.action + " was refused"
	for _, why := range []string{r.kind, r.message} {
		if why != "" {
			text += ": " + why
		}
	}
	return text
}

// action calls an action and returns its result. If the answer breaks off, that is the complete part of it.
func (c *client) action(ctx context.Context, name string, query url.Values) (loose.Value, error) {
	apis := []string{c.api}
	if c.api == "" {
		apis = []string{c.Root + "/api/3/action/", c.Root + "/api/action/"}
	}
	var first error
	for _, api := range apis {
		result, err := c.call(ctx, api, name, query)
		var no *refused
		var broken *loose.Error
		if err == nil || errors.As(err, &no) || errors.As(err, &broken) {
			c.api = api
			return result, err
		}
		first = cmp.Or(first, err)
		if ctx.Err() != nil || !portalapi.Answered(err) {
			break // the host itself is in trouble
		}
	}
	return loose.Value{}, first
}

func (c *client) call(ctx context.Context, api, name string, query url.Values) (loose.Value, error) {
	v, err := c.send(ctx, api+name, query)
	var status *harvest.StatusError
	if errors.As(err, &status) {
		if reply, parseErr := loose.Parse(status.Body); parseErr == nil && reply.IsObject() && !reply.Get("success").IsNull() {
			v, err = reply, nil
		}
	}
	if err == nil && !v.Get("success").IsNull() && !v.Get("success").Bool() || err == nil && !v.Get("error").IsNull() &&
		v.Get("result").IsNull() {
		return loose.Value{}, refusal(name, v.Get("error"), status)
	}
	if v.Get("result").IsNull() && v.IsObject() && err == nil {
		return loose.Value{}, &refused{action: name, message: "the answer has no result"}
	}
	if v.IsArray() { // no envelope
		return v, err
	}
	return v.Get("result"), err
}

// send sends a request as GET, or as POST if the portal accepts nothing else.
func (c *client) send(ctx context.Context, address string, query url.Values) (loose.Value, error) {
	client := portalapi.Client{HTTP: c.Source.HTTP}
	if c.post {
		return client.Post(ctx, address, body(query))
	}
	v, err := client.Get(ctx, address, query)
	var status *harvest.StatusError
	if errors.As(err, &status) &&
		(status.Status == http.StatusMethodNotAllowed || status.Status == http.StatusBadRequest &&
			!bytes.Contains(status.Body, []byte("success"))) {
		if posted, postErr := client.Post(ctx, address, body(query)); postErr == nil {
			c.post = true
			return posted, nil
		}
	}
	return v, err
}

func refusal(action string, e loose.Value, status *harvest.StatusError) *refused {
	r := &refused{action: action, kind: e.Get("__type").Text(), message: cmp.Or(e.Get("message").Text(), e.Text())}
	if status != nil {
		r.status = status.Status
	}
	if r.message == "" && r.kind == "" && !e.Empty() {
		r.message = e.JSON()
	}
	if len(r.message) > 200 {
		r.message = strings.ToValidUTF8(r.message[:200], "") + "…"
	}
	return r
}

// body returns parameters as JSON.
func body(query url.Values) string {
	var b strings.Builder
	b.WriteByte('{')
	for name := range query {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s", loose.String(name).JSON(), loose.String(query.Get(name)).JSON())
	}
	b.WriteByte('}')
	return b.String()
}

// describe completes Portal with what the portal says of itself, if anything. It fails only if the context ends.
func (c *client) describe(ctx context.Context) error {
	status, err := c.action(ctx, "status_show", nil)
	if err != nil {
		c.api = "" // other actions may exist there
		return ctx.Err()
	}
	c.Portal.Title = portalapi.Plain(status.Get("site_title").Text())
	c.Portal.Description = portalapi.Plain(status.Get("site_description").Text())
	if v := status.Get("ckan_version").Text(); v != "" {
		c.Portal.Software += " " + v
	}
	c.Portal.Homepage = cmp.Or(portalapi.OnlyLink(status.Get("site_url").Text()), c.Portal.Homepage)
	c.Portal.Language = status.Get("locale_default").Texts()
	return nil
}
