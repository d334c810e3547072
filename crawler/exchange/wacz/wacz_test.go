package wacz

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes a zip and returns its path. Names and contents alternate; those in archive/deflated* are compressed.
func write(t *testing.T, files ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		method := zip.Store
		if strings.HasPrefix(files[i], "archive/deflated") {
			method = zip.Deflate
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, files[i+1])
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "a.wacz")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func resource(path, content string) string {
	return fmt.Sprintf(`{"path": %q, "hash": "sha256:%x", "bytes": %d}`, path, sha256.Sum256([]byte(content)), len(content))
}

func TestTheWARCFilesOfAPackageAreReadWhetherStoredOrCompressed(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	o, err := Open(write(t, "archive/one.warc", "first", "archive/deflated.warc.gz", "second", "../../evil.warc", "x", "pages/pages.jsonl",
		"{}"), temp)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range o.Files {
		b, err := io.ReadAll(f.Reader(0))
		if err != nil || int64(len(b)) != f.Size {
			t.Errorf("%s: %d of %d bytes, %v", f.Name, len(b), f.Size, err)
		}
		_, inner, _ := strings.Cut(f.Name, "!")
		got = append(got, inner+"="+string(b))
	}
	if s := strings.Join(got, " "); s != "archive/one.warc=first archive/deflated.warc.gz=second" {
		t.Error(s)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("%v stays", left)
	}
}

func TestAPackageIsComparedWithItsDatapackage(t *testing.T) {
	t.Parallel()
	sound := `{"resources": [` + resource("archive/a.warc", "text") + `]}`
	for want, files := range map[string][]string{
		"":                        {"datapackage.json", sound, "archive/a.warc", "text"},
		"has no datapackage.json": {"archive/a.warc", "text"},
		"more than once": {"datapackage.json",
			`{"resources": [` + resource("archive/a.warc", "text") + "," + resource("archive/./a.warc", "text") + `]}`, "archive/a.warc",
			"text"},
		"cannot be read":           {"datapackage.json", "{", "archive/a.warc", "text"},
		"has 5 bytes":              {"datapackage.json", sound, "archive/a.warc", "texts"},
		"the SHA-256 of":           {"datapackage.json", sound, "archive/a.warc", "next"},
		"is not in the package":    {"datapackage.json", sound, "archive/b.warc", "text"},
		"is not in datapackage.js": {"datapackage.json", `{"resources": []}`, "archive/a.warc", "text"},
	} {
		o, err := Open(write(t, files...), "")
		if err != nil {
			t.Fatal(err)
		}
		faults, err := o.Check(t.Context())
		if err != nil || (len(faults) == 0) != (want == "") || !strings.Contains(strings.Join(faults, "\n"), want) {
			t.Errorf("%q: %v, %v", want, faults, err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatIsNotAPackageIsNamed(t *testing.T) {
	t.Parallel()
	if _, err := Open(write(t, "a.txt", "x"), ""); err == nil || !strings.Contains(err.Error(), "a zip without a WARC file") {
		t.Error(err)
	}
	if _, err := Open(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	name := filepath.Join(t.TempDir(), "x.warc")
	if err := os.WriteFile(name, []byte("WARC/1.1"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Open(name, "")
	if err != nil || len(o.Files) != 1 || o.Package {
		t.Fatalf("%+v, %v", o, err)
	}
	if faults, err := o.Check(t.Context()); err != nil || len(faults) > 0 {
		t.Error(faults, err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("PK\x03\x04"))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(t.TempDir(), "a.wacz")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		o, err := Open(name, t.TempDir())
		if err != nil {
			return
		}
		if _, err := o.Check(t.Context()); err != nil {
			t.Error(err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestOfManyCompressedFilesOneIsUnpackedAtATime(t *testing.T) {
	t.Parallel()
	temp := t.TempDir()
	var files []string
	var want []int // bytes
	for i := range 50 {
		files = append(files, fmt.Sprintf("archive/deflated%d.warc", i), strings.Repeat("x", i))
		want = append(want, i)
	}
	o, err := Open(write(t, files...), temp)
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, 1)
	for i, f := range append(o.Files, o.Files[1]) {
		b, err := io.ReadAll(f.Reader(0))
		if left, _ := os.ReadDir(temp); err != nil || len(b) != want[i] || len(left) > 1 {
			t.Errorf("%s: %d bytes, %v, %d temporary files", f.Name, len(b), err, len(left))
		}
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}
