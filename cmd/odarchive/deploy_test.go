package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odarchive/ui/docs"

	"go.yaml.in/yaml/v3"
)

const deploy = "../deploy"

var awaited []string

// line is a command line of a file below cmd/deploy.
type line struct {
	file string
	args []string
}

// containerLines returns the arguments of all containers in a file of Kubernetes, and of all services in one of compose
// that run our image.
func containerLines(t *testing.T, file string) (lines []line) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var find func(any)
	find = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			image, _ := v["image"].(string)
			for _, key := range []string{"args", "command"} {
				if list, ok := v[key].([]any); ok && strings.Contains(image, "odarchive:") {
					args := make([]string, len(list))
					for i := range list {
						args[i], _ = list[i].(string)
					}
					lines = append(lines, line{file, args})
				}
			}
			for _, inner := range v {
				find(inner)
			}
		case []any:
			for _, inner := range v {
				find(inner)
			}
		}
	}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var document any
		if err := d.Decode(&document); errors.Is(err, io.EOF) {
			return lines
		} else if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		find(document)
	}
}

// deployed returns every command line of the chart, of compose and of the units of systemd.
func deployed(t *testing.T) (lines []line) {
	t.Helper()
	golden, err := filepath.Glob(deploy + "/chart/golden/*.yaml")
	if err != nil || len(golden) != 3 {
		t.Fatalf("%q, %v", golden, err)
	}
	for _, file := range append(golden, deploy+"/compose/compose.yaml") {
		lines = append(lines, containerLines(t, file)...)
	}
	units, err := filepath.Glob(deploy + "/systemd/*.service")
	if err != nil || len(units) != 3 {
		t.Fatalf("%q, %v", units, err)
	}
	for _, file := range units {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^ExecStart=/usr/bin/odarchive (.*)$`).FindAllStringSubmatch(string(text), -1) {
			lines = append(lines, line{file, strings.Fields(m[1])})
		}
	}
	return lines
}

// Whoever renames a flag, or changes what it takes, meets what is deployed with it.
func TestEveryCommandLineOfDeployIsUnderstood(t *testing.T) {
	t.Parallel()
	lines := deployed(t)
	if len(lines) < 11 { // three sets of the chart: 1, 1 and 3; three services; three units
		t.Fatalf("%d command lines", len(lines))
	}
	for _, l := range lines {
		root := newCLI(l.args, nil, io.Discard, io.Discard).root()
		cmd, rest, err := root.Find(l.args)
		if err != nil || cmd == root {
			t.Errorf("%s: %q: %v", l.file, l.args, err)
			continue
		}
		for i := 0; i < len(rest); i++ {
			name, value, given := strings.Cut(strings.TrimPrefix(rest[i], "--"), "=")
			f := cmd.Flags().Lookup(name)
			if f == nil {
				f = cmd.InheritedFlags().Lookup(name)
			}
			if f == nil && slices.Contains(awaited, name) {
				continue
			}
			if f == nil {
				t.Errorf("%s: %s has no --%s", l.file, cmd.Name(), name)
				continue
			}
			if !given && f.NoOptDefVal != "" {
				value = f.NoOptDefVal
			} else if !given && i+1 < len(rest) {
				i++
				value = rest[i]
			}
			if name == "config" || strings.HasSuffix(name, "-file") {
				continue // there is no such file here
			}
			if err := f.Value.Set(value); err != nil {
				t.Errorf("%s: --%s=%s: %v", l.file, name, value, err)
			}
		}
	}
}

// The settings that the chart writes, and those on the page about several machines, are settings.
func TestEverySettingOfDeployIsKnown(t *testing.T) {
	t.Parallel()
	var texts []string
	for _, name := range []string{"cluster", "default", "minimal"} {
		text, err := os.ReadFile(filepath.Join(deploy, "chart", "golden", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		_, settings, ok := strings.Cut(string(text), "  odarchive.toml: |\n")
		if !ok {
			t.Fatalf("%s has no settings", name)
		}
		settings, _, _ = strings.Cut(settings, "\n---")
		texts = append(texts, settings)
	}
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range library.Page("howto/cluster").Code() {
		if b.Language == "toml" {
			texts = append(texts, b.Text)
		}
	}
	root := newCLI(nil, nil, io.Discard, io.Discard).root()
	known := settings(root)
	for _, text := range texts {
		for _, m := range regexp.MustCompile(`(?m)^ *([a-z][a-z-]*) = `).FindAllStringSubmatch(text, -1) {
			if !slices.Contains(known, m[1]) && !slices.Contains(awaited, m[1]) {
				t.Errorf("%s is no setting", m[1])
			}
		}
	}
}
