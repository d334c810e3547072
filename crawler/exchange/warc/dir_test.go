package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// openDir opens a directory that is closed with the test.
func openDir(t *testing.T, path string, o DirOptions) *Dir {
	t.Helper()
	o.Reserve = -1
	d, err := OpenDir(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// appendFile appends a resource record, and returns the name of its file.
func appendFile(t *testing.T, d *Dir, uri, block string) string {
	t.Helper()
	rec := record(Resource, uri, "text/plain", block)
	rec.ContentLength = int64(len(block))
	name, err := d.Append(rec)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// uris reads the directory's files and returns the URIs of their records, "warcinfo" for one without. Each file must be
// sound.
func uris(t *testing.T, path string) (all []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".warc.gz") {
			t.Errorf("%s is left behind", name)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r := NewReader(f, Limits{})
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			uri := rec.URI()
			if rec.Type == Warcinfo {
				uri = "warcinfo"
			}
			all = append(all, uri)
		}
	}
	return all
}

func TestADirectoryGrowsByFilesThatStartWithWarcinfo(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := openDir(t, path, DirOptions{MaxSize: 2000, Info: []Field{{"software", "test\r\nline"}}})
	if got := uris(t, path); len(got) != 0 {
		t.Errorf("before the first record: %q", got)
	}
	for i := range 6 {
		appendFile(t, d, fmt.Sprint("http://a.example/", i), strings.Repeat("incompressible? ", 3)+NewID()+NewID()+NewID())
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	got := uris(t, path)
	infos := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != "warcinfo" })
	if len(infos) < 2 || len(got)-len(infos) != 6 || got[0] != "warcinfo" {
		t.Errorf("%q", got)
	}
}

func TestManyMayAppendAtOnce(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := openDir(t, path, DirOptions{MaxSize: 50_000})
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 20 {
				block := strings.Repeat("x", 100*i)
				if i == 7 {
					block = strings.Repeat("large", smallGroup/4)
				}
				a, b := record(Resource, fmt.Sprintf("http://a.example/%d/%d", i, j), "text/plain", block),
					record(Metadata, "http://a.example/m", "text/plain", "about")
				a.ContentLength, b.ContentLength = int64(len(block)), 5
				name, err := d.Append(a, b)
				if err != nil {
					t.Error(err)
					return
				}
				f, err := os.Open(filepath.Join(path, name))
				if os.IsNotExist(err) {
					f, err = os.Open(filepath.Join(path, name+opened))
				}
				if err != nil {
					continue // renamed in between
				}
				rec, err := NewReader(io.NewSectionReader(f, a.Offset, a.Length), Limits{}).Next()
				if err != nil || rec.URI() != a.Header.Get("WARC-Target-URI") || b.Offset != a.Offset+a.Length {
					t.Errorf("at %d of %s: %v", a.Offset, name, err)
				}
				f.Close()
			}
		})
	}
	group.Wait()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := slices.DeleteFunc(uris(t, path), func(s string) bool { return s == "warcinfo" }); len(got) != 320 {
		t.Errorf("%d records", len(got))
	}
}

// leave makes the file that a killed process leaves: two records and the beginning of a third.
func leave(t *testing.T, path string) (open string, sound int64) {
	t.Helper()
	d := openDir(t, path, DirOptions{})
	name := appendFile(t, d, "http://a.example/1", "one")
	appendFile(t, d, "http://a.example/2", "two")
	sound = d.size
	appendFile(t, d, "http://a.example/3", "three")
	open = filepath.Join(path, name+opened)
	if err := os.Truncate(open, d.size-7); err != nil {
		t.Fatal(err)
	}
	d.file.Close() // as the end of the process does
	d.file = nil
	return open, sound
}

func TestTheNextOpenCompletesWhatAKilledProcessLeft(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(open string, sound int64) error{
		"a record that is cut off": func(string, int64) error { return nil },
		"a checkpoint": func(open string, sound int64) error {
			return os.WriteFile(strings.TrimSuffix(open, opened)+checkpoint, fmt.Append(nil, sound), 0o644)
		},
		"a checkpoint that is wrong": func(open string, sound int64) error {
			return os.WriteFile(strings.TrimSuffix(open, opened)+checkpoint, fmt.Append(nil, sound*9), 0o644)
		},
		"zeros behind the last record": func(open string, sound int64) error {
			if err := os.Truncate(open, sound); err != nil {
				return err
			}
			return os.Truncate(open, sound+9000)
		},
	} {
		path := t.TempDir()
		open, sound := leave(t, path)
		if err := prepare(open, sound); err != nil {
			t.Fatal(err)
		}
		openDir(t, path, DirOptions{})
		if got := uris(t, path); !slices.Equal(got, []string{"warcinfo", "http://a.example/1", "http://a.example/2"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSoundRecordsBehindDamageAreKept(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := openDir(t, path, DirOptions{})
	name := appendFile(t, d, "http://a.example/1", "one")
	var ends []int64
	for i := 2; i <= 6; i++ {
		ends = append(ends, d.size)
		appendFile(t, d, fmt.Sprint("http://a.example/", i), "text")
	}
	open := filepath.Join(path, name+opened)
	raw, err := os.ReadFile(open)
	if err != nil {
		t.Fatal(err)
	}
	raw[ends[0]+40] ^= 1 // in the second record
	copy(raw[ends[2]:], make([]byte, 10))
	if err := errors.Join(os.WriteFile(open, raw[:len(raw)-3], 0o644),
		os.WriteFile(filepath.Join(path, name+mending), []byte("of another crash"), 0o644)); err != nil {
		t.Fatal(err)
	}
	d.file.Close() // as the end of the process does
	d.file = nil
	var log bytes.Buffer
	openDir(t, path, DirOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
	if got := uris(t, path); !slices.Equal(got, []string{"warcinfo", "http://a.example/1", "http://a.example/3", "http://a.example/5"}) {
		t.Errorf("%q", got)
	}
	for i, want := range []string{fmt.Sprintf("offset=%d bytes=%d", ends[0], ends[1]-ends[0]),
		fmt.Sprintf("offset=%d bytes=%d", ends[2], ends[3]-ends[2]),
		fmt.Sprintf("offset=%d bytes=%d", ends[4], int64(len(raw)-3)-ends[4])} {
		if lines := strings.Split(log.String(), "\n"); i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Errorf("line %d of the log is not of %s:\n%s", i, want, log.String())
		}
	}
	if left, _ := filepath.Glob(filepath.Join(path, "*")); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}

func TestAFileWithoutCapturesIsRemoved(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	open, _ := leave(t, path)
	if err := os.Truncate(open, 20); err != nil {
		t.Fatal(err)
	}
	openDir(t, path, DirOptions{})
	if got := uris(t, path); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

func TestTheFileOfALivingProcessIsLeftAlone(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	first := openDir(t, path, DirOptions{})
	appendFile(t, first, "http://a.example/1", "one")
	second := openDir(t, path, DirOptions{})
	appendFile(t, first, "http://a.example/2", "two")
	appendFile(t, second, "http://a.example/3", "three")
	for _, d := range []*Dir{first, second} {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := uris(t, path); len(got) != 5 {
		t.Errorf("%q", got)
	}
}

func TestARecordThatFailsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := openDir(t, path, DirOptions{})
	appendFile(t, d, "http://a.example/1", "one")
	for _, size := range []int64{7, 2 * smallGroup} {
		rec := record(Resource, "http://a.example/2", "text/plain", strings.Repeat("x", 100))
		rec.Header.Add("Content-Length", fmt.Sprint(size))
		rec.ContentLength = size
		if _, err := d.Append(rec); err == nil {
			t.Error("a wrong length is no error")
		}
	}
	appendFile(t, d, "http://a.example/3", "three")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := uris(t, path); !slices.Equal(got, []string{"warcinfo", "http://a.example/1", "http://a.example/3"}) {
		t.Errorf("%q", got)
	}
}

func TestAfterAFailedWriteTheFileIsStillSound(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := openDir(t, path, DirOptions{})
	name := appendFile(t, d, "http://a.example/1", "one")
	sound := d.file
	var err error
	if d.file, err = os.Open(filepath.Join(path, name+opened)); err != nil { // cannot be written to
		t.Fatal(err)
	}
	rec := record(Resource, "http://a.example/2", "text/plain", "two")
	if _, err := d.Append(rec); err == nil {
		t.Fatal("no error")
	}
	if _, err := d.Append(record(Resource, "http://a.example/3", "text/plain", "three")); err == nil {
		t.Error("writing goes on at once")
	}
	d.broken = d.broken.Add(-2 * retryAfter)
	appendFile(t, d, "http://a.example/4", "four")
	sound.Close()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	openDir(t, path, DirOptions{})
	if got := slices.DeleteFunc(uris(t, path), func(s string) bool { return s == "warcinfo" }); len(got) != 2 ||
		!slices.Contains(got, "http://a.example/1") || !slices.Contains(got, "http://a.example/4") {
		t.Errorf("%q", got)
	}
}
