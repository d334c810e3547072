package surt

import "testing"

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
	} {
		got, stripped := WithoutSecret(raw)
		if got != want || stripped != (raw != want) {
			t.Errorf("%s: %s, %v; want %s", raw, got, stripped, want)
		}
	}
}
