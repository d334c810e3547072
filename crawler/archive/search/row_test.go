package search

import (
	"slices"
	"testing"
	"time"
)

func FuzzRow(f *testing.F) {
	f.Add(row{ID: "0123456789abcdef01234567", Changed: time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC), Versions: 3, Size: 9,
		Type: "text/csv", Host: "h", Title: "t", Portals: []string{"p"}}.encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if r, ok := decodeRow(raw); ok && r.Size >= 0 && r.Versions >= 0 {
			if again, ok := decodeRow(r.encode()); !ok || again.ID != r.ID || !slices.Equal(again.Portals, r.Portals) {
				t.Fatalf("%+v became %+v", r, again)
			}
		}
	})
}
