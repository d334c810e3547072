package scope

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"odarchive/triplestore/kv"
)

func open(t *testing.T, dir string, o Options) (*Scope, *kv.DB) {
	t.Helper()
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s, err := Open(db, o)
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}

func rules(t *testing.T, allow bool, texts ...string) (all []*Rule) {
	t.Helper()
	for _, text := range texts {
		r, err := ParseRule(allow, text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

func TestARuleRefusesWhatAllItsConditionsHoldFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		allow, deny string // separated by |
		q           Question
		refused     string // part of the reason; "" if it is in scope
	}{
		{"", "", Question{URL: "http://a.example/"}, ""},
		{"", "host:a.example", Question{URL: "HTTP://A.example:80/x"}, "deny host:a.example"},
		{"", "a.example", Question{URL: "http://a.example:8080/x"}, ""},
		{"", "host:a.example:8080", Question{URL: "http://a.example:8080/x"}, "deny host:a.example:8080"},
		{"", "domain:example", Question{URL: "http://deep.in.a.example:8080/x"}, "deny domain:example"},
		{"", "domain:*.b.example", Question{URL: "http://bb.example/"}, ""},
		{"", "domain:bücher.example", Question{URL: "http://www.xn--bcher-kva.example/"}, "deny domain:xn--bcher-kva.example"},
		{"", "domain:0.0.1", Question{URL: "http://127.0.0.1/"}, ""},
		{"", "domain:127.0.0.1", Question{URL: "http://127.0.0.1:99/"}, "deny domain:127.0.0.1"},
		{"", `pattern:/admin/`, Question{URL: "http://a.example/%61dmin/x"}, "deny pattern:/admin/"},
		{"", `pattern:.`, Question{URL: "http://a.example/"}, "deny pattern:."},
		{"", `pattern:\.pdf$ host:a.example`, Question{URL: "http://b.example/x.pdf"}, ""},
		{"", "type:video/*,image/png", Question{URL: "http://a.example/", Type: "video/mp4"}, "deny type:image/png,video/*"},
		{"", "type:video/*", Question{URL: "http://a.example/"}, ""},
		{"", "type:video/*", Question{URL: "http://a.example/", Type: "text/csv"}, ""},
		{"", "size:>1MiB", Question{URL: "http://a.example/", Size: 1<<20 + 1}, "deny size:>1MiB"},
		{"", "size:>1MiB", Question{URL: "http://a.example/", Size: -1}, ""},
		{"", "size:<10", Question{URL: "http://a.example/", Size: 9}, "deny size:<10"},
		{"", "host:a.example for:harvest,campaign", Question{URL: "http://a.example/", Area: Crawl}, ""},
		{"", "host:a.example for:harvest,campaign", Question{URL: "http://a.example/", Area: Harvest},
			"deny host:a.example for:campaign,harvest"},
		{"domain:b.example", "", Question{URL: "http://a.example/"}, "no rule allows it"},
		{"domain:b.example", "", Question{URL: "http://x.b.example/"}, ""},
		{"domain:b.example", "host:x.b.example", Question{URL: "http://x.b.example/"}, "deny host:x.b.example"},
		{"domain:b.example for:crawl", "", Question{URL: "http://a.example/", Area: Harvest}, ""},
		{"type:text/csv", "", Question{URL: "http://a.example/", Size: -1}, ""},
		{"type:text/csv", "", Question{URL: "http://a.example/", Type: "text/html"}, "no rule allows it"},
		{"type:text/csv", "", Question{URL: "http://a.example/", Type: "text/html", Declared: true}, ""},
		{"type:text/csv|host:a.example", "", Question{URL: "http://a.example/", Type: "text/html"}, ""},
		{"", "host:a.example", Question{URL: "not a url"}, ""},
	} {
		split := func(text string) (all []string) {
			if text == "" {
				return nil
			}
			return strings.Split(text, "|")
		}
		s, err := Open(nil, Options{Allow: split(c.allow), Deny: split(c.deny)})
		if err != nil {
			t.Fatal(err)
		}
		if c.q.Area == "" {
			c.q.Area = Crawl
		}
		why := s.Refuses(c.q)
		if (why == "") != (c.refused == "") || !strings.Contains(why, c.refused) || why != "" && !IsRefusal(why) {
			t.Errorf("allow %q, deny %q, %+v: %q, want %q", c.allow, c.deny, c.q, why, c.refused)
		}
		if n := len(s.Refusals()); n != map[bool]int{true: 0, false: 1}[why == ""] {
			t.Errorf("%q: %d counted", why, n)
		}
	}
}

func TestMalformedRulesAreNamed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "   ", "for:crawl", "host:", "host:http://a/", "pattern:(", "pattern:" + strings.Repeat("a", 1001),
		"type:csv", "type:*/*", "type:text/c*",
		"size:10MiB", "size:>", "size:>-1", "for:me host:a", "what:x", "host:a.example host:b.example", "host:a.example domain:b.example",
		"domain:a/b", "domain:a.example:80",
		"pattern:(a{1000}){1000}"} {
		if r, err := ParseRule(false, text); !errors.Is(err, ErrBad) {
			t.Errorf("%.100q: %v, %v", text, r, err)
		}
	}
}

func TestRulesAreKeptAndSettingsStay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, db := open(t, dir, Options{Deny: []string{"host:fixed.example"}})
	before, changed := s.Fingerprint(), s.Changed()
	if n, err := s.Change(t.Context(), true, "asked to",
		append(rules(t, false, "host:a.example", "a.example", "domain:b.example", "host:fixed.example", `pattern:/zz/`),
			rules(t, true, "type:text/*")...)...); err != nil || n != 4 {
		t.Fatalf("%d, %v", n, err)
	}
	<-changed
	if s.Fingerprint() == before {
		t.Error("the fingerprint is that of other rules")
	}
	if n, err := s.Change(t.Context(), false, "",
		rules(t, false, "domain:b.example", "host:unknown.example", "host:fixed.example")...); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	s.Refuses(Question{Area: Crawl, URL: "http://user:secret@a.example/1"})
	if err := s.Save(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ = open(t, dir, Options{Deny: []string{"host:fixed.example"}})
	all, next, err := s.List("", 2)
	if err != nil || len(all) != 3 || next == "" || !all[0].Settings || all[1].Action != "allow" || all[2].Rule != "host:a.example" ||
		all[2].Why != "asked to" {
		t.Errorf("%+v %q, %v", all, next, err)
	}
	if all, next, err = s.List(next, 2); err != nil || len(all) != 1 || next != "" || all[0].Rule != "pattern:/zz/" {
		t.Errorf("%+v %q, %v", all, next, err)
	}
	for url, refused := range map[string]bool{"http://a.example/": true, "http://b.example/": false, "http://fixed.example/": true} {
		if why := s.Test(Question{Area: Crawl, URL: url, Size: -1}); (why != "") != refused {
			t.Errorf("%s: %q", url, why)
		}
	}
	if r := s.Refusals(); len(r) != 1 || r[0].Count != 1 || r[0].URLs[0] != "http://a.example/1" {
		t.Errorf("%+v", r)
	}
}

func TestRulesAndRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	s, _ := open(t, t.TempDir(), Options{})
	var many []*Rule
	for i := range maxPatterns + 1 {
		many = append(many, rules(t, false, fmt.Sprintf("pattern:/x%d/", i))...)
	}
	if n, err := s.Change(t.Context(), true, "", many...); !errors.Is(err, ErrTooMany) || n != 0 {
		t.Errorf("%d, %v", n, err)
	}
	many = nil
	for i := range 3 * perTxn {
		many = append(many, rules(t, false, fmt.Sprintf("host:h%d.example", i))...)
	}
	if n, err := s.Change(t.Context(), true, "", many...); err != nil || n != len(many) {
		t.Errorf("%d, %v", n, err)
	}
	for i := range 2 * maxRefusals {
		for range 2 {
			s.Refuses(Question{Area: Crawl, URL: fmt.Sprintf("http://h%d.example/%s", i, strings.Repeat("x", 1000))})
		}
	}
	all := s.Refusals()
	if len(all) != maxRefusals+1 || all[0].Rule != otherRules || all[0].Count != 2*maxRefusals || len(all[0].URLs) != maxURLs ||
		len(all[0].URLs[0]) > maxURL {
		t.Errorf("%d refusals, first %+v", len(all), all[0])
	}
	var of refusals
	of.load([]byte("damaged"))
	of.add("deny x", "http://x/", s.now())
	if len(of.list()) != 1 {
		t.Error("damaged counts must begin again")
	}
}

func FuzzParseRule(f *testing.F) {
	for _, text := range []string{"host:a.example", "domain:*.example type:text/*", `pattern:^https?://a/ size:>10MiB for:crawl`,
		"[::1]:80", "size:<1", "a.example"} {
		f.Add(text, true, "http://a.example/x")
	}
	f.Fuzz(func(t *testing.T, text string, allow bool, url string) {
		r, err := ParseRule(allow, text)
		if err != nil {
			return
		}
		again, err := ParseRule(allow, r.Text)
		if err != nil || again.Text != r.Text {
			t.Fatalf("%q is stored as %q, which is %v, %v", text, r.Text, again, err)
		}
		set := newSet(allow)
		if err := set.add(r, false); err != nil {
			t.Fatal(err)
		}
		if q, err := newQuestion(Question{Area: Crawl, URL: url, Size: -1}); err == nil {
			_, found := set.find(q)
			if holds := r.holds(q); holds != found && !(holds == no && found == no) {
				t.Fatalf("%q of %q: looked up %v, tried %v", r.Text, url, found, holds)
			}
		}
		if set.remove(r); set.size() != 0 || set.patterns != 0 {
			t.Fatalf("%q stays", r.Text)
		}
	})
}

func BenchmarkRefuses(b *testing.B) {
	s, err := Open(nil, Options{})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 1_000_000 {
		r, _ := ParseRule(false, fmt.Sprintf("host:h%d.example", i))
		if err := s.deny.add(r, false); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Test(Question{Area: Crawl, URL: "http://some.deep.host.example.org/data/file.csv?x=1", Size: -1})
	}
}
