package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestTheTokenMayBeInAFile(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{"geheim\n": "geheim", " a b \r\n": "a b", "": "", "\n": "", "a\nb\n": "",
		strings.Repeat("x", 5000): ""} {
		name := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		c := Defaults()
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		c.TokenFlags(f, "the token")
		err := f.Parse([]string{"--token-file", name})
		if (err != nil) != (want == "") || c.Serve.Token != want {
			t.Errorf("%.20q: %q, %v", content, c.Serve.Token, err)
		}
	}
}
