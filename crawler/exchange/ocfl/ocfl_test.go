package ocfl

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/preserve"
)

// file is a file of the web with its versions, as a test makes it up.
type file struct {
	url      string
	versions []version
}

type version struct {
	preserve.Version
	text string // "" if it was withdrawn
}

// made makes up files. The same seed gives the same files.
func made(seed uint64, files int) (all []file) {
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range files {
		f := file{url: fmt.Sprintf("http://h%d.example/%s?%d", i%3, strings.Repeat("ü/", r.IntN(60)), i)}
		for n := range 1 + r.IntN(6) {
			text := fmt.Sprintf("content %d of %d\n", r.IntN(3), i)
			sum := sha256.Sum256([]byte(text))
			v := preserve.Version{URL: f.url, N: n, Time: time.Unix(int64(1000+n), int64(r.IntN(1e9))).UTC(), Size: int64(len(text)),
				SHA256: hex.EncodeToString(sum[:]), FileName: []string{"", "a.csv", "odarchive", "../x"}[r.IntN(4)]}
			if r.IntN(8) == 0 {
				v.Withdrawal, text = &catalog.Withdrawal{At: time.Unix(5000, 0).UTC(), Reason: "It names people."}, ""
			}
			f.versions = append(f.versions, version{v, text})
		}
		all = append(all, f)
	}
	return all
}

// give sends the first versions of files, up to a number, that a root does not have.
func give(ctx context.Context, root *Root, all []file, upTo int) error {
	held := map[string]preserve.Held{}
	if err := root.EachHeld(ctx, func(url string, h preserve.Held) error { held[url] = h; return nil }); err != nil {
		return err
	}
	for _, f := range all {
		if err := root.Begin(ctx, preserve.Object{URL: f.url}); err != nil {
			return err
		}
		for _, v := range f.versions[:min(upTo, len(f.versions))] {
			if v.N < len(held[f.url].Versions) {
				continue
			}
			var body io.Reader
			if v.text != "" {
				body = strings.NewReader(v.text)
			}
			if err := root.Version(ctx, v.Version, body); err != nil {
				return err
			}
		}
		if err := root.End(ctx); err != nil {
			return err
		}
	}
	return nil
}

func export(t *testing.T, dir string, all []file, upTo int) Written {
	t.Helper()
	root, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	root.Agent = "http://a.example/crawler"
	if err := give(t.Context(), root, all, upTo); err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	return root.Written
}

// collected is a Receiver that keeps everything in memory.
type collected struct {
	files []file
}

func (c *collected) Begin(_ context.Context, o preserve.Object) error {
	c.files = append(c.files, file{url: o.URL})
	return nil
}

func (c *collected) Version(_ context.Context, v preserve.Version, body io.Reader) error {
	f := &c.files[len(c.files)-1]
	one := version{Version: v}
	if body != nil {
		text, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		one.text = string(text)
	}
	f.versions = append(f.versions, one)
	return nil
}

func (c *collected) End(context.Context) error { return nil }

func read(t *testing.T, dir string) (all map[string]file, faults []string) {
	t.Helper()
	c := &collected{}
	if err := Read(t.Context(), dir, "", 1<<20, c, func(err error) { faults = append(faults, err.Error()) }); err != nil {
		t.Fatal(err)
	}
	all = map[string]file{}
	for _, f := range c.files {
		all[f.url] = f
	}
	return all, faults
}

// sameFiles compares what a root gave with what went into it, up to a number of versions.
func sameFiles(t *testing.T, got map[string]file, want []file, upTo int) {
	t.Helper()
	for _, f := range want {
		vs := f.versions[:min(upTo, len(f.versions))]
		if len(got[f.url].versions) != len(vs) {
			t.Errorf("%s: %d versions, want %d", f.url, len(got[f.url].versions), len(vs))
			continue
		}
		for i, v := range vs {
			g := got[f.url].versions[i]
			if g.text != v.text || !g.Time.Equal(v.Time) || g.N != v.N || (g.Withdrawal == nil) != (v.Withdrawal == nil) {
				t.Errorf("%s: version %d is %+v, want %+v", f.url, i, g, v)
			}
		}
	}
}

func TestRandomFilesComeBackAsTheyWereAfterEveryStep(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	all, dir := made(seed, 12), filepath.Join(t.TempDir(), "root")
	for upTo := 1; upTo <= 6; upTo++ {
		export(t, dir, all, upTo)
		got, faults := read(t, dir)
		if len(faults) > 0 {
			t.Fatalf("faults %q", faults)
		}
		sameFiles(t, got, all, upTo)
		if w := export(t, dir, all, upTo); w != (Written{}) {
			t.Errorf("exported again, it wrote %+v", w)
		}
	}
}

func TestAWithdrawnVersionLeavesTheObjectAndKeepsItsNumber(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	all := []file{{url: "http://a.example/x"}}
	for n, text := range []string{"secret", "public"} {
		all[0].versions = append(all[0].versions,
			version{preserve.Version{URL: all[0].url, N: n, Time: time.Unix(int64(n), 0), Size: -1}, text})
	}
	export(t, dir, all, 9)
	all[0].versions[0].Withdrawal, all[0].versions[0].text = &catalog.Withdrawal{Reason: "It names people."}, ""
	root, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		root.Begin(t.Context(), preserve.Object{URL: all[0].url, Anew: true}),
		root.Version(t.Context(), all[0].versions[0].Version, nil),
		root.Version(t.Context(), all[0].versions[1].Version, strings.NewReader("public")),
		root.End(t.Context()), root.Close(),
	); err != nil {
		t.Fatal(err)
	}
	if root.Written.Rewritten != 1 {
		t.Errorf("written %+v", root.Written)
	}
	got, faults := read(t, dir)
	if len(faults) > 0 {
		t.Errorf("faults %q", faults)
	}
	sameFiles(t, got, all, 9)
	err = filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if bytes.Contains(text, []byte("secret")) {
			t.Errorf("%s has the withdrawn bytes", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestChild is what TestARootIsValidWheneverItsWriterIsKilled kills.
func TestChild(t *testing.T) {
	dir := os.Getenv("OCFL_TEST_ROOT")
	if dir == "" {
		t.Skip("only as a child process")
	}
	all := made(7, 60)
	fmt.Println("begins")
	for upTo := 1; upTo <= 6; upTo++ {
		export(t, dir, all, upTo)
	}
	fmt.Println("is done")
}

func TestARootIsValidWheneverItsWriterIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	dir := filepath.Join(t.TempDir(), "root")
	all := made(7, 60)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 2))
	for range 40 {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestChild$")
		cmd.Env = append(os.Environ(), "OCFL_TEST_ROOT="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, len("begins"))); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(r.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		text, _ := io.ReadAll(out)
		_ = cmd.Wait() // it was killed, as a rule
		kill.Stop()
		if _, err := os.Lstat(dir); err == nil {
			if _, faults := read(t, dir); len(faults) > 0 {
				t.Fatalf("faults %q", faults)
			}
		}
		if bytes.Contains(text, []byte("is done")) {
			break
		}
	}
	export(t, dir, all, 9)
	got, faults := read(t, dir)
	if len(faults) > 0 {
		t.Fatalf("faults %q", faults)
	}
	sameFiles(t, got, all, 9)
}
