package layers

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// imported returns the packages of the module that each package imports, in order, without what tests import.
func imported(t *testing.T, files map[string]*ast.File) map[string][]string {
	t.Helper()
	module := modulePath(t)
	all := map[string][]string{}
	for name, f := range files {
		pkg := path.Dir(name)
		list := all[pkg]
		for _, imp := range f.Imports {
			if dep, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module); ours && !slices.Contains(list, dep) {
				list = append(list, dep)
			}
		}
		slices.Sort(list)
		all[pkg] = list
	}
	return all
}

// wallFaults returns a sentence for each package of the kit that reaches the house.
func wallFaults(imports map[string][]string) (faults []string) {
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		if !inKit(pkg) {
			continue
		}
		if steps := way(imports, pkg, func(p string) bool { return slices.Contains(state, p) }); steps != nil {
			faults = append(faults,
				strings.Join(steps, " → ")+": "+pkg+
					" belongs to the kit, which turns bytes into values and must be usable without an archive;"+
					" take what it needs from there as an argument, or keep this part in the house")
		}
	}
	return faults
}

func TestTheKitReachesNoState(t *testing.T) {
	t.Parallel()
	imports := imported(t, sources(t))
	for _, fault := range wallFaults(imports) {
		t.Error(fault)
	}
	for _, p := range slices.Concat(kit, inHouse, state, support) {
		if tree := strings.TrimSuffix(p, "/..."); !slices.ContainsFunc(slices.Collect(maps.Keys(imports)),
			func(pkg string) bool { return pkg == tree || tree != p && strings.HasPrefix(pkg, tree+"/") }) {
			t.Errorf("wall.go names %s, which does not exist", p)
		}
	}
}

func TestTheWallFallsWhereAReaderImportsTheDatabase(t *testing.T) {
	t.Parallel()
	imports := imported(t, sources(t))
	imports["crawler/inspect/tables/geo"] = append(imports["crawler/inspect/tables/geo"], "triplestore/kv")
	faults := wallFaults(imports)
	if i := slices.IndexFunc(faults, func(f string) bool {
		return strings.HasPrefix(f, "crawler/inspect/tables → crawler/inspect/tables/geo → triplestore/kv: ")
	}); i < 0 {
		t.Errorf("%q", faults)
	}
}

func TestEveryPackageIsReachedByAProgram(t *testing.T) {
	t.Parallel()
	files := sources(t)
	imports := imported(t, files)
	reached := map[string]bool{}
	var visit func(pkg string)
	visit = func(pkg string) {
		if !reached[pkg] {
			reached[pkg] = true
			for _, next := range imports[pkg] {
				visit(next)
			}
		}
	}
	for name, f := range files {
		if f.Name.Name == "main" {
			visit(path.Dir(name))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(imports)) {
		switch {
		case reached[pkg] && within(support, pkg) && !within([]string{"testdata/..."}, pkg):
			t.Errorf("%s is reached by a program, although wall.go says that only tests use it", pkg)
		case !reached[pkg] && !within(support, pkg) && !isTested(pkg):
			t.Errorf("no program reaches %s: delete it, or name it in wall.go if tests need it", pkg)
		}
	}
}

// isTested reports whether a package consists of its tests: what they test is no Go code of programs.
func isTested(pkg string) bool { return pkg == "cmd/internal/layers" || pkg == "cmd/deploy/chart" }
