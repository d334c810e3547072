package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/sparqlapi/openapi"
)

// clientModule pins the program that writes clients.
const clientModule = "../../sparqlapi/openapi/client"

// aGeneratedClientWorks compiles a client that a public program makes from the OpenAPI document, and uses it.
func (s served) aGeneratedClientWorks(t *testing.T) {
	if out, err := goIn(t, clientModule, "mod", "download"); err != nil {
		t.Skipf(
			"the modules that write a client are neither here nor reachable ('go -C sparqlapi/openapi/client mod download' fetches "+
				"them): %v\n%s", err, out)
	}
	dir := t.TempDir()
	generator, api := filepath.Join(dir, "oapi-codegen"), filepath.Join(dir, "api", "api.go")
	if out, err := goIn(t, clientModule, "build", "-buildvcs=false", "-o", generator,
		"github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	document, err := olderOpenAPI(openapi.Document())
	if err == nil {
		err = os.MkdirAll(filepath.Dir(api), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "openapi.json"), document, 0o600)
	}
	for name, from := range map[string]string{"go.mod": "go.mod", "go.sum": "go.sum", "main.go": "testdata/use.go.txt"} {
		var text []byte
		if err == nil {
			text, err = os.ReadFile(filepath.Join(clientModule, from))
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), generator, "-generate", "types,client", "-package", "api", "-o", api,
		filepath.Join(dir, "openapi.json")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := goIn(t, dir, "build", "-buildvcs=false", "-o", "use", "."); err != nil {
		t.Fatalf("the client does not compile: %v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "use"), s.base,
		s.web.Base("city")+"environment/trees.csv").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// goIn runs the go command in a module of its own. The flags are those of cmd/deploy/release, to share the build cache.
func goIn(t *testing.T, dir string, args ...string) ([]byte, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -trimpath")
	return cmd.CombinedOutput()
}

// olderOpenAPI returns an OpenAPI 3.1 document as 3.0.3, for programs that read no more: "null" among the types of a
// value becomes nullable, and a value of one of several types becomes any value. A parameter that is called url in a
// path gets another name in Go, where url is a package.
func olderOpenAPI(document []byte) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(document, &doc); err != nil {
		return nil, fmt.Errorf("OpenAPI document: %w", err)
	}
	doc["openapi"] = "3.0.3"
	older(doc)
	return json.Marshal(doc)
}

func older(value any) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			older(v)
		}
	case map[string]any:
		if types, ok := value["type"].([]any); ok {
			n := len(types)
			if types = slices.DeleteFunc(types, func(v any) bool { return v == "null" }); len(types) < n {
				value["nullable"] = true
			}
			delete(value, "type")
			if len(types) == 1 {
				value["type"] = types[0]
			}
		}
		if only, ok := value["const"].(string); ok {
			delete(value, "const")
			value["enum"] = []string{only}
		}
		if value["in"] == "path" && value["name"] == "url" {
			value["x-go-name"] = "Address"
		}
		for _, v := range value {
			older(v)
		}
	}
}

func TestAnOlderOpenAPIDocumentSaysTheSame(t *testing.T) {
	t.Parallel()
	got, err := olderOpenAPI([]byte(
		`{"openapi":"3.1.0","a":[{"type":["string","null"]},{"type":["string","integer"]},{"type":["number","boolean","null"]},{"const":"` +
			`2.0"},{"in":"path","name":"url"},{"in":"query","name":"url"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"a":[{"nullable":true,"type":"string"},{},{"nullable":true},{"enum":["2.0"]},{"in":"path","name":"url","x-go-name":"Addr` +
		`ess"},{"in":"query","name":"url"}],"openapi":"3.0.3"}`; string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if _, err := olderOpenAPI([]byte("{")); err == nil || !strings.Contains(err.Error(), "OpenAPI document") {
		t.Errorf("a broken document: %v", err)
	}
}
