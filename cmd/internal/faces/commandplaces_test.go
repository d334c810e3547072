package faces

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"odarchive/sparqlapi/operate/access"
	"odarchive/sparqlapi/problem"
)

func TestNoClientTakesThePlacesOfOthers(t *testing.T) {
	t.Parallel()
	p := newCommandPlaces()
	enter := func(client string, who access.Caller) (leave func(), longest int, err error) {
		r := httptest.NewRequest("POST", "/commands/get", nil)
		return p.enter(r.WithContext(access.WithClient(access.With(r.Context(), who), client)))
	}
	fill := func(client string, who access.Caller) (n int) {
		for ; n < 1000; n++ {
			if _, _, err := enter(client, who); err != nil {
				refused, _ := err.(*problem.Error)
				if refused == nil || refused.Status != http.StatusServiceUnavailable || refused.RetryAfter == 0 {
					t.Errorf("%s: %v", client, err)
				}
				return n
			}
		}
		return n
	}
	holder := func(name string) access.Caller { return access.Caller{Name: name, Rights: access.Read} }
	if n := fill("192.0.2.1/32", access.Caller{}); n == 0 || n >= 8 {
		t.Errorf("one client has %d places", n)
	}
	leave, longest, err := enter("192.0.2.2/32", access.Caller{})
	if err != nil || longest > 64<<10 {
		t.Errorf("another client: %v, %d bytes", err, longest)
	} else {
		leave()
	}
	for _, client := range []string{"b", "c", "d", "e", "f", "g"} {
		fill(client, access.Caller{})
	}
	if n := fill("token a", holder("a")); n == 0 || n > 8 {
		t.Errorf("one holder of a token has %d places beside anybody's", n)
	}
	for _, name := range []string{"b", "c", "d", "e"} {
		fill("token "+name, holder(name))
	}
	if n := fill("token local", access.Local()); n < 16 {
		t.Errorf("the archive's own user has %d places when all others are taken", n)
	}
}
