package access_test

import (
	"strings"
	"testing"
	"time"

	"odarchive/sparqlapi/operate/access"
)

func TestRightsIncludeReadingAndAdminAll(t *testing.T) {
	t.Parallel()
	for _, r := range []access.Right{access.Add, access.Crawl, access.Update} {
		if !r.Has(access.Read) || !r.Has(r) || r.Has(access.Admin) || r.Has(r|access.Admin) {
			t.Errorf("%s has the wrong rights", r)
		}
	}
	if !access.Admin.Has(access.All) || access.Right(0).Has(access.Read) || access.Read.Has(access.Add) {
		t.Error("admin must have all rights, none must have none, and read no other")
	}
	for _, name := range access.All.Names() {
		if r, err := access.ParseRight(name); err != nil || r.String() != name {
			t.Errorf("%s: %s, %v", name, r, err)
		}
	}
	if _, err := access.ParseRight("Admin"); err == nil || !strings.Contains(err.Error(), "update") {
		t.Errorf("a right that does not exist: %v", err)
	}
}

func TestAHashStandsForOneToken(t *testing.T) {
	t.Parallel()
	secret, digest := access.New()
	other, _ := access.New()
	if len(secret) < 30 || secret == other {
		t.Errorf("tokens %q and %q", secret, other)
	}
	text := access.FormatHash(digest)
	if parsed, err := access.ParseHash(text); err != nil || parsed != digest || strings.Contains(text, secret) {
		t.Errorf("%s: %v, %v", text, parsed, err)
	}
	for _, bad := range []string{"", "sha256:", text + "0", text[:len(text)-1], strings.TrimPrefix(text, "sha256:"), "md5:" + text[7:],
		"sha256:" + strings.Repeat("g", 64)} {
		if _, err := access.ParseHash(bad); err == nil {
			t.Errorf("%q is taken for a hash", bad)
		}
	}
	tokens := access.NewTokens([]access.Token{{Name: "a", Rights: access.Add, Digest: digest}})
	now := time.Unix(1e9, 0)
	if one, err := tokens.Find(secret, now); err != nil || one.Name != "a" {
		t.Errorf("%v, %v", one, err)
	}
	for _, wrong := range []string{"", other, text, secret + " ", strings.Repeat("x", 1<<20)} {
		if one, err := tokens.Find(wrong, now); err == nil {
			t.Errorf("%.40q is %v", wrong, one)
		}
	}
	if l := tokens.List(now); len(l) != 1 || l[0].Used == nil || l[0].State != "" {
		t.Errorf("%+v", l)
	}
}

func TestNamesOfTokensArePlainWords(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{"portal-1": true, "a.b_c": true, "": false, "local": false, "a b": false, "a\nb": false,
		"é": false, strings.Repeat("a", 65): false} {
		if err := access.CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}
