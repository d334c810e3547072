package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTheRaceDetectorWatchesWhereGoroutinesMeet(t *testing.T) {
	t.Parallel()
	const none = "package p\n"
	for name, c := range map[string]struct {
		code, test     string
		starts, shares bool
	}{
		"a function of values":         {"package p\nfunc f(a int) int { b := a; b++; return b }", none, false, false},
		"a variable that is only read": {"package p\nvar table = []int{1}\nfunc f() int { return table[0] }", none, false, false},
		"a local of the name of one": {"package p\nvar table []int\nfunc f() { table := 1; table = 2; _ = table }", none, false,
			false},
		"a variable that is written":       {"package p\nvar table map[int]int\nfunc f() { table[1] = 2 }", none, false, true},
		"one that is counted up":           {"package p\nvar n struct{ of int }\nfunc f() { n.of++ }", none, false, true},
		"one that a test writes":           {"package p\nvar limit = 1\n", "package p\nfunc f() { limit = 2 }", false, true},
		"a goroutine":                      {"package p\nfunc f() { go f() }", none, true, true},
		"a goroutine in a function of one": {"package p\nfunc f() { func() { func() { go f() }() }() }", none, true, true},
		"a goroutine of a group":           {"package p\nfunc f(g interface{ Go(func()) }) { g.Go(f) }", none, true, true},
		"a goroutine of a test":            {none, "package p\nfunc f() { go f() }", false, true},
		"a channel":                        {"package p\nfunc f(c <-chan int) { <-c }", none, false, true},
		"a lock":                           {"package p\nimport \"sync\"\nvar mu sync.Mutex", none, false, true},
		"an atomic number":                 {"package p\nimport \"sync/atomic\"\ntype a struct{ n atomic.Int32 }", none, false, true},
		"a server of a test":               {none, "package p\nimport \"net/http/httptest\"\nvar s httptest.Server", false, true},
		"a parallel test": {none, "package p\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Parallel() }", false,
			false},
		"parallel subtests": {none,
			"package p\nimport \"testing\"\nfunc TestA(t *testing.T) { t.Run(\"\", func(t *testing.T) { t.Parallel() }) }",
			false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := listed{Dir: t.TempDir(), GoFiles: []string{"p.go"}, TestGoFiles: []string{"p_test.go"}}
			for name, text := range map[string]string{"p.go": c.code, "p_test.go": c.test} {
				if err := os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := p.look(); err != nil || p.starts != c.starts || p.shares != c.shares {
				t.Errorf("%v: starts %t, want %t; shares %t, want %t", err, p.starts, c.starts, p.shares, c.shares)
			}
		})
	}
}

func TestWhoImportsAPackageThatStartsGoroutinesIsWatchedToo(t *testing.T) {
	t.Parallel()
	tests := []string{"a_test.go"}
	racing, plain := split([]*listed{
		{ImportPath: "starts", TestGoFiles: tests, starts: true, shares: true},
		{ImportPath: "imports", XTestGoFiles: tests, Imports: []string{"fmt", "starts"}},
		{ImportPath: "imports in a test", XTestGoFiles: tests, XTestImports: []string{"starts"}},
		{ImportPath: "imports what imports", TestGoFiles: tests, Imports: []string{"imports"}},
		{ImportPath: "shares", TestGoFiles: tests, shares: true},
		{ImportPath: "imports what shares", TestGoFiles: tests, TestImports: []string{"shares"}},
		{ImportPath: "has no tests", starts: true, shares: true},
	})
	if want := []string{"starts", "imports", "imports in a test", "shares"}; !slices.Equal(racing, want) {
		t.Errorf("watched are %q, want %q", racing, want)
	}
	if want := []string{"imports what imports", "imports what shares"}; !slices.Equal(plain, want) {
		t.Errorf("not watched are %q, want %q", plain, want)
	}
}

// The rule is read off the code. What holds the state of the archive must not slip through it.
func TestTheStoreAndTheServersAreWatched(t *testing.T) {
	t.Parallel()
	packages, err := list(t.Context(), []string{"../../../..."})
	if err != nil {
		t.Fatal(err)
	}
	racing, _ := split(packages)
	module := module(t)
	for _, name := range []string{
		"cmd/odarchive", "cmd/internal/app", "crawler", "crawler/archive/content", "crawler/archive/records", "crawler/copies/vault",
		"crawler/queue/frontier",
		"crawler/web/politeness", "sparqlapi", "triplestore", "triplestore/kv", "triplestore/sparql", "triplestore/sparql/internal/exec",
	} {
		if !slices.Contains(racing, module+"/"+name) {
			t.Errorf("%s is tested without the race detector", name)
		}
	}
}
