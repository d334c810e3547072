package answer_test

import (
	"math"
	"net/http/httptest"
	"testing"

	"odarchive/sparqlapi/answer"
)

func TestJSONIsSentOnceAndHasATag(t *testing.T) {
	t.Parallel()
	send := func(method, noneMatch string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "/", nil)
		r.Header.Set("If-None-Match", noneMatch)
		w := httptest.NewRecorder()
		if err := answer.JSON(w, r, map[string]string{"a": "<b>"}); err != nil {
			t.Fatal(err)
		}
		return w
	}
	first := send("GET", "")
	tag := first.Header().Get("ETag")
	if first.Code != 200 || first.Body.String() != "{\"a\":\"<b>\"}\n" || first.Header().Get("Content-Length") != "12" || tag == "" {
		t.Errorf("%d %q %v", first.Code, first.Body, first.Header())
	}
	for _, c := range []struct {
		method, noneMatch string
		status, bytes     int
	}{
		{"GET", tag, 304, 0}, {"GET", `"x", W/` + tag, 304, 0}, {"HEAD", "*", 304, 0}, {"GET", `"x"`, 200, 12}, {"HEAD", "", 200, 0},
		{"POST", "*", 200, 12},
	} {
		if w := send(c.method, c.noneMatch); w.Code != c.status || w.Body.Len() != c.bytes {
			t.Errorf("%s with %q: %d, %d bytes", c.method, c.noneMatch, w.Code, w.Body.Len())
		}
	}
	w := httptest.NewRecorder()
	if err := answer.JSON(w, httptest.NewRequest("GET", "/", nil), math.NaN()); err == nil || w.Body.Len() > 0 {
		t.Errorf("NaN: %v, %q", err, w.Body)
	}
}
