package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"odarchive/cmd/internal/licences"
)

const root = "../../../.."

func TestTheLicenceOfEveryModuleAndPackageInTheProgramIsInTheProgram(t *testing.T) {
	t.Parallel()
	modules, err := goModules(root)
	if err != nil {
		t.Fatal(err)
	}
	packages, err := npmPackages(root)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(licences.ThirdParty(), "====")
	listed := map[string]bool{}
	for _, line := range strings.Split(head, "\n") {
		if name, _, ok := strings.Cut(line, " ("); ok {
			listed[name] = true
		}
	}
	if len(packages) == 0 || len(modules) < 10 {
		t.Errorf("%d modules and %d packages: the inventory reads nothing", len(modules), len(packages))
	}
	for _, c := range append(modules, packages...) {
		if name := c.name + " " + c.version; c.name != "std" && !listed[name] {
			t.Errorf("%s is not in third_party.txt: run 'make licences'", name)
		}
		delete(listed, c.name+" "+c.version)
	}
	delete(listed, "std")
	for name := range listed {
		t.Errorf("%s is in third_party.txt, but not in the program: run 'make licences'", name)
	}
}

func TestTheBillOfMaterialsIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	all := []component{
		{ecosystem: "golang", name: "example.org/m", version: "v1.0.0+incompatible", sum: "dRaEfpa2VI55EwlIW72hMRHdWouJeRF7TPYhI+AUQjk=",
			licence: "MIT"},
		{ecosystem: "npm", name: "@scope/p", version: "2.0.0", licence: "ISC AND MIT"},
	}
	var first, second bytes.Buffer
	if err := writeSBOM(&first, all); err != nil {
		t.Fatal(err)
	}
	if err := writeSBOM(&second, all); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("it differs: %v", err)
	}
	var doc bom
	if err := json.Unmarshal(first.Bytes(), &doc); err != nil || len(doc.Components) != 2 {
		t.Fatalf("%+v, %v", doc, err)
	}
	for i, want := range []string{"pkg:golang/example.org/m@v1.0.0%2Bincompatible", "pkg:npm/%40scope/p@2.0.0"} {
		if got := doc.Components[i].PURL; got != want {
			t.Errorf("component %d is %s, want %s", i, got, want)
		}
	}
	if h := doc.Components[0].Hashes; len(h) != 1 || len(h[0].Content) != 64 {
		t.Errorf("its hash is %v", h)
	}
}
