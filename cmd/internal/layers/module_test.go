package layers

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// importer is a program of somebody else that uses the public packages.
const importer = `package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"example.org/somebody/archive/triplestore"
	"example.org/somebody/archive/triplestore/kv"
	"example.org/somebody/archive/triplestore/rdfio"
	"example.org/somebody/archive/triplestore/sparql"
)

func main() {
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, dir string) (err error) {
	db, err := kv.Open(dir, kv.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	store, err := triplestore.Open(db, triplestore.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	turtle := "<http://x.example/a> <http://x.example/n> 40, 2 ."
	if _, err := store.Load(ctx, rdfio.NewReader(strings.NewReader(turtle), rdfio.Turtle(), rdfio.Options{})); err != nil {
		return err
	}
	sn := store.Snapshot()
	defer sn.Release()
	results, err := sparql.New(sparql.Options{}).Query(ctx, sn, "SELECT (SUM(?n) AS ?sum) { ?s <http://x.example/n> ?n }", sparql.QueryOptions{})
	if err != nil {
		return err
	}
	defer results.Close()
	for {
		row, err := results.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Println(row[0])
	}
}
`

// copyTree copies the files of a checkout, except what is built or fetched.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if rel == "bin" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && rel != "." {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), raw, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWhoeverPublishesTheModuleRenamesItWithOneCommand(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the whole program under another path")
	}
	const path = "example.org/somebody/archive"
	copied, theirs := t.TempDir(), t.TempDir()
	copyTree(t, "../../..", copied)
	run := func(dir, name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		// The flags are those of cmd/deploy/release, to share the build cache.
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath", "MAKEFLAGS=")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run(copied, "make", "module", "MODULE="+path, "TRY=version") // every import is found; what is imported is built below
	if list := run(copied, "go", "list", "./..."); strings.Contains("\n"+list, "\nodarchive/") ||
		!strings.Contains(list, path+"/cmd/odarchive\n") {
		t.Errorf("the packages are\n%s", list)
	}
	sums, err := os.ReadFile(filepath.Join(copied, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(copied, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	requires := strings.Replace(string(mod), "module "+path, "module theirs.example/program", 1) + "\nrequire " + path +
		" v0.0.0\nreplace " + path + " => " + copied + "\n"
	for name, text := range map[string]string{"main.go": importer, "go.mod": requires, "go.sum": string(sums)} {
		if err := os.WriteFile(filepath.Join(theirs, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out := run(theirs, "go", "run", "-mod=mod", ".", t.TempDir()); !strings.Contains(out, "42") {
		t.Errorf("their program prints %q", out)
	}
}
