package rdffiles_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odarchive/crawler/inspect/rdffiles"
	"odarchive/triplestore/hdt"
	"odarchive/triplestore/term"
)

// file is a member of an archive.
type file struct{ name, text string }

const (
	turtle  = "<a> <http://example.org/p> \"one\" ."
	triples = "<http://example.org/b> <http://example.org/p> \"two\" .\n"
	page    = `<!-- a page --><!DOCTYPE html><html><body><p about="http://example.org/c" ` +
		`property="http://example.org/p">three</p></body></html>`
)

func zipped(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range files {
		w, err := z.Create(f.name)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, f.text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compressed(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarred(t *testing.T, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.text)), Format: tar.FormatPAX}); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, f.text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asHDT(t *testing.T) []byte {
	t.Helper()
	w := hdt.NewWriter(hdt.WriterOptions{})
	defer w.Close()
	if err := w.Write(term.Quad{S: term.IRI("http://example.org/d"), P: term.IRI("http://example.org/p"),
		O: term.String("four")}); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := w.Finish(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readAll returns the objects of all statements, sorted, and checks that nothing is left in the temporary directory.
func readAll(t *testing.T, in io.Reader, name string, o rdffiles.Options) (subjects []string, err error) {
	t.Helper()
	o.TempDir = t.TempDir()
	s, err := rdffiles.Open(context.Background(), in, name, o)
	if err == nil {
		for {
			var q term.Quad
			if q, err = s.Read(); err != nil {
				break
			}
			subjects = append(subjects, q.S.Value()+" "+q.O.Value())
		}
		s.Close()
		if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if left, _ := os.ReadDir(o.TempDir); len(left) > 0 {
		t.Errorf("%s: %d temporary files are left", name, len(left))
	}
	slices.Sort(subjects)
	return subjects, err
}

func TestStatementsComeOutOfEveryKindOfFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, format string
		bytes        []byte
		want         []string
	}{
		{"a.ttl", "", []byte(turtle), []string{"file:///dir/a.ttl/../a one"}},
		{"b.nt.gz", "", compressed(t, []byte(triples)), []string{"http://example.org/b two"}},
		{"c.html", "", []byte(page), []string{"http://example.org/c three"}},
		{"c", "", []byte(page), []string{"http://example.org/c three"}},
		{"c.txt", "html", []byte(page), []string{"http://example.org/c three"}},
		{"d.hdt", "", asHDT(t), []string{"http://example.org/d four"}},
		{"d.hdt.gz", "", compressed(t, asHDT(t)), []string{"http://example.org/d four"}},
		{"d", "hdt", asHDT(t), []string{"http://example.org/d four"}},
		{
			"e.zip", "", zipped(t, file{"x/b.nt", triples}, file{"readme.txt", "no RDF"}, file{"d.hdt", string(asHDT(t))},
				file{"page.html", page}),
			[]string{"http://example.org/b two", "http://example.org/d four"}},
		{"e.zip", "html", zipped(t, file{"b.nt", triples}, file{"page.html", page}),
			[]string{"http://example.org/b two", "http://example.org/c three"}},
		{"f.tar.gz", "", compressed(t, tarred(t, file{"b.nt.gz", string(compressed(t, []byte(triples)))}, file{"c.csv", "a,b\n1,2\n"})),
			[]string{"http://example.org/b two"}},
		{"f.tar", "nt", tarred(t, file{"b.data", triples}), []string{"http://example.org/b two"}},
	} {
		o := rdffiles.Options{Base: "file:///dir/" + c.name}
		if c.format != "" {
			var ok bool
			if o.Format, ok = rdffiles.FormatOf(c.format); !ok {
				t.Fatalf("no format %q", c.format)
			}
		}
		if c.name == "a.ttl" {
			c.want = []string{"file:///dir/a one"}
		}
		got, err := readAll(t, struct{ io.Reader }{bytes.NewReader(c.bytes)}, c.name, o)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s as a stream: %q, %v, want %q", c.name, got, err, c.want)
		}
		path := filepath.Join(t.TempDir(), filepath.Base(c.name))
		if err := os.WriteFile(path, c.bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err = readAll(t, f, c.name, o)
		f.Close()
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s as a file: %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestAnArchiveThatCannotBeReadWholeIsAnError(t *testing.T) {
	t.Parallel()
	whole := compressed(t, tarred(t, file{"b.nt", triples}, file{"c.nt", strings.Repeat(triples, 3000)}))
	damaged := zipped(t, file{"b.nt", triples + strings.Repeat("# a comment\n", 100)})
	damaged[40] ^= 0xFF
	for _, c := range []struct {
		name  string
		bytes []byte
		want  string
	}{
		{"cut.tar.gz", whole[:len(whole)-40], "EOF"},
		{"cut.zip", zipped(t, file{"b.nt", triples})[:100], "zip"},
		{"damaged.zip", damaged, "b.nt"},
		{"none.zip", zipped(t, file{"a.csv", "a,b\n"}), "none of its members is RDF"},
		{"inner.zip", zipped(t, file{"a.zip", string(zipped(t, file{"b.nt", triples}))}), "none of its members is RDF"},
		{"bad.zip", zipped(t, file{"b.nt", triples}, file{"c.nt", "<a"}), "bad.zip: c.nt:1:"},
		{"bomb.zip", zipped(t, file{"b.nt", strings.Repeat(strings.Repeat("#", 4095)+"\n", 25_000)}), "limits"},
		{"empty.html", []byte("<html>nothing"), "no JSON-LD"},
		{"none", []byte("a,b\n1,2\n"), "give --format"},
		{"cut.hdt", asHDT(t)[:200], "not a sound HDT file"},
	} {
		_, err := readAll(t, struct{ io.Reader }{bytes.NewReader(c.bytes)}, c.name, rdffiles.Options{Base: "file:///dir/" + c.name})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestMembersThatAreNotRDFAreNamed(t *testing.T) {
	t.Parallel()
	var ignored []string
	o := rdffiles.Options{Ignored: func(names []string) { ignored = names }}
	in := zipped(t, file{"b.nt", triples}, file{"readme.txt", "text"}, file{"inner.zip", string(zipped(t, file{"c.nt", triples}))})
	if _, err := readAll(t, bytes.NewReader(in), "a.zip", o); err != nil || !slices.Equal(ignored, []string{"readme.txt", "inner.zip"}) {
		t.Errorf("ignored %q, %v", ignored, err)
	}
}

func TestASourceThatIsNotReadToTheEndLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := zipped(t, file{"b.nt", strings.Repeat(triples, 10_000)})
	s, err := rdffiles.Open(t.Context(), struct{ io.Reader }{bytes.NewReader(in)}, "a.zip", rdffiles.Options{TempDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("%d temporary files are left", len(left))
	}
}
