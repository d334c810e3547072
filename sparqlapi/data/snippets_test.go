package data

import (
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// run runs a program in a directory and returns what it prints.
func run(t *testing.T, dir string, program string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, arguments...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "no_proxy=127.0.0.1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", program, arguments, err, out)
	}
	return string(out)
}

// has reports whether a program runs with the arguments.
func has(t *testing.T, program string, arguments ...string) bool {
	path, err := exec.LookPath(program)
	return err == nil && exec.CommandContext(t.Context(), path, arguments...).Run() == nil
}

// TestSnippetsRun runs every snippet whose tool is there. make test-tools installs them.
func TestSnippetsRun(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(handler(archiveOf(t, "towns.csv", towns)))
	t.Cleanup(server.Close)
	modules := os.Getenv("ODARCHIVE_NODE_MODULES")
	python := "python3"
	if !has(t, python, "-c", "import pandas") {
		python = "/usr/bin/python3" // another Python may come first in the path
	}
	for _, s := range Snippets(server.URL+"/v_0", "towns of Austria's",
		url.Values{"where": {`people < 1000000 and name != "Bruck and Leitha"`}}) {
		t.Run(s.Language, func(t *testing.T) {
			t.Parallel()
			dir, out := t.TempDir(), ""
			switch s.Language {
			case "Python, pandas", "Python, polars":
				library := strings.TrimPrefix(s.Language, "Python, ")
				if !has(t, python, "-c", "import "+library) {
					t.Skip(library + " is not installed")
				}
				out = run(t, dir, python, "-c", s.Code)
			case "R":
				if !has(t, "Rscript", "-e", "1") {
					t.Skip("R is not installed")
				}
				out = run(t, dir, "Rscript", "-e", s.Code+"\nprint(table)")
			case "JavaScript":
				if !has(t, "node", "--version") {
					t.Skip("node is not installed")
				}
				out = run(t, dir, "node", "--input-type=module", "-e", s.Code+"\nconsole.log(JSON.stringify(table));")
			case "DuckDB":
				if modules == "" || !has(t, "node", "--version") || !has(t, "curl", "--version") {
					t.Skip("ODARCHIVE_NODE_MODULES does not name a directory with @duckdb/node-api")
				}
				fetch, query, _ := strings.Cut(s.Code, "\n")
				run(t, dir, "sh", "-c", fetch)
				query = strings.TrimSuffix(strings.TrimPrefix(query, `duckdb -c "`), `"`)
				out = run(t, dir, "node", "-e", `const {DuckDBInstance} = require(process.argv[1]);
(async () => { const c = await (await DuckDBInstance.create(":memory:")).connect(); console.log(JSON.stringify((await c.runAndReadAll(process.argv[2])).getRowsJson())); })();`,
					filepath.Join(modules, "@duckdb/node-api"), query)
			case "curl":
				if !has(t, "curl", "--version") {
					t.Skip("curl is not installed")
				}
				run(t, dir, "sh", "-c", s.Code)
				b, err := os.ReadFile(filepath.Join(dir, "towns-of-Austria-s.csv"))
				if err != nil {
					t.Fatal(err)
				}
				out = string(b)
			default:
				t.Fatal("no test runs it")
			}
			if !strings.Contains(out, "Graz") || !strings.Contains(out, "291072") || !strings.Contains(out, "Linz") ||
				strings.Contains(out, "Wien") || strings.Contains(out, "Leitha") {
				t.Errorf("%s\nprints\n%s", s.Code, out)
			}
		})
	}
}
