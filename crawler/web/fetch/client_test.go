package fetch_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"odarchive/crawler/web/fetch"
)

func TestTheClientReachesWhatMayBeFetchedAndNothingElse(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	for _, c := range []struct {
		about string
		o     fetch.Options
		ok    bool
	}{
		{"a private address", fetch.Options{}, false},
		{"an allowed network", fetch.Options{AllowNets: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, true},
	} {
		f := fetch.New(c.o)
		resp, err := f.Client().Get(srv.URL)
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "not public") {
			t.Errorf("%s: got %v", c.about, err)
		}
		f.Close()
	}
}
