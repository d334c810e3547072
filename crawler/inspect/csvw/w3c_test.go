package csvw

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/testdata/shared"

	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
)

const testBase = "http://www.w3.org/2013/csvw/tests/"

type w3cTest struct {
	ID, Type, Name, Action, Result, HTTPLink, ContentType string
	Implicit                                              []string
	Option                                                struct {
		Minimal  bool
		Metadata string
	}
}

func loader(dir string, test w3cTest) Load {
	return func(u string) ([]byte, error) {
		if u == "http://www.w3.org/.well-known/csvm" && (strings.HasSuffix(test.ID, "259") || strings.HasSuffix(test.ID, "260")) {
			return []byte("{+url}-metadata.json\ncsv-metadata.json\n{+url}.json\ncsvm.json\n"), nil
		}
		rel, ok := strings.CutPrefix(u, testBase)
		if !ok {
			return nil, fs.ErrNotExist
		}
		if path, _, asked := strings.Cut(rel, "?"); asked && rel != test.Action {
			return nil, fs.ErrNotExist
		} else {
			rel = path
		}
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(rel)))
		if errors.Is(err, fs.ErrNotExist) && needs(test, rel) {
			return twin(dir, rel)
		}
		return b, err
	}
}

// needs reports whether the suite has a file that the shared copy lacks because another has the same content.
func needs(test w3cTest, rel string) bool {
	return rel == strings.Split(test.Action, "?")[0] || slices.Contains(test.Implicit, rel) || rel == test.Option.Metadata || rel == test.Result || rel == "tree-ops.csv"
}

// twin returns the file with the content of a missing one: of the same name in another folder, or else of the previous
// test with such a file. It is a guess, which the expected result of the test then checks.
func twin(dir, rel string) ([]byte, error) {
	if rel == "tree-ops.csv" || strings.HasSuffix(rel, "/tree-ops.csv") {
		return os.ReadFile(filepath.Join(dir, "test011/tree-ops.csv"))
	}
	var n int
	if _, err := fmt.Sscanf(rel, "test%d", &n); err != nil {
		return nil, fs.ErrNotExist
	}
	own := fmt.Sprintf("test%03d", n)
	for i := n - 1; i > 0; i-- {
		if b, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("test%03d", i)+strings.TrimPrefix(rel, own))); err == nil {
			return b, nil
		}
	}
	return nil, fs.ErrNotExist
}

// complete reports whether the shared copy has all files of a test.
func complete(dir string, test w3cTest) bool {
	files := append([]string{strings.Split(test.Action, "?")[0], test.Result}, test.Implicit...)
	for _, f := range files {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f))); err != nil && !strings.HasSuffix(f, "tree-ops.csv") {
			return false
		}
	}
	return true
}

func manifest(t *testing.T, dir, name string) []w3cTest {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Skip(err)
	}
	var m struct{ Entries []w3cTest }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m.Entries
}

// exceptions are the tests that fail, and why. A test that passes must not be listed.
func exceptions() map[string]string {
	return map[string]string{}
}

// unjudged are the tests that cannot be judged because the shared copy of the suite lacks a file of theirs. A test that
// passes without its files must not be listed. With a whole copy of the suite, all are judged.
func unjudged() map[string]string {
	return map[string]string{
		"test013": "tree-ops.csv, test013.ttl, test013-user-metadata.json",
		"test014": "test014/tree-ops.csv, test014/result.ttl, test014/linked-metadata.json",
		"test018": "test018/tree-ops.csv, test018/result.ttl, test018/user-metadata.json",
		"test075": "test075.ttl, tree-ops.csv",
		"test076": "test076.ttl, tree-ops.csv",
		"test116": "test116.csv",
		"test117": "test117.csv",
		"test118": "test118/action.csv",
		"test119": "test119/action.csv",
		"test120": "test120.csv",
		"test122": "test122.csv",
		"test123": "test123/action.csv",
		"test159": "test159.csv",
		"test160": "test160.csv",
		"test237": "test237.ttl",
		"test238": "test238.csv",
		"test242": "test242.csv",
		"test259": "test259/tree-ops.csv, test259/result.ttl, test259/csvm.json",
		"test260": "test260/tree-ops.csv, test260/result.ttl, test260/tree-ops.csv.json",
		"test270": "test270.ttl, tree-ops.csv",
	}
}

func TestTheW3CSuiteOfCSVToRDF(t *testing.T) {
	t.Parallel()
	dir := shared.Data(t, "csvw", "tests")
	passed, of := 0, 0
	for _, test := range manifest(t, dir, "manifest-rdf.jsonld") {
		_, id, _ := strings.Cut(test.ID, "#")
		err := runW3C(dir, test)
		missing, listed := unjudged()[id]
		switch {
		case err != nil && listed && !complete(dir, test):
			t.Logf("%s cannot be judged without %s", id, missing)
			continue
		case err == nil && listed && !complete(dir, test):
			t.Errorf("%s passes and is listed as unjudged", id)
		}
		of++
		why, excepted := exceptions()[id]
		switch {
		case err == nil && excepted:
			t.Errorf("%s passes and is listed as an exception (%s)", id, why)
		case err != nil && !excepted:
			t.Errorf("%s %s (%s): %v", id, test.Name, test.Type, err)
		}
		if err == nil {
			passed++
		}
	}
	t.Logf("%d of %d tests passed: %.1f %%", passed, of, 100*float64(passed)/float64(of))
}

func runW3C(dir string, test w3cTest) error {
	load := loader(dir, test)
	s := Source{URL: testBase + test.Action, Document: strings.HasSuffix(test.Action, ".json"), Link: test.HTTPLink, Type: test.ContentType, Load: load}
	if test.Option.Metadata != "" {
		s.Metadata = testBase + test.Option.Metadata
	}
	var got []term.Quad
	warnings, err := Convert(context.Background(), s, Options{Minimal: test.Option.Minimal}, func(q term.Quad) error { got = append(got, q); return nil })
	if strings.Contains(test.Type, "Negative") {
		if err == nil {
			return errors.New("no error")
		}
		return nil
	}
	if err != nil {
		return err
	}
	if strings.Contains(test.Type, "Warnings") && len(warnings) == 0 {
		return errors.New("no warning")
	}
	if test.Result == "" {
		return nil
	}
	result, err := load(testBase + test.Result)
	if err != nil {
		return err
	}
	var want []term.Quad
	r := rdfio.NewReader(bytes.NewReader(result), rdfio.Turtle(), rdfio.Options{Base: testBase + test.Result})
	for {
		q, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		want = append(want, q)
	}
	return compare(got, want)
}

// compare compares graphs by hashing every blank node with what surrounds it. That suffices because graphs of tables
// are trees.
func compare(got, want []term.Quad) error {
	g, w := lines(got), lines(want)
	if slices.Equal(g, w) {
		return nil
	}
	var b strings.Builder
	n := 0
	for _, l := range g {
		if !slices.Contains(w, l) && n < 4 {
			n++
			fmt.Fprintf(&b, "\n  got  %s", l)
		}
	}
	n = 0
	for _, l := range w {
		if !slices.Contains(g, l) && n < 4 {
			n++
			fmt.Fprintf(&b, "\n  want %s", l)
		}
	}
	return errors.New(b.String())
}

func lines(quads []term.Quad) []string {
	out := map[term.Key][]term.Quad{}
	for _, q := range quads {
		out[q.S] = append(out[q.S], q)
	}
	var name func(k term.Key, depth int) string
	name = func(k term.Key, depth int) string {
		if k.Kind() != term.KindBlank {
			return string(k)
		}
		if depth > 4 {
			return "_"
		}
		var parts []string
		for _, q := range out[k] {
			if string(q.P) == "<"+ns+"row" || string(q.P) == "<"+ns+"table" {
				continue
			}
			parts = append(parts, string(q.P)+" "+name(q.O, depth+1))
		}
		slices.Sort(parts)
		return "[" + strings.Join(parts, ";") + "]"
	}
	var list []string
	for _, q := range quads {
		list = append(list, name(q.S, 0)+" | "+string(q.P)+" | "+name(q.O, 0))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
