package address

import "testing"

func FuzzACleanPathIsWhatCleaningLeaves(f *testing.F) {
	for _, p := range []string{"/", "/a//b/", "/a/.b", "/a/%2e/b", "/a%2Fb", "/a%20b", "/ü", "/a b", "a", "", "/a.b/c..d/e.", "/a\x7f",
		"/{x}"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if clean := cleanSegments(p); isCleanPath(p) && clean != p {
			t.Errorf("%q is taken for clean, and cleaning makes %q of it", p, clean)
		}
	})
}
