package rdfio_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odarchive/testdata/shared"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/sparql/conformance"
)

// TestJenasExamples reads the files with which Apache Jena tests its TriX and RDF/JSON readers. Those with "bad" in
// their name must fail. The others must be read, with the statements of the N-Quads file of the same name, if there is
// one.
func TestJenasExamples(t *testing.T) {
	t.Parallel()
	root := shared.Data(t, "rdfweb", "jena", "jena-arq", "testing", "RIOT", "Lang")
	for _, pattern := range []string{"TriX/*.trix", "RDF-JSON/*.rj"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			s, _ := rdfio.ByExtension(file)
			got, err := readFile(t, file, s, rdfio.Options{Base: "http://base/", RDF12: true})
			// trix-bad-10 is bad only by its name.
			if bad := strings.Contains(file, "bad") && !strings.Contains(file, "bad-10"); bad != (err != nil) {
				t.Errorf("%s: %v", filepath.Base(file), err)
			}
			beside := strings.TrimSuffix(file, filepath.Ext(file)) + ".nq"
			if _, missing := os.Stat(beside); missing != nil {
				continue
			}
			want, err := readFile(t, beside, rdfio.NQuads(), rdfio.Options{RDF12: true})
			if err != nil || !conformance.Isomorphic(got, want) {
				t.Errorf("%s: got\n%swant\n%s%v", filepath.Base(file), nquads(t, got), nquads(t, want), err)
			}
		}
	}
}
