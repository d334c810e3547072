package diary

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

func TestFinalURLsThatDifferInSignaturesAreAlike(t *testing.T) {
	t.Parallel()
	const (
		jwt1 = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3MDAwMDAwMDB9.Zk3v9x0bT1mQeR7uLw2nYcA8sDpHgJiKfXoVzBtNM4"
		jwt2 = "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjE3MDAwMDM2MDB9.qP8sW1eRt5yUiO0aSdF6gHjK2lZxCvBnM3QwErTyUi"
	)
	for _, c := range []struct {
		a, b  string
		alike bool
	}{
		{"", "", true},
		{"http://x.example/f.csv", "http://x.example/f.csv?signature=1", true},
		{"http://x.example/t/5f2b8c1e9d7a4036/f.csv", "http://x.example/t/0a9c3d7e1b5f8426/f.csv", true},
		{"http://x.example/123e4567-e89b-12d3-a456-426614174000", "http://x.example/9b2d0c4a-7f31-4e8e-8d5a-0c6b1f2e3d4c?x", true},
		{"http://x.example/dl/" + jwt1 + "/f.csv", "http://x.example/dl/" + jwt2 + "/f.csv", true},
		{"http://x.example/", "", false},
		{"http://x.example/f.csv", "http://y.example/f.csv", false},
		{"http://x.example/f.csv", "http://x.example/g.csv", false},
		{"http://x.example/t/5f2b8c1e9d7a4036/f.csv", "http://x.example/t/0a9c3d7e1b5f8426/g.csv", false},
		{"http://x.example/t/5f2b8c1e9d7a4036", "http://x.example/t/0a9c3d7e1b5f8426/f.csv", false},
		{"http://x.example/2023-12-31-budget-of-all/f.csv", "http://x.example/2024-01-01-budget-of-all/f.csv", false},
		{"http://x.example/export-20231231T235959/f.csv", "http://x.example/export-20240101T000000/f.csv", false},
		{"http://x.example/d/population_2024_q1.csv", "http://x.example/d/unemployment_23_h2.csv", false},
		{"http://x.example/d/DE_NUTS3_2021_v10.zip", "http://x.example/d/AT_LAU2_1999_xx1.zip", false},
		{"http://x.example/d/DE_NUTS3_2021_v10_a", "http://x.example/d/AT_LAU02_1999_xx1_b", false},
		{"http://x.example/pub/bev_2024_kreise/f", "http://x.example/pub/arb_1998_landes/f", false},
		{"http://x.example/maintenance-page-503", "http://x.example/airquality-pm10-2024", false},
		{"http://x.example/login-required-401-page", "http://x.example/open-data-file-12-csv-gz", false},
		{"http://x.example/s/" + strings.Repeat("0", 32) + "/f", "http://x.example/s/" + strings.Repeat("1", 32) + "/f", false},
		{"http://x.example/budget-of-municipalities/f.csv", "http://x.example/prices-of-the-apartments/f.csv", false},
		{"http://5f2b8c1e9d7a4036.x.example/f.csv", "http://0a9c3d7e1b5f8426.x.example/f.csv", false},
		{"5f2b8c1e9d7a4036", "0a9c3d7e1b5f8426", false},
	} {
		if alikeURLs(c.a, c.b) != c.alike || alikeURLs(c.b, c.a) != c.alike {
			t.Errorf("%q, %q: %v, want %v", c.a, c.b, !c.alike, c.alike)
		}
	}
}

func TestHashesAndBase64AreTokens(t *testing.T) {
	t.Parallel()
	told := 0
	const all = 500
	for i := range all {
		one, other := sha256.Sum256(fmt.Append(nil, "a", i)), sha256.Sum256(fmt.Append(nil, "b", i))
		prefixed := func(b []byte) string { return "s" + hex.EncodeToString(b) }
		for _, encode := range []func([]byte) string{hex.EncodeToString, base64.RawURLEncoding.EncodeToString, prefixed} {
			if !areTokens(encode(one[:12]), encode(other[:12])) {
				told++
			}
		}
	}
	if told > 3*all/20 {
		t.Errorf("%d of %d pairs of tokens are taken for names", told, 3*all)
	}
}
