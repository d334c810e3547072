package address

import (
	"strings"
	"testing"
)

func TestSecretsAreTakenOutOfURLs(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"http://user:password@data.example/a?b=@c": "http://data.example/a?b=@c",
		"https://token@data.example:8443/a":        "https://data.example:8443/a",
		"ftp://user:password@data.example/a":       "ftp://user@data.example/a",
		"ftp://user@data.example/a":                "ftp://user@data.example/a",
		"http://data.example/a@b":                  "http://data.example/a@b",
		"http://Data.example/%7Ea":                 "http://Data.example/%7Ea", // spelled as it was
		"user@data.example":                        "user@data.example",
		"mailto:somebody@data.example":             "mailto:somebody@data.example",
		"http://al:secret@[::zz]/a":                "http://[::zz]/a", // not a URL, and no secret is shown
		"http://al:sec/ret@host name/":             "http://host name/",
		" HTTP://al:secret@host:port/":             " HTTP://host:port/",
	} {
		got, stripped := WithoutSecret(raw)
		if got != want || stripped != (raw != want) {
			t.Errorf("%s: %s, %v; want %s", raw, got, stripped, want)
		}
	}
}

func TestErrorsTellNoSecrets(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"http://al:secret@[::zz]/%00", "https://al:secret@/", "http://al:sec/ret@x y/",
		"http://al:secret@" + strings.Repeat("x", 300)} {
		if _, err := Parse(raw); err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "ret@") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func TestSentencesAreRedacted(t *testing.T) {
	t.Parallel()
	const told = `sitemap: "http://al:s3cr3t@a.example/x" answered 404; see https://kim@b.example or mail to x@c.example`
	if got, want := Redact(told), `sitemap: "http://a.example/x" answered 404; see https://b.example or mail to x@c.example`; got != want {
		t.Errorf("got %s", got)
	}
}
