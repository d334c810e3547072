// Command inventory lists the third-party software in the program: Go modules that are linked into cmd/odarchive, and
// npm packages that are bundled into its pages.
//
//	inventory licences   writes every licence text (cmd/internal/licences/third_party.txt)
//	inventory sbom       writes a bill of materials (CycloneDX 1.6, JSON)
//
// It runs in the root of a checkout whose modules are downloaded and whose ui/node_modules are installed; the bill of
// materials of a program whose pages are built without scripts does not need the latter. Modules are those of the
// platform that GOOS and GOARCH name.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "inventory:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: inventory licences | sbom")
	}
	modules, err := goModules(".")
	if err != nil {
		return err
	}
	packages, err := npmPackages(".")
	if err != nil {
		return err
	}
	if args[0] == "sbom" && !pagesAreBuilt(".") {
		packages = nil // a program without scripts in its pages contains none of them
	}
	all := append(modules, packages...)
	for i := range all {
		if err := all[i].readLicence(); err != nil {
			return err
		}
	}
	switch args[0] {
	case "licences":
		return writeLicences(out, all)
	case "sbom":
		return writeSBOM(out, all)
	}
	return fmt.Errorf("unknown document %q: expected licences or sbom", args[0])
}

// pagesAreBuilt reports whether the pages of a checkout have scripts.
func pagesAreBuilt(root string) bool {
	_, err := os.Stat(filepath.Join(root, "ui", "dist", "manifest.json"))
	return err == nil
}
