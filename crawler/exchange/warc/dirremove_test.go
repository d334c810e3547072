package warc

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withdrawnOf names the bodies of captures, and the URLs that had them.
func withdrawnOf(bodies, urls []string) *Withdrawn {
	w := &Withdrawn{Payloads: map[[32]byte]bool{}, URLs: map[string]bool{},
		Decode: func(_ *Message, body io.Reader) (io.Reader, error) { return body, nil }}
	for _, b := range bodies {
		w.Payloads[sha256.Sum256([]byte(b))] = true
	}
	for _, u := range urls {
		w.URLs[u] = true
	}
	return w
}

func TestRecordsOfWithdrawnBytesLeaveTheFiles(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := openDir(t, path, DirOptions{MaxSize: 2000})
	for range 20 {
		appendFile(t, d, "http://e/kept", "kept")
		appendFile(t, d, "http://e/gone", "secret")
		appendFile(t, d, "http://other/copy", "secret")
		appendFile(t, d, "http://e/gone", "another version")
	}
	cut := record(Resource, "http://e/gone", "text/plain", "secr")
	cut.Header.Add("WARC-Truncated", "length")
	about := record(Metadata, "http://e/gone", "text/turtle", "columns")
	if _, err := d.Append(cut, about); err != nil {
		t.Fatal(err)
	}
	stranger := filepath.Join(path, "other-1.warc.gz") // not ours
	if err := os.WriteFile(stranger, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	left := filepath.Join(path, "odarchive-1.warc.gz"+removing) // of a killed process
	if err := os.WriteFile(left, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := withdrawnOf([]string{"secret"}, []string{"http://e/gone"})
	n, err := d.Remove(t.Context(), w)
	if err != nil || n != 42 {
		t.Fatalf("%d records, %v", n, err)
	}
	if n, err := d.Remove(t.Context(), w); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
	appendFile(t, d, "http://e/later", "later")
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(stranger); err != nil {
		t.Errorf("a file of another program: %v", err)
	}
	counts := map[string]int{}
	for _, uri := range uris(t, path) {
		counts[uri]++
	}
	if counts["http://e/kept"] != 20 || counts["http://e/gone"] != 20 || counts["http://other/copy"] != 0 || counts["http://e/later"] != 1 {
		t.Errorf("%v", counts)
	}
}

func TestRemovingRecordsLeavesFilesWholeIfItIsInterrupted(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	d := openDir(t, path, DirOptions{})
	appendFile(t, d, "http://e/kept", "kept")
	appendFile(t, d, "http://e/gone", "secret")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.Remove(ctx, withdrawnOf([]string{"secret"}, nil)); err == nil {
		t.Error("no error")
	}
	if got := uris(t, path); !slices.Contains(got, "http://e/gone") || !slices.Contains(got, "http://e/kept") {
		t.Errorf("%v", got)
	}
}

func TestAFileOfAnotherProcessIsSaid(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	other := openDir(t, path, DirOptions{})
	appendFile(t, other, "http://e/gone", "secret")
	d := openDir(t, path, DirOptions{})
	if _, err := d.Remove(t.Context(), withdrawnOf([]string{"secret"}, nil)); err == nil ||
		!strings.Contains(err.Error(), "another process writes") {
		t.Errorf("%v", err)
	}
}
