package ckan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/url"
	"strings"

	"odarchive/crawler/harvest"
	"odarchive/crawler/harvest/loosejson"
	"odarchive/crawler/harvest/portalapi"
)

// client of one portal during one harvest.
type client struct {
	http   portalapi.Client
	root   string // of the portal
	api    string // of the actions, once one answered
	post   bool   // CKAN 1.x takes actions as POST only
	rows   int
	portal string
	out    harvest.Sink
	seed   maphash.Seed
	seen   map[uint64]bool // packages that were handed over
	broken int             // pages that were broken
}

// first time that a package comes by. Two ids with one hash would lose one, in one of 10^8 harvests of a large portal.
func (c *client) first(id string) bool {
	h := maphash.String(c.seed, id)
	if c.seen[h] {
		return false
	}
	c.seen[h] = true
	return true
}

// refused is an action that the portal answered with success: false.
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

// action calls one and gives its result; beside an error that part of the result which was complete.
func (c *client) action(ctx context.Context, name string, query url.Values) (loosejson.Value, error) {
	apis := []string{c.api}
	if c.api == "" {
		apis = []string{c.root + "/api/3/action/", c.root + "/api/action/"}
	}
	var first error
	for _, api := range apis {
		result, err := c.call(ctx, api, name, query)
		var no *refused
		var broken *loosejson.Error
		if err == nil || errors.As(err, &no) || errors.As(err, &broken) {
			c.api = api
			return result, err
		}
		first = cmp.Or(first, err)
		if ctx.Err() != nil || !portalapi.Answered(err) {
			break // the host itself is in trouble
		}
	}
	return loosejson.Value{}, first
}

func (c *client) call(ctx context.Context, api, name string, query url.Values) (loosejson.Value, error) {
	v, err := c.send(ctx, api+name, query)
	var status *harvest.StatusError
	if errors.As(err, &status) {
		if told, parseErr := loosejson.Parse(status.Body); parseErr == nil && told.IsObject() && !told.Get("success").IsNull() {
			v, err = told, nil
		}
	}
	if err == nil && !v.Get("success").IsNull() && !v.Get("success").Bool() || err == nil && !v.Get("error").IsNull() && v.Get("result").IsNull() {
		return loosejson.Value{}, refusal(name, v.Get("error"), status)
	}
	if v.Get("result").IsNull() && v.IsObject() && err == nil {
		return loosejson.Value{}, &refused{action: name, message: "the answer has no result"}
	}
	if v.IsArray() { // no envelope
		return v, err
	}
	return v.Get("result"), err
}

// send a question as GET, or as POST where the portal takes nothing else.
func (c *client) send(ctx context.Context, address string, query url.Values) (loosejson.Value, error) {
	if c.post {
		return c.http.Post(ctx, address, body(query))
	}
	v, err := c.http.Get(ctx, address, query)
	var status *harvest.StatusError
	if errors.As(err, &status) && (status.Status == http.StatusMethodNotAllowed || status.Status == http.StatusBadRequest && !bytes.Contains(status.Body, []byte("success"))) {
		if posted, postErr := c.http.Post(ctx, address, body(query)); postErr == nil {
			c.post = true
			return posted, nil
		}
	}
	return v, err
}

func refusal(action string, e loosejson.Value, status *harvest.StatusError) *refused {
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

// body of an action's POST: its parameters as JSON.
func body(query url.Values) string {
	var b strings.Builder
	b.WriteByte('{')
	for name := range query {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%s:%s", loosejson.String(name).JSON(), loosejson.String(query.Get(name)).JSON())
	}
	b.WriteByte('}')
	return b.String()
}

// describe the portal, as far as it does itself. The error is one of the host, not of the action.
func (c *client) describe(ctx context.Context) (harvest.Portal, error) {
	p := harvest.Portal{IRI: portalapi.IRI(c.root), Homepage: portalapi.IRI(c.root), Software: "CKAN"}
	status, err := c.action(ctx, "status_show", nil)
	if err != nil {
		c.api = "" // that status_show is missing says nothing of the others
		return p, ctx.Err()
	}
	p.Title = portalapi.Plain(status.Get("site_title").Text())
	p.Description = portalapi.Plain(status.Get("site_description").Text())
	if v := status.Get("ckan_version").Text(); v != "" {
		p.Software += " " + v
	}
	if at := status.Get("site_url").Text(); portalapi.IsLink(at) {
		p.Homepage = at
	}
	p.Language = status.Get("locale_default").Texts()
	return p, nil
}
