package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Every example of a help text is a command line that the program takes: its commands, flags and number of arguments.
func TestEveryExampleOfHelpIsACommandLine(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("admin.token", []byte("secret\n"), 0o600); err != nil { // flags that name a file read it
		t.Fatal(err)
	}
	n := 0
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, args := range exampleLines(cmd.Example) {
			n++
			root := testCLI().root()
			named, rest, err := root.Find(args[1:])
			if err == nil && named == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
				t.Errorf("%q: there is no command %q", args, rest[0])
				continue
			}
			if err == nil {
				err = named.ParseFlags(rest)
			}
			if err == nil {
				err = named.ValidateArgs(named.Flags().Args())
			}
			if err != nil {
				t.Errorf("an example of %s: %q: %v", cmd.CommandPath(), args, err)
			}
		}
		for _, sub := range commandsOf(cmd) {
			visit(sub)
		}
	}
	visit(testCLI().root())
	if n < 100 {
		t.Errorf("only %d examples were found", n)
	}
}

// said is what follows an example, to explain it.
var said = regexp.MustCompile(`[^\s]\s{3,}[^\s'"-].*$`)

// exampleLines returns the command lines of an example that begin with the name of the program, as a shell would split
// them. Pipes, redirections and what is said behind an example end one.
func exampleLines(example string) [][]string {
	var list [][]string
	var words []string
	var word strings.Builder
	started, quote := false, rune(0)
	finishWord := func() {
		if started {
			words = append(words, word.String())
		}
		word.Reset()
		started = false
	}
	finish := func() {
		finishWord()
		if len(words) > 0 && words[0] == "odarchive" {
			list = append(list, words)
		}
		words = nil
	}
	inRest := false
	for line := range strings.Lines(example) {
		inRest = false
		if quote == 0 {
			if at := said.FindStringIndex(strings.TrimSpace(line)); at != nil {
				line = strings.TrimSpace(line)[:at[0]+1] + "\n"
			}
		}
		line, goesOn := strings.CutSuffix(line, "\\\n")
		for _, r := range line {
			switch {
			case quote != 0 && r == quote:
				quote = 0
			case quote != 0:
				word.WriteRune(r)
			case inRest:
			case r == '\'' || r == '"':
				quote, started = r, true
			case r == '|' || r == ';' || r == '&':
				finish()
			case r == '>' || r == '<' || r == '#' && !started:
				finish()
				inRest = true
			case r == ' ' || r == '\t' || r == '\n':
				finishWord()
			default:
				started = true
				word.WriteRune(r)
			}
		}
		switch {
		case quote == 0 && goesOn:
			finishWord()
		case quote == 0:
			finish()
		}
	}
	finish()
	return list
}
