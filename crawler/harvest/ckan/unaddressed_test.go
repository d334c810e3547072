package ckan

import (
	"testing"

	"odarchive/crawler/harvest/loose"
)

func TestResourcesWithoutAnAddressAreCounted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		`{"name":"a","num_resources":0,"resources":[]}`:                                          0,
		`{"name":"a","num_resources":2,"resources":[]}`:                                          2,
		`{"name":"a","num_resources":2}`:                                                         2,
		`{"name":"a","num_resources":1,"resources":[{"url":""}]}`:                                1,
		`{"name":"a","num_resources":1,"resources":[{"url":null}]}`:                              1,
		`{"name":"a","num_resources":3,"resources":[{"url":null},{"url":"http://x.example/a"}]}`: 2,
		`{"name":"a","num_resources":1,"resources":[{"url":"","state":"deleted"}]}`:              0,
		`{"name":"a","num_resources":1,"resources":[{"url":"","format":"WMS"}]}`:                 0,
		`{"name":"a","resources":[{"url":"http://x.example/a"},{"url":"http://x.example/b"}]}`:   0,
	} {
		v, err := loose.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if d := dataset("https://data.example", v); d.Unaddressed != want {
			t.Errorf("%s: %d, want %d", text, d.Unaddressed, want)
		}
	}
}
