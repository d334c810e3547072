package ui_test

import (
	"net/http/httptest"
	"testing"
)

// BenchmarkPages renders whole pages of the small world, to measure what a page costs besides reading the archive.
func BenchmarkPages(b *testing.B) {
	w := newWorld()
	h := site(w)
	for name, address := range map[string]string{"home": "/", "search": "/search?q=series",
		"resource": "/dataset?url=http://data.city.example/trees.csv",
		"version":  "/version?id=" + w.versions["http://data.city.example/trees.csv"][3].ID, "statistics": "/statistics",
		"crawls": "/crawls"} {
		b.Run(name, func(b *testing.B) {
			r := httptest.NewRequest("GET", address, nil)
			for b.Loop() {
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, r)
				if rec.Code != 200 {
					b.Fatal(rec.Code)
				}
				b.SetBytes(int64(rec.Body.Len()))
			}
		})
	}
}
