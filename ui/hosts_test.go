package ui_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/web/hosts"
)

// hostSettings are settings of hosts without a crawl.
type hostSettings struct {
	*hosts.Book
	forgotten []string
}

func newHostSettings() *hostSettings {
	book, err := hosts.NewBook(hosts.Options{File: []hosts.Rule{{Match: "*.file.example", Note: "<b>of the file"}}})
	if err != nil {
		panic(err)
	}
	return &hostSettings{Book: book}
}

func (h *hostSettings) HostRules() []hosts.Listed       { return h.List() }
func (h *hostSettings) ViewHost(name string) hosts.View { return h.View(name) }

func (h *hostSettings) SetHosts(ctx context.Context, match string, values map[string]string) (hosts.Rule, error) {
	return h.Change(ctx, match, func(r *hosts.Rule) error {
		for name, value := range values {
			if err := r.Set(name, value); err != nil {
				return err
			}
		}
		return nil
	})
}

func (h *hostSettings) UnsetHosts(ctx context.Context, match string) error {
	return h.Remove(ctx, match)
}
func (h *hostSettings) PauseHosts(ctx context.Context, match, why string) error {
	return h.Pause(ctx, match, why)
}
func (h *hostSettings) ResumeHosts(ctx context.Context, match string) error {
	return h.Resume(ctx, match)
}

func (h *hostSettings) ForgetHost(_ context.Context, name string) error {
	h.forgotten = append(h.forgotten, name)
	return nil
}

func TestHostsAreSetOnAPageByThoseWithTheToken(t *testing.T) {
	t.Parallel()
	h := site(newWorld())
	page := body(t, get(t, h, "/hosts?host=data.example"))
	if !strings.Contains(page, `value="data.example"`) || strings.Contains(page, "file.example") {
		t.Errorf("without the token the page is %s", page)
	}
	form := func(order, match, values, token string) url.Values {
		return url.Values{"order": {order}, "match": {match}, "values": {values}, "token": {token}}
	}
	for _, c := range []struct {
		form   url.Values
		status int
		want   []string
	}{
		{form("show", "", "", ""), 401, []string{"token of this server is missing"}},
		{form("pause", "data.example", "", "wrong"), 403, []string{"not the token of this server"}},
		{form("show", "", "", "right"), 200, []string{"*.file.example", "&lt;b&gt;of the file"}},
		{form("set", "data.example", "delay=10s\r\nretries = 1\r\n\r\n", "right"), 200,
			[]string{"delay=10s", "retries=1", "What applies to data.example", "<dd>10s</dd>"}},
		{form("pause", "*.example", "they <i>asked", "right"), 200, []string{"paused=they &lt;i&gt;asked"}},
		{form("show", "data.example", "", "right"), 200, []string{"they &lt;i&gt;asked"}},
		{form("resume", "*.example", "", "right"), 200, []string{"*.example is asked again"}},
		{form("set", "data.example", "delay=soon", "right"), 400, []string{"is not a time", "delay=10s"}},
		{form("set", "data.example", "soon", "right"), 400, []string{"not of the form name=value"}},
		{form("set", "data.example", " \n", "right"), 400, []string{"no value is given"}},
		{form("forget", "data.example", "", "right"), 200, []string{"never been asked"}},
		{form("forget", "*.example", "", "right"), 400, []string{"is not a host"}},
		{form("unset", "data.example", "", "right"), 200, []string{"Nothing is set for data.example"}},
		{form("unset", "data.example", "", "right"), 400, []string{"no order has set anything"}},
		{form("explode", "data.example", "", "right"), 400, []string{"there is no order"}},
	} {
		w := post(h, "/hosts", c.form)
		text := w.Body.String()
		missing := slices.ContainsFunc(c.want, func(want string) bool { return !strings.Contains(text, want) })
		if w.Code != c.status || missing {
			t.Errorf("%v: %d, %s", c.form, w.Code, text)
		}
		if token := c.form.Get("token"); strings.Contains(text, `value="`+token+`"`) && token != "" ||
			w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%v: the page repeats the token, or may be kept", c.form)
		}
	}
}
