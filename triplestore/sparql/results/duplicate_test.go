package results_test

import (
	"strings"
	"testing"

	"odarchive/triplestore/sparql/results"
)

// Another server's answer that names a variable twice is an error, not a panic when its rows are read.
func TestAVariableIsInTheHeadOnce(t *testing.T) {
	t.Parallel()
	for f, text := range map[results.Format]string{
		results.JSON: `{"head":{"vars":["s","p","s"]},"results":{"bindings":[{"s":{"type":"literal","value":"a"}}]}}`,
		results.XML: `<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="s"/><variable name="s"/></head>` +
			`<results><result><binding name="s"><literal>a</literal></binding></result></results></sparql>`,
		results.TSV: "?s\t?p\t?s\n\"a\"\t\"b\"\t\"c\"\n",
		results.CSV: "s,p,s\na,b,c\n",
	} {
		if _, err := results.NewReader(strings.NewReader(text), f, results.Limits{}); err == nil ||
			!strings.Contains(err.Error(), "twice") {
			t.Errorf("%s: %v", f, err)
		}
	}
	late := `{"results":{"bindings":[{"s":{"type":"literal","value":"a"}}]},"head":{"vars":["p","s","s"]}}`
	if _, err := results.NewReader(strings.NewReader(late), results.JSON, results.Limits{}); err == nil {
		t.Error("a late head names a variable twice without an error")
	}
}
