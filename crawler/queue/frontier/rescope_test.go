package frontier

import (
	"fmt"
	"strings"
	"testing"
)

func TestRescopeTakesURLsOutOfTheQueueAndBringsThemBack(t *testing.T) {
	t.Parallel()
	f, c := start(t)
	var urls []string
	for i := range perTxn + 5 {
		urls = append(urls, fmt.Sprintf("http://a.example/%05d", i))
	}
	add(t, f, append(urls, "http://b.example/1", "http://b.example/dropped")...)
	if _, err := f.Drop(t.Context(), "no", "http://b.example/dropped"); err != nil {
		t.Fatal(err)
	}
	refuse := "a.example"
	counted := 0
	f.opts.Refuses = func(u *URL, count bool) string {
		if refuse == "" || !strings.Contains(u.URL, refuse) {
			return ""
		}
		if count {
			counted++
		}
		return "refused: " + refuse
	}
	isRefusal := func(why string) bool { return strings.HasPrefix(why, "refused") }
	if out, in, err := f.Rescope(t.Context(), isRefusal); err != nil || out != len(urls) || in != 0 || counted != out {
		t.Fatalf("%d out, %d in, %d counted, %v", out, in, counted, err)
	}
	add(t, f, "http://a.example/new") // is kept out when it is registered
	for _, url := range []string{urls[7], "http://a.example/new"} {
		if u, err := f.Get(url); err != nil || !u.Due.IsZero() || u.Why != "refused: a.example" {
			t.Errorf("%+v, %v", u, err)
		}
	}
	if out, in, err := f.Rescope(t.Context(), isRefusal); err != nil || out+in != 0 {
		t.Errorf("again: %d out, %d in, %v", out, in, err)
	}
	if err := inconsistency(f); err != nil {
		t.Error(err)
	}
	refuse = "b.example"
	if out, in, err := f.Rescope(t.Context(), isRefusal); err != nil || out != 1 || in != len(urls)+1 {
		t.Errorf("%d out, %d in, %v", out, in, err)
	}
	if u, err := f.Get(urls[7]); err != nil || !u.Due.Equal(c.now) {
		t.Errorf("%+v, %v", u, err)
	}
	if u, err := f.Get("http://b.example/dropped"); err != nil || u.Why != "dropped: no" {
		t.Errorf("%+v, %v", u, err)
	}
	if err := inconsistency(f); err != nil {
		t.Error(err)
	}
}
