package syntax_test

import (
	"path/filepath"
	"strings"
	"testing"

	"odarchive/testdata/shared"
	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/sparql/internal/syntax"
)

// TestTheW3CSyntaxTests runs the positive and negative syntax tests of SPARQL 1.0, 1.1 and 1.2, and parses and prints
// the requests of all other tests. There are no exceptions.
func TestTheW3CSyntaxTests(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "w3c", "sparql")
	for _, manifest := range []string{"sparql10/manifest.ttl", "sparql11/manifest-all.ttl", "sparql12/manifest.ttl"} {
		t.Run(filepath.Dir(manifest), func(t *testing.T) {
			t.Parallel()
			tests, err := conformance.Load(filepath.Join(root, manifest))
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range tests {
				if x.Request == "" || strings.HasPrefix(x.Kind, "Protocol") || strings.HasPrefix(x.Kind, "ServiceD") ||
					strings.HasPrefix(x.Kind, "GraphStore") {
					continue
				}
				text, err := x.Text()
				if err != nil {
					t.Error(err)
					continue
				}
				printed, err := print(string(text), x.Request, strings.Contains(x.Kind, "Update"))
				if negative := strings.HasPrefix(x.Kind, "Negative"); negative != (err != nil) {
					t.Errorf("%s %s (%s): error %v\n%s", x.Suite, x.Name, x.Kind, err, text)
				}
				if err != nil {
					continue
				}
				again, err := print(printed, "", strings.Contains(x.Kind, "Update"))
				if err != nil || again != printed {
					t.Errorf("%s %s does not read back: %v\n%s\n%s", x.Suite, x.Name, err, printed, again)
				}
			}
		})
	}
}

func print(text, base string, update bool) (string, error) {
	if update {
		u, err := syntax.ParseUpdate(text, base, syntax.Options{})
		if err != nil {
			return "", err
		}
		return u.String(), nil
	}
	q, err := syntax.ParseQuery(text, base, syntax.Options{})
	if err != nil {
		return "", err
	}
	return q.String(), nil
}
