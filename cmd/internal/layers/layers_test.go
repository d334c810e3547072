package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sources are the non-test Go files of the module, parsed. They are read through os, so that the test cache sees
// changes.
func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	root := os.DirFS("../../..")
	files := map[string]*ast.File{}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && name != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments)
		files[name] = f
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// modulePath returns the path of the module, with a final slash.
func modulePath(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	return strings.TrimPrefix(line, "module ") + "/"
}

func TestImportsPointDown(t *testing.T) {
	t.Parallel()
	module := modulePath(t)
	for name, f := range sources(t) {
		pkg := path.Dir(name)
		from := floor(pkg)
		if from < 0 {
			t.Errorf("%s has no floor yet: give it one in layers.go", pkg)
		}
		for _, imp := range f.Imports {
			dep, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module)
			if ours && floor(dep) > from {
				t.Errorf("%s (floor %d) imports %s (floor %d): imports point down", name, from, dep, floor(dep))
			}
		}
	}
}

func TestEachLibraryWithASurpriseHasOneDoor(t *testing.T) {
	t.Parallel()
	for name, f := range sources(t) {
		for _, imp := range f.Imports {
			for library, door := range doors {
				if strings.HasPrefix(strings.Trim(imp.Path.Value, `"`), library) && path.Dir(name) != door {
					t.Errorf("%s imports %s: only %s may", name, library, door)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	t.Parallel()
	says := map[string]bool{}
	for name, f := range sources(t) {
		says[path.Dir(name)] = says[path.Dir(name)] || f.Doc != nil && regexp.MustCompile(`^(Package|Command) `).MatchString(f.Doc.Text())
	}
	for pkg, ok := range says {
		if !ok {
			t.Errorf("package %s has no package comment", pkg)
		}
	}
}

func TestNoPackageHasAnInitFunction(t *testing.T) {
	t.Parallel()
	for name, f := range sources(t) {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s has an init function: wire by hand in cmd/internal/app", name)
			}
		}
	}
}

// maxArchitecture bounds ARCHITECTURE.md, in lines: it is read whole, and what a package is says its comment.
const maxArchitecture = 150

func TestArchitectureIsShortAndNamesEveryRoomThatExists(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > maxArchitecture {
		t.Errorf("ARCHITECTURE.md has %d lines, at most %d are allowed", n, maxArchitecture)
	}
	named := regexp.MustCompile("`((?:cmd|triplestore|crawler|vocab|sparqlapi|ui|ns|testdata)(?:/[a-z0-9]+)*)`").FindAllStringSubmatch(
		string(text), -1)
	all := []string{"vocab", "ns"} // in the drawing
	for _, m := range named {
		all = append(all, m[1])
		if info, err := os.Stat("../../../" + m[1]); err != nil || !info.IsDir() {
			t.Errorf("ARCHITECTURE.md names %s, which does not exist", m[1])
		}
	}
	for name := range sources(t) {
		if room := roomOf(path.Dir(name)); !slices.Contains(all, room) {
			t.Errorf("ARCHITECTURE.md does not name %s", room)
			all = append(all, room)
		}
	}
}

// maxChanges bounds what CHANGELOG.md says of one release, in lines.
const maxChanges = 60

func TestTheChangelogSaysLittleOfEachRelease(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, release := range strings.Split(string(text), "\n## ")[1:] {
		if n := strings.Count(release, "\n"); n > maxChanges {
			name, _, _ := strings.Cut(release, "\n")
			t.Errorf("CHANGELOG.md has %d lines of %s, at most %d are allowed", n, name, maxChanges)
		}
	}
}

// roomOf returns the room of a package: the folder below crawler, sparqlapi or cmd, otherwise the tree.
func roomOf(pkg string) string {
	parts := strings.Split(pkg, "/")
	if len(parts) > 1 && slices.Contains([]string{"crawler", "sparqlapi", "cmd"}, parts[0]) {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}
