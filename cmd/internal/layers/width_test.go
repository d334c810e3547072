package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Widths that lines of code and of comments keep to, in columns; a tab is 4.
const (
	codeWidth    = 140
	commentWidth = 120
)

func TestNoLineIsWiderThanItMayBe(t *testing.T) {
	t.Parallel()
	root := os.DirFS("../../..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && name != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		inText, err := insideText(src)
		if err != nil {
			return err
		}
		at := 0
		for line := range strings.Lines(string(src)) {
			at++
			text := strings.TrimRight(line, "\n")
			width := utf8.RuneCountInString(text) + 3*strings.Count(text, "\t")
			comment := strings.HasPrefix(strings.TrimSpace(text), "//")
			switch {
			case inText[at], strings.HasPrefix(text, "//go:"):
			case comment && width > commentWidth:
				t.Errorf("%s:%d: a comment of %d columns: at most %d (a tab is 4)", name, at, width, commentWidth)
			case !comment && width > codeWidth:
				t.Errorf("%s:%d: code of %d columns: at most %d (a tab is 4)", name, at, width, codeWidth)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// insideText returns the lines that are inside of a text between backticks, where a line break would be part of the
// text, and those with the tag of a field, which is one text.
func insideText(src []byte) (map[int]bool, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	lines := map[int]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && text.Value[0] == '`' {
			first, last := files.Position(text.Pos()).Line, files.Position(text.End()).Line
			for line := first; first < last && line <= last; line++ {
				lines[line] = true
			}
		}
		if field, ok := n.(*ast.Field); ok && field.Tag != nil {
			lines[files.Position(field.Tag.Pos()).Line] = true
		}
		return true
	})
	return lines, nil
}
