package iri

import (
	"strings"
	"testing"
)

// The examples are all of RFC 3986 §5.4.1 and §5.4.2.
func TestReferencesResolveAsTheRFCsExamplesDo(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"g:h": "g:h", "g": "http://a/b/c/g", "./g": "http://a/b/c/g", "g/": "http://a/b/c/g/", "/g": "http://a/g",
		"//g": "http://g", "?y": "http://a/b/c/d;p?y", "g?y": "http://a/b/c/g?y", "#s": "http://a/b/c/d;p?q#s",
		"g#s": "http://a/b/c/g#s", "g?y#s": "http://a/b/c/g?y#s", ";x": "http://a/b/c/;x", "g;x": "http://a/b/c/g;x",
		"g;x?y#s": "http://a/b/c/g;x?y#s", "": "http://a/b/c/d;p?q", ".": "http://a/b/c/", "./": "http://a/b/c/",
		"..": "http://a/b/", "../": "http://a/b/", "../g": "http://a/b/g", "../..": "http://a/", "../../": "http://a/",
		"../../g": "http://a/g", "../../../g": "http://a/g", "../../../../g": "http://a/g", "/./g": "http://a/g",
		"/../g": "http://a/g", "g.": "http://a/b/c/g.", ".g": "http://a/b/c/.g", "g..": "http://a/b/c/g..",
		"..g": "http://a/b/c/..g", "./../g": "http://a/b/g", "./g/.": "http://a/b/c/g/", "g/./h": "http://a/b/c/g/h",
		"g/../h": "http://a/b/c/h", "g;x=1/./y": "http://a/b/c/g;x=1/y", "g;x=1/../y": "http://a/b/c/y",
		"g?y/./x": "http://a/b/c/g?y/./x", "g?y/../x": "http://a/b/c/g?y/../x", "g#s/./x": "http://a/b/c/g#s/./x",
		"g#s/../x": "http://a/b/c/g#s/../x", "http:g": "http:g",
	} {
		if got, err := Resolve("http://a/b/c/d;p?q", ref); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", ref, got, err, want)
		}
	}
}

func TestReferencesResolveUnderUnusualBases(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"http://example.org", "g", "http://example.org/g"},
		{"http://example.org?q", "#f", "http://example.org?q#f"},
		{"http://example.org#old", "", "http://example.org"},
		{"urn:a:b", "#c", "urn:a:b#c"},
		{"urn:a:b", "c", "urn:c"},
		{"file:///a/b", "../../c", "file:///c"},
		{"x:/a/b", "..//c", "x:/.//c"},
		{"http://a/b/", "c d:e", "http://a/b/c d:e"},
		{"http://é/ü", "ö", "http://é/ö"},
		{"http://a/b", "http://c/d/../e", "http://c/d/../e"},
	} {
		if got, err := Resolve(c[0], c[1]); err != nil || got != c[2] {
			t.Errorf("Resolve(%q, %q) = %q, %v; want %q", c[0], c[1], got, err, c[2])
		}
	}
}

func TestRelativeReferencesNeedABase(t *testing.T) {
	t.Parallel()
	if got, err := (Base{}).Resolve("a"); err == nil {
		t.Errorf("resolved to %q", got)
	}
	if _, err := NewBase("a/b"); err == nil {
		t.Error("a relative base was taken")
	}
}

func TestCheckKnowsWhatNoSyntaxAllows(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a:", "http://a/%zz[]", "urn:é", "x+1.-:b"} {
		if err := Check(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a", ":", "1a:b", "a: b", "a:<", "a:\x01", "a:`", "a:\\", "a:\xff", "//a", "a:{}"} {
		if Check(bad) == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzResolve(f *testing.F) {
	f.Add("http://a/b/c/d;p?q", "../../g")
	f.Add("urn:x", "//y")
	f.Fuzz(func(t *testing.T, base, ref string) {
		got, err := Resolve(base, ref)
		if err != nil {
			return
		}
		if !IsAbsolute(got) {
			t.Errorf("Resolve(%q, %q) = %q is not absolute", base, ref, got)
		}
		// Resolving again changes nothing, since no dot segments are left.
		again, err := Resolve(base, got)
		if err != nil || again != got {
			t.Errorf("Resolve(%q, %q) = %q, then %q, %v", base, ref, got, again, err)
		}
		_ = strings.ToLower(got)
	})
}
