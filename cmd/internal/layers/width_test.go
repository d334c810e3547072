package layers

import (
	"flag"
	"fmt"
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

// How many lines are still wider. These numbers only fall: whoever shortens lines lowers them.
const (
	wideCode     = 41
	wideComments = 0
)

var listWide = flag.Bool("list-wide", false, "list the lines that are wider than they may be")

func TestNoMoreLinesAreWiderThanTheyMayBe(t *testing.T) {
	t.Parallel()
	code, comments := 0, 0
	var wide []string
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
				comments++
				wide = append(wide, fmt.Sprintf("%s:%d: a comment of %d columns", name, at, width))
			case !comment && width > codeWidth:
				code++
				wide = append(wide, fmt.Sprintf("%s:%d: code of %d columns", name, at, width))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if *listWide {
		t.Logf("\n%s", strings.Join(wide, "\n"))
	}
	if code > wideCode || comments > wideComments {
		t.Errorf("%d lines of code are wider than %d columns, and %d comments wider than %d: at most %d and %d may be (a tab is 4). "+
			"Wrap those you wrote: go test ./cmd/internal/layers -run Wider -list-wide lists all.",
			code, codeWidth, comments, commentWidth, wideCode, wideComments)
	}
}

// insideText returns the lines that are inside of a text between backticks, where a line break would be part of the
// text.
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
		return true
	})
	return lines, nil
}
