package protocol_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"odarchive/sparqlapi/protocol"
)

// TestLibrariesReadTheirAnswers lets client libraries ask the endpoint, if they are installed.
func TestLibrariesReadTheirAnswers(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3" // for which distributions install libraries
	if _, err := os.Stat(python); err != nil {
		t.Skip("there is no Python: ", err)
	}
	for library, module := range map[string]string{"sparqlwrapper": "SPARQLWrapper", "rdflib": "rdflib.plugins.stores.sparqlstore"} {
		t.Run(library, func(t *testing.T) {
			t.Parallel()
			if err := exec.CommandContext(t.Context(), python, "-c", "import rdflib, "+module).Run(); err != nil {
				t.Skip(module, " is not installed")
			}
			srv := serve(t, numbers(7), protocol.Options{Authorise: tokenOnly})
			out, err := exec.CommandContext(t.Context(), python, "-W", "ignore", "testdata/clients/live.py", srv.URL+"/sparql",
				library).CombinedOutput()
			lines := strings.Fields(strings.NewReplacer("rows 7", "ok", "triples 7", "ok").Replace(string(out)))
			if err != nil || strings.Join(lines, "") != strings.Repeat("ok", 12) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
