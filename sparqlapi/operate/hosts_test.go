package operate

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"odarchive/crawler/web/hosts"
)

// bookOfHosts is a HostSettings without a crawl.
type bookOfHosts struct {
	*hosts.Book
	forgotten []string
}

func (b *bookOfHosts) HostRules() []hosts.Listed       { return b.List() }
func (b *bookOfHosts) ViewHost(name string) hosts.View { return b.View(name) }

func (b *bookOfHosts) SetHosts(ctx context.Context, match string, values map[string]string) (hosts.Rule, error) {
	return b.Change(ctx, match, func(r *hosts.Rule) error {
		for name, value := range values {
			if err := r.Set(name, value); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bookOfHosts) UnsetHosts(ctx context.Context, match string) error {
	return b.Remove(ctx, match)
}
func (b *bookOfHosts) PauseHosts(ctx context.Context, match, why string) error {
	return b.Pause(ctx, match, why)
}
func (b *bookOfHosts) ResumeHosts(ctx context.Context, match string) error {
	return b.Resume(ctx, match)
}

func (b *bookOfHosts) ForgetHost(_ context.Context, name string) error {
	b.forgotten = append(b.forgotten, name)
	return nil
}

func TestSettingsOfHostsAreOrdersOverHTTP(t *testing.T) {
	t.Parallel()
	book, err := hosts.NewBook(hosts.Options{})
	if err != nil {
		t.Fatal(err)
	}
	settings := &bookOfHosts{Book: book}
	a := &ControlAPI{Settings: settings}
	for _, c := range []struct {
		do            func(http.ResponseWriter, *http.Request) error
		method, path  string
		body          string
		status        int
		want, wantNot string
	}{
		{a.SetHosts, "POST", "/", `{"match":"Data.example.org","set":{"delay":"10s","header.X-Why":"research"}}`, 200, `"delay":"10s"`, ""},
		{a.SetHosts, "POST", "/", `{"match":"data.example.org","set":{"retries":"1","header.X-Why":""}}`, 200, `"retries":1`, "X-Why"},
		{a.HostSettings, "GET", "/", "", 200, `"match":"data.example.org","delay":"10s"`, ""},
		{a.HostSettings, "GET", "/?host=data.example.org", "", 200, `"settings":{"delay":"10s"`, ""},
		{a.PauseHosts, "POST", "/", `{"match":"*.example.org","why":"maintenance"}`, 200, `"paused":"maintenance"`, ""},
		{a.HostSettings, "GET", "/?host=b.example.org", "", 200, `"paused":"maintenance"`, `"10s"`},
		{a.ResumeHosts, "POST", "/", `{"match":"*.example.org"}`, 200, `"rules":`, "maintenance"},
		{a.ForgetHost, "POST", "/", `{"host":"data.example.org"}`, 200, `"host":"data.example.org"`, ""},
		{a.UnsetHosts, "DELETE", "/?match=data.example.org", "", 204, "", "data"},
		{a.UnsetHosts, "DELETE", "/?match=data.example.org", "", 404, "no order has set anything", ""},
		{a.SetHosts, "POST", "/", `{"match":"data.example.org"}`, 400, "expected", ""},
		{a.SetHosts, "POST", "/", `{"match":"data.example.org","set":{"dealy":"1s"}}`, 400, `no setting \"dealy\"`, ""},
		{a.SetHosts, "POST", "/", `{"match":"a b","set":{"delay":"1s"}}`, 400, "neither a host", ""},
		{a.SetHosts, "POST", "/", `{"match":"*","set":{"secret":"x"}}`, 400, `no section \"x\"`, ""},
		{a.SetHosts, "POST", "/", `[]`, 400, "expected", ""},
		{a.ForgetHost, "POST", "/", `{"match":"data.example.org"}`, 400, "expected", ""},
	} {
		w := ask(c.do, c.method, c.path, c.body)
		if got := w.Body.String(); w.Code != c.status || !strings.Contains(got, c.want) || c.wantNot != "" &&
			strings.Contains(got, c.wantNot) {
			t.Errorf("%s %s %s: %d %s", c.method, c.path, c.body, w.Code, got)
		}
	}
	if len(settings.forgotten) != 1 || len(book.List()) != 0 {
		t.Errorf("forgotten %v, rules %v", settings.forgotten, book.List())
	}
}
