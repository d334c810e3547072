package ui

import "testing"

func TestAddressesOfAPageGetThePathOfTheBase(t *testing.T) {
	t.Parallel()
	for page, want := range map[string]string{
		`<a href="/search">x</a><a class="/y" href="/">`:   `<a href="/a&amp;b/search">x</a><a class="/y" href="/a&amp;b/">`,
		`<a href="//evil.example/">`:                       `<a href="//evil.example/">`,
		`<a href="https://a.example/"><b data-key="/">`:    `<a href="https://a.example/"><b data-key="/">`,
		`<form action="/x"><button formaction="/y">`:       `<form action="/a&amp;b/x"><button formaction="/a&amp;b/y">`,
		`<p>href=&#34;/x</p><script src="/assets/a.js">="`: `<p>href=&#34;/x</p><script src="/a&amp;b/assets/a.js">="`,
		`="/`: `="/`,
		"":    "",
	} {
		if got := string(placed([]byte(page), "/a&b")); got != want {
			t.Errorf("%s\n got %s\nwant %s", page, got, want)
		}
		if got := string(placed([]byte(page), "")); got != page {
			t.Errorf("%s without a path: %s", page, got)
		}
	}
}
