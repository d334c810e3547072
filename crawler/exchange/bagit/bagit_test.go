package bagit

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/preserve"
)

// kept is a Receiver that keeps everything in memory, by URL and number.
type kept struct {
	texts map[string]string
	times map[string]time.Time
	url   string
}

func (k *kept) Begin(_ context.Context, o preserve.Object) error { k.url = o.URL; return nil }

func (k *kept) Version(_ context.Context, v preserve.Version, body io.Reader) error {
	name, text := fmt.Sprintf("%s %d", k.url, v.N), []byte("(withdrawn)")
	if body != nil {
		var err error
		if text, err = io.ReadAll(body); err != nil {
			return err
		}
	}
	k.texts[name], k.times[name] = string(text), v.Time
	return nil
}

func (k *kept) End(context.Context) error { return nil }

// read returns what a bag holds, and its faults.
func read(t *testing.T, name string) (*kept, []string, error) {
	t.Helper()
	k := &kept{texts: map[string]string{}, times: map[string]time.Time{}}
	var faults []string
	err := Read(t.Context(), name, "", 1<<20, k, func(err error) { faults = append(faults, err.Error()) })
	return k, faults, err
}

func TestRandomVersionsComeBackFromFoldersAndZips(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, name := range []string{"bag", "bag.zip"} {
		r := rand.New(rand.NewPCG(seed, 1))
		at := filepath.Join(t.TempDir(), name)
		b, err := Create(at, Options{SHA512: true, Date: time.Unix(1e9, 0), Agent: "a test\nof two lines"})
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for i := range 20 {
			url := fmt.Sprintf("http://h.example:%d/ü%%/%d", 80+i%2, i)
			if err := b.Begin(t.Context(), preserve.Object{URL: url}); err != nil {
				t.Fatal(err)
			}
			for n := range 1 + r.IntN(3) {
				text := strings.Repeat("x", r.IntN(100_000))
				v := preserve.Version{URL: url, N: n, Time: time.Unix(int64(n), 7), Size: int64(len(text)),
					FileName: []string{"", "CON", "a\nb%0A"}[r.IntN(3)]}
				var body io.Reader = strings.NewReader(text)
				if r.IntN(5) == 0 {
					v.Withdrawal, body, text = &catalog.Withdrawal{}, nil, "(withdrawn)"
				}
				if err := b.Version(t.Context(), v, body); err != nil {
					t.Fatal(err)
				}
				want[fmt.Sprintf("%s %d", url, n)] = text
			}
			bad := preserve.Version{URL: url, N: 9, Size: 1}
			if err := b.Version(t.Context(), bad, strings.NewReader("longer")); !isBad(err) {
				t.Fatalf("bytes that are not those of the record: %v", err)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		got, faults, err := read(t, at)
		if err != nil || len(faults) > 0 {
			t.Fatalf("%s: %v, %q", name, err, faults)
		}
		if fmt.Sprint(got.texts) != fmt.Sprint(want) {
			t.Errorf("%s: got %d versions, want %d, or others", name, len(got.texts), len(want))
		}
	}
}

func isBad(err error) bool {
	_, is := errors.AsType[*preserve.Bad](err)
	return is
}

// other writes a bag as another program might.
func other(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o777), os.WriteFile(at, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const declared = "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"

func sum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func TestABagOfOthersIsReadAndItsDamagesAreNamed(t *testing.T) {
	files := map[string]string{
		"bagit.txt": declared, "data/a b.csv": "one", "data/c%d.csv": "two", "data/extra": "x", "data/wrong": "y",
		"manifest-sha256.txt": sum("one") + "  data/a b.csv\r\n" + strings.ToUpper(sum("two")) + " *data/c%25d.csv\n" + sum("z") +
			" data/wrong\n" + sum("") + " data/missing\n",
		"bag-info.txt": "Bagging-Date: 2020-02-03\nExternal-Identifier: https://r.example/\n  item\nContact-Name:\n",
	}
	got, faults, err := read(t, other(t, files))
	if err != nil {
		t.Fatal(err)
	}
	one := "https://r.example/%20item/a%20b.csv 0"
	if got.texts[one] != "one" || len(got.texts) != 2 || !got.times[one].Equal(time.Date(2020, 2, 3, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %q at %v", got.texts, got.times)
	}
	if all := strings.Join(faults, "\n"); len(faults) != 3 || !strings.Contains(all, "data/extra") ||
		!strings.Contains(all, "data/wrong") || !strings.Contains(all, "data/missing") {
		t.Errorf("faults\n%s", all)
	}
}

func TestBagsThatLeadElsewhereAreRefused(t *testing.T) {
	line := sum("one") + "  data/one\n"
	for name, files := range map[string]map[string]string{
		"no declaration":    {"manifest-sha256.txt": line, "data/one": "one"},
		"no manifest":       {"bagit.txt": declared, "data/one": "one"},
		"a path upwards":    {"bagit.txt": declared, "data/one": "one", "manifest-sha256.txt": line + sum("x") + "  data/../../x\n"},
		"an absolute path":  {"bagit.txt": declared, "data/one": "one", "manifest-sha256.txt": line + sum("x") + "  /etc/passwd\n"},
		"an unknown digest": {"bagit.txt": declared, "data/one": "one", "manifest-crc32.txt": "00000000  data/one\n"},
		"a fetch elsewhere": {"bagit.txt": declared, "data/one": "one", "manifest-sha256.txt": line,
			"fetch.txt": "http://a.example/ 3 data/../x\n"},
		"two declared lines": {"bagit.txt": declared + "More: yes\n", "data/one": "one", "manifest-sha256.txt": line},
	} {
		got, _, err := read(t, other(t, files))
		if err == nil || len(got.texts) > 0 {
			t.Errorf("%s: got %q, %v", name, got.texts, err)
		}
	}
	dir := other(t, map[string]string{"bagit.txt": declared, "manifest-sha256.txt": line})
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "data"), 0o777),
		os.Symlink("/etc/passwd", filepath.Join(dir, "data", "one"))); err != nil {
		t.Skip(err)
	}
	if _, _, err := read(t, dir); err == nil {
		t.Error("a symbolic link was read")
	}
}

// zipOf returns a zip of a bag in which names are as a stranger wants them.
func zipOf(t testing.TB, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, map[bool]string{true: declared, false: "x"}[strings.HasSuffix(name, declaration)])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestZipsThatLeadElsewhereAreRefused(t *testing.T) {
	for _, names := range [][]string{
		{"b/bagit.txt", "b/../../x"}, {"b/bagit.txt", "c/x"}, {"bagit.txt", "/etc/x"}, {"b/bagit.txt", `b/..\x`},
		{"b/bagit.txt", "b/x", "b/x"}, {"a/b/bagit.txt"},
	} {
		at := filepath.Join(t.TempDir(), "bag.zip")
		if err := os.WriteFile(at, zipOf(t, names...), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, _, err := read(t, at); err == nil || strings.Contains(err.Error(), "manifest") {
			t.Errorf("%q: %v", names, err)
		}
	}
}

func FuzzReadZip(f *testing.F) {
	f.Add(zipOf(f, "b/bagit.txt", "b/data/x", "b/manifest-sha256.txt"))
	f.Fuzz(func(t *testing.T, text []byte) {
		at := filepath.Join(t.TempDir(), "bag.zip")
		if err := os.WriteFile(at, text, 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, _ = read(t, at)
	})
}
