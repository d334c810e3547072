package sparql_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/triplestore/sparql/conformance"
	"odarchive/triplestore/sparql/internal/syntax"
	"odarchive/triplestore/sparql/results"
)

// ourAnswer says why the answer to a test of Oxigraph differs from theirs.
var ourAnswer = map[string]string{
	"order_terms":                          "literals of different datatypes have no order in SPARQL (§15.1)",
	"xsd_string_cast":                      "literals keep the form in which they were written; the casts are the same",
	"wkt_default_spatial_reference_system": "EPSG:4326 is known here, so the comparison has a value",
}

// TestOxigraphsOwnTests runs the tests of Oxigraph in the directory that ODARCHIVE_OXIGRAPH names
// (testsuite/oxigraph-tests of its sources), except those of its optimiser.
func TestOxigraphsOwnTests(t *testing.T) {
	t.Parallel()
	root := os.Getenv("ODARCHIVE_OXIGRAPH")
	if root == "" {
		t.Skip("ODARCHIVE_OXIGRAPH names no directory of Oxigraph's tests")
	}
	for _, manifest := range []string{"sparql/manifest.ttl", "sparql/lateral/manifest.ttl", "sparql-results/manifest.ttl",
		"geosparql/manifest.ttl"} {
		tests, err := conformance.Load(filepath.Join(root, manifest))
		if err != nil {
			t.Errorf("%s: %v", manifest, err)
			continue
		}
		passed, failed := 0, 0
		for _, x := range tests {
			diff := ""
			name := x.String()[strings.LastIndexByte(x.String(), '(')+1:]
			if reason, ours := ourAnswer[strings.TrimSuffix(name, ")")]; ours {
				t.Logf("%s: %s", x.String(), reason)
				failed++
				continue
			}
			if strings.Contains(x.Kind, "ResultsSyntax") {
				diff = runResults(&x)
			} else if strings.Contains(x.Kind, "Syntax") {
				diff = runSyntax(&x)
			} else {
				diff = run(&x)
			}
			if diff == "" {
				passed++
				continue
			}
			failed++
			text, _ := x.Text()
			t.Errorf("%s (%s): %s\n%s", x.String(), x.Kind, diff, text)
		}
		t.Logf("%s: %d passed, %d did not", manifest, passed, failed)
	}
}

// runResults returns what is wrong with how a file of results is read, "" if nothing is.
func runResults(x *conformance.Test) string {
	f, ok := results.ByName(strings.TrimPrefix(filepath.Ext(x.Request), "."))
	if !ok {
		return "unknown format"
	}
	text, err := x.Text()
	if err != nil {
		return err.Error()
	}
	got, err := conformance.DecodeResult(strings.NewReader(text), f)
	switch bad := strings.HasPrefix(x.Kind, "Negative"); {
	case bad && err == nil:
		return "it is read without an error"
	case bad:
		return ""
	case err != nil:
		return err.Error()
	}
	if x.Result == "" {
		return ""
	}
	want, err := x.Wanted()
	if err != nil {
		return err.Error()
	}
	return conformance.Same(got, want, false)
}

// runSyntax returns what is wrong with how a test of the grammar is read, "" if nothing is.
func runSyntax(x *conformance.Test) string {
	text, err := x.Text()
	if err != nil {
		return err.Error()
	}
	if strings.Contains(x.Kind, "Update") {
		_, err = syntax.ParseUpdate(text, x.Request, syntax.Options{})
	} else if _, err = syntax.ParseQuery(text, x.Request, syntax.Options{}); err == nil {
		_, err = translate(text)
	}
	switch bad := strings.HasPrefix(x.Kind, "Negative"); {
	case bad && err == nil:
		return "it is read without an error"
	case !bad && err != nil:
		return err.Error()
	}
	return ""
}
