package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listed is what go list tells about a package.
type listed struct {
	Dir, ImportPath                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	starts, shares                     bool
}

// list returns the packages of patterns and all they import from the same module.
func list(ctx context.Context, patterns []string) ([]*listed, error) {
	const fields = "-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports"
	cmd := command(ctx, append([]string{"list", fields}, patterns...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return nil, errors.New("go list failed, for the reason above")
		}
		return nil, err
	}
	var all []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &listed{}
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		all = append(all, p)
	}
	for _, p := range all {
		if err := p.look(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// split parts the packages that have tests by whether the race detector can find anything in them. It can where the
// package or its tests share values between goroutines, or where the package imports one of ours that starts
// goroutines.
func split(packages []*listed) (racing, plain []string) {
	starts := map[string]bool{}
	for _, p := range packages {
		starts[p.ImportPath] = p.starts
	}
	for _, p := range packages {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		if p.shares || slices.ContainsFunc(imports, func(name string) bool { return starts[name] }) {
			racing = append(racing, p.ImportPath)
		} else {
			plain = append(plain, p.ImportPath)
		}
	}
	return racing, plain
}

// look reads the package's files. It starts goroutines where its code outside of tests has a go statement or calls a
// method Go (of a sync.WaitGroup or an errgroup.Group). It shares values where its code or its tests
//   - have a go statement or a channel,
//   - import sync, sync/atomic, golang.org/x/sync or net/http/httptest,
//   - run subtests in parallel, which share what their test made, or
//   - assign to a variable of the package.
func (p *listed) look() error {
	var files []*ast.File
	tests := slices.Concat(p.TestGoFiles, p.XTestGoFiles)
	for _, name := range slices.Concat(p.GoFiles, tests) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	vars := variables(files)
	for i, f := range files {
		l := looker{vars: vars, file: f}
		for _, spec := range f.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			l.shares = l.shares || name == "sync" || name == "sync/atomic" || name == "net/http/httptest" ||
				strings.HasPrefix(name, "golang.org/x/sync/")
		}
		ast.Walk(&l, f)
		p.shares = p.shares || l.shares || l.starts
		p.starts = p.starts || l.starts && i < len(p.GoFiles)
	}
	return nil
}

// variables are the names of the variables of the package.
func variables(files []*ast.File) map[string]bool {
	names := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, spec := range g.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						names[name.Name] = true
					}
				}
			}
		}
	}
	return names
}

// looker walks through one file.
type looker struct {
	vars           map[string]bool
	file           *ast.File
	inFunction     bool // within a function literal
	shares, starts bool
}

func (l *looker) Visit(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.GoStmt:
		l.starts = true
	case *ast.ChanType:
		l.shares = true
	case *ast.FuncLit:
		if !l.inFunction {
			inner := *l
			inner.inFunction = true
			ast.Walk(&inner, n)
			l.shares, l.starts = l.shares || inner.shares, l.starts || inner.starts
			return nil
		}
	case *ast.CallExpr:
		if s, ok := n.Fun.(*ast.SelectorExpr); ok {
			l.starts = l.starts || s.Sel.Name == "Go" && len(n.Args) == 1
			l.shares = l.shares || s.Sel.Name == "Parallel" && l.inFunction
		}
	case *ast.AssignStmt:
		l.shares = l.shares || n.Tok != token.DEFINE && slices.ContainsFunc(n.Lhs, l.isVariable)
	case *ast.IncDecStmt:
		l.shares = l.shares || l.isVariable(n.X)
	}
	return l
}

// isVariable reports whether e is a variable of the package, or part of one.
func (l *looker) isVariable(e ast.Expr) bool {
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.Ident: // the parser resolves the names of a file; what it could not is of another file
			return l.vars[x.Name] && (x.Obj == nil || l.file.Scope.Lookup(x.Name) == x.Obj)
		default:
			return false
		}
	}
}
