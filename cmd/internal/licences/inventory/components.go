package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// component is a module or package of somebody else.
type component struct {
	ecosystem string // "golang" or "npm", as in package URLs
	name      string
	version   string // with the "v" of Go modules
	sum       string // of a Go module: base64 of its SHA-256 tree hash, as in go.sum
	dir       string // where its files are; empty for an npm package that is not installed
	licence   string // SPDX identifiers, joined by AND
	text      string // of all licence and notice files
}

// goModules returns the modules that are linked into cmd/odarchive, in the order of their names, and the Go standard
// library.
func goModules(root string) ([]component, error) {
	cmd := exec.Command("go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Sum}}\t{{.Dir}}{{end}}{{end}}", "./cmd/odarchive")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	var list []component
	for _, line := range slices.Compact(lines) {
		if f := strings.Split(line, "\t"); len(f) == 4 {
			list = append(list, component{ecosystem: "golang", name: f[0], version: f[1], sum: strings.TrimPrefix(f[2], "h1:"), dir: f[3]})
		}
	}
	cmd = exec.Command("go", "env", "GOROOT", "GOVERSION")
	cmd.Dir = root
	if out, err = cmd.Output(); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	env := strings.Fields(string(out))
	if len(env) != 2 {
		return nil, fmt.Errorf("go env: expected GOROOT and GOVERSION, got %q", out)
	}
	return append(list, component{ecosystem: "golang", name: "std", version: strings.TrimPrefix(env[1], "go"), dir: env[0]}), nil
}

// npmPackages returns the packages of ui/package-lock.json that are bundled into the pages: all but those for
// development.
func npmPackages(root string) ([]component, error) {
	raw, err := os.ReadFile(filepath.Join(root, "ui", "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			Dev     bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(raw, &lock); err != nil {
		return nil, fmt.Errorf("ui/package-lock.json: %w", err)
	}
	var list []component
	for path, p := range lock.Packages {
		if path == "" || p.Dev {
			continue
		}
		name := path[strings.LastIndex(path, "node_modules/")+len("node_modules/"):]
		list = append(list, component{ecosystem: "npm", name: name, version: p.Version,
			dir: filepath.Join(root, "ui", filepath.FromSlash(path))})
	}
	slices.SortFunc(list, func(a, b component) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// readLicence reads the licence and notice files of a component.
func (c *component) readLicence() error {
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != c.dir && (c.name == "std" || skippedDir(d.Name())) {
				return filepath.SkipDir
			}
			return nil
		}
		if !isLicenceFile(d.Name()) {
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		c.addText(path, string(raw))
		return nil
	})
	if err != nil {
		return fmt.Errorf("licence of %s: %w", c.name, err)
	}
	if raw, err := os.ReadFile(filepath.Join(c.dir, "README.md")); c.text == "" && err == nil { // some name their licence only there
		c.addText("README.md", string(raw))
	}
	if c.text == "" {
		return fmt.Errorf("licence of %s %s: no licence file in %s", c.name, c.version, c.dir)
	}
	if c.licence == "" {
		return fmt.Errorf("licence of %s: unknown text %.200q", c.name, c.text)
	}
	return nil
}

// skippedDir reports whether a directory of a module holds nothing that is linked into the program.
func skippedDir(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"testdata", "node_modules", "examples", "_examples", "docs"}, name)
}

func isLicenceFile(name string) bool {
	base, ext, _ := strings.Cut(strings.ToUpper(name), ".")
	base, _, _ = strings.Cut(base, "-")
	return slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "THIRD_PARTY_LICENSES"}, base) &&
		slices.Contains([]string{"", "MD", "TXT", "MIT"}, ext)
}

func (c *component) addText(path, text string) {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	if strings.Contains(c.text, text) {
		return
	}
	if c.text != "" {
		rel, _ := filepath.Rel(c.dir, path)
		c.text += "\n\n--- " + filepath.ToSlash(rel) + "\n\n"
	}
	c.text += text
	if id := identify(text); id != "" && !slices.Contains(strings.Split(c.licence, " AND "), id) {
		c.licence = strings.TrimPrefix(c.licence+" AND "+id, " AND ")
	}
}

// identify returns the SPDX identifier of a licence text; empty if it is unknown, as for a notice.
func identify(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, known := range []struct{ phrase, id string }{
		{"Apache License Version 2.0", "Apache-2.0"}, {"Apache License, Version 2.0, January 2004", "Apache-2.0"},
		{"Licensed under the Apache License, Version 2.0", "Apache-2.0"},
		{"Mozilla Public License Version 2.0", "MPL-2.0"}, {"Mozilla Public License, version 2.0", "MPL-2.0"},
		{"Eclipse Distribution License", "BSD-3-Clause"}, {"Neither the name of", "BSD-3-Clause"},
		{"used to endorse or promote products", "BSD-3-Clause"},
		{"Redistribution and use in source and binary forms", "BSD-2-Clause"},
		{"Permission to use, copy, modify, and/or distribute this software", "ISC"},
		{"Permission to use, copy, modify, and distribute this software", "ISC"},
		{"Permission is hereby granted, free of charge", "MIT"},
		{"This is free and unencumbered software released into the public domain", "Unlicense"},
		{"CC0 1.0 Universal", "CC0-1.0"}, {"Do what thou wilt shall be the whole of the Law", "LicenseRef-knakk-rdf"},
	} {
		if strings.Contains(text, known.phrase) {
			return known.id
		}
	}
	return ""
}
