package address

import (
	"errors"
	"strings"
	"testing"
)

func canonical(raw string) (string, error) {
	u, err := Parse(raw)
	if err != nil {
		return "", err
	}
	return u.Canonical().String(), nil
}

func TestCanonicalForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"http://Example.COM:80/a/../b/./c", "http://example.com/b/c"},
		{"https://example.com:443", "https://example.com/"},
		{"https://example.com:8443/", "https://example.com:8443/"},
		{"http://example.com/%7euser/%2Fx%2f?b=2&a=1#frag", "http://example.com/~user/%2Fx%2F?a=1&b=2"},
		{"  http://example.com/a b\tc\n ", "http://example.com/a%20bc"},
		{"http://bücher.example/ä", "http://xn--bcher-kva.example/%C3%A4"},
		{"http://example.com/x;jsessionid=ABC/y?PHPSESSID=1&q=2", "http://example.com/x/y?q=2"},
		{"http://example.com/?", "http://example.com/"},
		{"http://example.com/?b&a&&c=", "http://example.com/?a&b&c="},
		{"http://example.com/?x=2&x=1", "http://example.com/?x=2&x=1"},
		{`http:\\example.com\a\b`, "http://example.com/a/b"},
		{"http:/example.com/a", "http://example.com/a"},
		{"http://0x7f.1/", "http://127.0.0.1/"},
		{"http://2130706433/", "http://127.0.0.1/"},
		{"http://[::FFFF:1.2.3.4]/", "http://[::ffff:1.2.3.4]/"},
		{"http://user:secret@example.com/a", "http://example.com/a"},
		{"ftp://user@example.com:21/a", "ftp://user@example.com/a"},
		{"http://example.com/a%zz", "http://example.com/a%25zz"},
		{"http://example.com/%2e%2e/a/%2E", "http://example.com/a/"},
		{"http://example.com./a", "http://example.com/a"},
		{"http://ex_ample.com/a", "http://ex_ample.com/a"},
		{"HTTP://example.com//a//b", "http://example.com//a//b"},
	} {
		got, err := canonical(c.in)
		if err != nil || got != c.want {
			t.Errorf("Canonical(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
		if again, err := canonical(got); err != nil || again != got {
			t.Errorf("Canonical is not stable: %q -> %q, %v", got, again, err)
		}
	}
}

func TestBadURLsAreNamedInTheError(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "example.com/a", "file:///etc/passwd", "javascript:alert(1)", "mailto:a@b", "http://", "http:///", "http://a b/",
		"http://example.com:99999/", "http://example.com:0/", "http://[::1", "http://[::1%25eth0]/", "http://1.2.3.4.5/",
		"http://256.1.1.1/",
		"http://exa%mple.com/", "http://a..b/", "http://" + strings.Repeat("a", 64) + ".com/", "http://x/" + strings.Repeat("a", MaxURL),
	} {
		got, err := canonical(in)
		if !errors.Is(err, ErrBad) {
			t.Errorf("Canonical(%q) = %q, %v; want ErrBad", in, got, err)
			continue
		}
		if shown := min(len(in), 20); !strings.Contains(err.Error(), in[:shown]) {
			t.Errorf("the error for %q does not name it: %v", in, err)
		}
	}
}

func TestKeysOfAHostAndItsSubdomainsSortTogether(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, key, cdx, host string }{
		{"https://www.data.example.org/A/b?x=Y", "https://(org,example,data,www,)/A/b?x=Y", "org,example,data)/a/b?x=y",
			"www.data.example.org"},
		{"http://example.org:8080/", "http://(org,example,:8080)/", "org,example:8080)/", "example.org:8080"},
		{"http://127.0.0.1:4000/x/", "http://(127.0.0.1:4000)/x/", "127.0.0.1:4000)/x", "127.0.0.1:4000"},
		{"http://[::1]/", "http://([::1])/", "[::1])/", "[::1]"},
	} {
		key, err := Key(c.in)
		if err != nil || key != c.key {
			t.Errorf("Key(%q) = %q, %v; want %q", c.in, key, err, c.key)
		}
		if cdx, err := CDX(c.in); err != nil || cdx != c.cdx {
			t.Errorf("CDX(%q) = %q, %v; want %q", c.in, cdx, err, c.cdx)
		}
		if host, err := Host(c.in); err != nil || host != c.host {
			t.Errorf("Host(%q) = %q, %v; want %q", c.in, host, err, c.host)
		}
	}
}

func TestTheWireSpellingIsTheSources(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, wire, target string }{
		{"http://example.com/%7Ea?b=2&a=1", "http://example.com/%7Ea?b=2&a=1", "/%7Ea?b=2&a=1"},
		{"http://example.com/a%zz", "http://example.com/a%zz", "/a%zz"},
		{"http://example.com//a%2fb", "http://example.com//a%2fb", "//a%2fb"},
		{"http://example.com/ü x", "http://example.com/%C3%BC%20x", "/%C3%BC%20x"},
		{"http://example.com/a[1]|b", "http://example.com/a[1]|b", "/a[1]|b"},
	} {
		u, err := Parse(c.in)
		if err != nil || u.String() != c.wire {
			t.Errorf("Parse(%q) = %q, %v; want %q", c.in, u, err, c.wire)
			continue
		}
		if got := u.Standard().RequestURI(); got != c.target {
			t.Errorf("%q is asked for as %q, want %q", c.in, got, c.target)
		}
	}
}

func TestReferencesResolveAsInABrowser(t *testing.T) {
	t.Parallel()
	base, err := Parse("https://example.com/a/b?q=1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ ref, want string }{
		{"c", "https://example.com/a/c"},
		{"../c", "https://example.com/c"},
		{"/c?x", "https://example.com/c?x"},
		{"?x", "https://example.com/a/b?x"},
		{"", "https://example.com/a/b?q=1"},
		{"#f", "https://example.com/a/b?q=1"},
		{"//other.org/x", "https://other.org/x"},
		{"http://other.org", "http://other.org/"},
		{"https:c", "https://example.com/a/c"},
		{`\\other.org\x`, "https://other.org/x"},
		{"/a:b", "https://example.com/a:b"},
	} {
		got, err := base.Resolve(c.ref)
		if err != nil || got.String() != c.want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", c.ref, got, err, c.want)
		}
	}
	if _, err := base.Resolve("file:///etc/passwd"); !errors.Is(err, ErrBad) {
		t.Errorf("a redirect to a file: %v, want ErrBad", err)
	}
}

func FuzzCanonicalIsStable(f *testing.F) {
	for _, s := range []string{"http://example.com/a?b=1", "http://[::1]:80/%zz", `https:\\x\y`, "ftp://u:p@h/%2e",
		"http://ü.example/;jsessionid=1", "http://0x/", "http://a/%", "http://x?%26=1&b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		c, err := canonical(in)
		if err != nil {
			return
		}
		again, err := canonical(c)
		if err != nil || again != c {
			t.Fatalf("%q -> %q -> %q, %v", in, c, again, err)
		}
		if strings.ContainsAny(c, " \r\n\x00#") {
			t.Fatalf("%q -> %q holds a character that breaks a request line", in, c)
		}
		k1, _ := Key(in)
		if k2, _ := Key(c); k1 != k2 {
			t.Fatalf("keys of %q and %q differ: %q, %q", in, c, k1, k2)
		}
		if u, err := Parse(in); err == nil && strings.ContainsAny(u.Standard().RequestURI(), " \r\n") {
			t.Fatalf("%q breaks the request line", in)
		}
	})
}

func TestAHostIsFoundAsPeopleSpellIt(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Data.Example": "data.example", "data.example:80": "data.example", "data.example:8080": "data.example:8080",
		"Bücher.example": "xn--bcher-kva.example", "[::FFFF:1]": "[::ffff:1]", "A host": "a host", "A/b": "a/b",
		"u@a.example": "u@a.example", "": "",
	} {
		if got := HostGroup(name); got != want {
			t.Errorf("HostGroup(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestFileNamesAreDecoded(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://a.example/b/c%20d.csv?x": "c d.csv", "http://a.example/100%.csv": "100%.csv", "http://a.example/%C3%A4/": "ä",
		"http://[::1]:81/":           "::1",
		"http://a.example/b%2Fc.csv": "c.csv", "http://a.example//": "a.example",
	} {
		u, err := Parse(raw)
		if err != nil || u.FileName() != want {
			t.Errorf("%s: %q, %v; want %q", raw, u.FileName(), err, want)
		}
	}
}

func TestPlainNamesAreThoseThatMappingLeavesAsTheyAre(t *testing.T) {
	t.Parallel()
	names := []string{"data.example", "a", "a.b.", "ex_ample.com", "-a-.b", "127.0.0.1", "a..b", ".a", "1.2.3", "a--b.c", "ab--cd.e",
		strings.Repeat("a", 64) + ".com"}
	letters := "ab09-_.n"
	for n := range 20_000 { // all short ones
		name := ""
		for ; n > 0; n /= len(letters) {
			name += letters[n%len(letters) : n%len(letters)+1]
		}
		names = append(names, name)
	}
	for _, name := range names {
		mapped, err := lookup.ToASCII(name)
		if isPlainName(name) && (err != nil || mapped != name) {
			t.Errorf("%q is plain, and mapped to %q, %v", name, mapped, err)
		}
	}
	for _, name := range []string{"Data.example", "bücher.example", "xn--bcher-kva.example", "a.xn--a", "a b"} {
		if isPlainName(name) {
			t.Errorf("%q is plain", name)
		}
	}
}
