package manual

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// program returns a program with everything that makes pages difficult.
func program() *cobra.Command {
	root := &cobra.Command{Use: "archive", Short: "Keep things",
		Long: "It keeps 'things' in C:\\dir\n.and begins a line with a dot.\n\nA table follows:\n\n  host:NAME   the host\n              " +
			"and its port\n  'quoted'    \"text\"\n\nAnd a script:\n  archive -x\n  .dots are no requests\n"}
	root.PersistentFlags().String("data", "archive-data", "directory of `DIR`")
	nothing := func(*cobra.Command, []string) {}
	serve := &cobra.Command{Use: "serve | serve --list FILE", Short: "Serve -- and more", Run: nothing,
		Example: "  archive serve \\\n    --verbose"}
	serve.Flags().Duration("wait", 2160e12*3.6, "how long")
	serve.Flags().Int("slots", 8, "at a time")
	serve.Flags().StringArray("net", nil, "network")
	serve.Flags().Bool("strict", false, "be strict")
	serve.Flags().String("secret", "", "internal")
	if err := serve.Flags().MarkHidden("secret"); err != nil {
		panic(err)
	}
	below := &cobra.Command{Use: "below", Short: "Has others"}
	below.AddCommand(&cobra.Command{Use: "two FILE...", Short: "Two", Run: nothing}, &cobra.Command{Use: "one", Short: "One", Run: nothing})
	root.AddCommand(serve, below, &cobra.Command{Use: "hidden", Hidden: true, Run: nothing})
	return root
}

func TestEachCommandHasAPage(t *testing.T) {
	t.Parallel()
	m := Manual{Root: program(), Version: "v1.2.3", Date: "2026-11-23"}
	texts := map[string]string{}
	var names []string
	for _, page := range m.Pages() {
		names, texts[page.Name] = append(names, page.Name), page.Text
	}
	if want := []string{"archive.1", "archive-below.1", "archive-below-one.1", "archive-below-two.1", "archive-serve.1",
		"odarchive.toml.5"}; !slices.Equal(names, want) {
		t.Fatalf("pages %q, want %q", names, want)
	}
	for page, parts := range map[string][]string{
		"archive.1": {".TH ARCHIVE 1 2026\\-11\\-23 \"archive v1.2.3\" ODArchive\n", "archive \\- Keep things\n", "C:\\edir",
			".TP\n\\fBhost:NAME\\fR\nthe host and its port\n", "\n\\&.dots are",
			".TP\n\\fB\\-\\-data=\\fR\\fIDIR\\fR\ndirectory of DIR (default archive\\-data)\n"},
		"archive-serve.1": {".B \"archive serve [OPTION]...\"\n.br\n.B \"archive serve \\-\\-list FILE [OPTION]...\"\n",
			"\\fB\\-\\-strict\\fR\nbe strict\n", "\\fB\\-\\-net=\\fR\\fITEXT\\fR\n", "(default 2160h)", "archive serve \\e\n"},
		"archive-below.1":     {".B \"archive below COMMAND [OPTION]...\"", "archive\\-below\\-two(1)"},
		"archive-below-one.1": {"archive\\-below(1), archive\\-below\\-two(1)\n"},
		"odarchive.toml.5":    {"\\fBslots = \\fR\\fI8\\fR"},
	} {
		for _, part := range parts {
			if !strings.Contains(texts[page], part) {
				t.Errorf("%s has no %q:\n%s", page, part, texts[page])
			}
		}
	}
	if strings.Contains(texts["archive-serve.1"], "internal") {
		t.Error("a hidden flag is shown")
	}
	again := m.Pages()
	if !slices.Equal(again, m.Pages()) {
		t.Error("the pages differ each time")
	}
}

// roff reads pages, and reports what is not sound.
func TestRoffFindsNoFaultInThePages(t *testing.T) {
	t.Parallel()
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not installed")
	}
	dir := t.TempDir()
	if err := (Manual{Root: program()}).Write(dir); err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man*", "*"))
	if err != nil || len(pages) != 6 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		var faults bytes.Buffer
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-Tascii", "-ww", page)
		cmd.Stderr = &faults
		text, err := cmd.Output()
		if err != nil || faults.Len() > 0 {
			t.Errorf("%s: %v\n%s", page, err, faults.String())
		}
		if filepath.Base(page) == "archive.1" && !strings.Contains(string(text), ".dots are no requests") {
			t.Errorf("a line is missing:\n%s", text)
		}
	}
}

func TestTheSettingsFileNamesTheDirectory(t *testing.T) {
	t.Parallel()
	m := Manual{Root: program()}
	for dir, want := range map[string]string{"": "\n#data = \"archive-data\"\n",
		`/var/lib/a "b"\c`: "\ndata = \"/var/lib/a \\\"b\\\"\\\\c\"\n"} {
		text := m.Settings(dir)
		for _, part := range []string{want, "\n# how long\n#wait = \"2160h\"\n", "\n#slots = 8\n", "\n#net = []\n", "\n#strict = false\n",
			"#[[host]]\n"} {
			if !strings.Contains(text, part) {
				t.Errorf("no %q in\n%s", part, text)
			}
		}
	}
}

func TestAnErrorOfWritingIsReturned(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (Manual{Root: program()}).Write(file); err == nil {
		t.Error("pages were written below a file")
	}
}
