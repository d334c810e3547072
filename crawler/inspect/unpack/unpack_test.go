package unpack

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

const text = "id,name\n1,Wien\n2,Graz\n"

// listing returns the members of an archive as "path=content".
func listing(t *testing.T, data []byte, mediaType string, l Limits) ([]string, error) {
	t.Helper()
	l.TempDir = t.TempDir()
	var got []string
	err := Walk(context.Background(), bytes.NewReader(data), int64(len(data)), mediaType, l, func(m Member) error {
		rc, err := m.Open()
		if err != nil {
			got = append(got, m.Path+"!"+err.Error())
			return nil
		}
		b, err := io.ReadAll(rc)
		if err != nil {
			got = append(got, m.Path+"!"+err.Error())
			rc.Close()
			if fatal(err) {
				return err
			}
			return nil
		}
		rc.Close()
		if m.Packed {
			got = append(got, m.Path)
		} else {
			got = append(got, m.Path+"="+string(b))
		}
		return nil
	})
	if left, _ := filepath.Glob(filepath.Join(l.TempDir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	return got, err
}

func packed(t *testing.T, w io.WriteCloser, err error, content string, buf *bytes.Buffer) []byte {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func gzipOf(t *testing.T, content string) []byte {
	var b bytes.Buffer
	return packed(t, gzip.NewWriter(&b), nil, content, &b)
}

func zipOf(t *testing.T, pairs ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w, err := z.Create(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, pairs[i+1])
	}
	z.Close()
	return b.Bytes()
}

func tarOf(t *testing.T, pairs ...string) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := 0; i < len(pairs); i += 2 {
		w.WriteHeader(&tar.Header{Name: pairs[i], Size: int64(len(pairs[i+1])), Mode: 0o644})
		io.WriteString(w, pairs[i+1])
	}
	w.Close()
	return b.Bytes()
}

func TestEveryCompressionGivesItsOneMember(t *testing.T) {
	t.Parallel()
	var b [7]bytes.Buffer
	x, xerr := xz.NewWriter(&b[0])
	l, lerr := lzma.NewWriter(&b[1])
	z, zerr := zstd.NewWriter(&b[2])
	for name, data := range map[string][]byte{
		"application/gzip":       gzipOf(t, text),
		"application/x-xz":       packed(t, x, xerr, text, &b[0]),
		"application/x-lzma":     packed(t, l, lerr, text, &b[1]),
		"application/zstd":       packed(t, z, zerr, text, &b[2]),
		"application/x-lz4":      packed(t, lz4.NewWriter(&b[3]), nil, text, &b[3]),
		"application/x-brotli":   packed(t, brotli.NewWriter(&b[4]), nil, text, &b[4]),
		"application/x-compress": compress(text),
	} {
		got, err := listing(t, data, name, Limits{Name: "towns.csv.gz"})
		if err != nil || !slices.Equal(got, []string{"towns.csv=" + text}) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestMembersOfMembersAreWalkedToADepth(t *testing.T) {
	t.Parallel()
	inner := zipOf(t, "b.csv", text, "deep.zip", string(zipOf(t, "c.csv", "c", "deeper.zip", string(zipOf(t, "d.csv", "d")))))
	data := tarOf(t, "in/a.zip", string(inner), "plain.txt", "p")
	got, err := listing(t, gzipOf(t, string(data)), "", Limits{})
	want := []string{"in/a.zip", "in/a.zip/b.csv=" + text, "in/a.zip/deep.zip", "in/a.zip/deep.zip/c.csv=c"}
	if err != nil || len(got) != 6 || !slices.Equal(got[:4], want) || !strings.HasPrefix(got[4], "in/a.zip/deep.zip/deeper.zip=PK") ||
		got[5] != "plain.txt=p" {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestNamesAreHarmless(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"../../etc/passwd":                "_/_/etc/passwd",
		"/etc/passwd":                     "etc/passwd",
		`C:\windows\evil.exe`:             "windows/evil.exe",
		"a//./b":                          "a/b",
		"":                                "unnamed",
		"x\x00y\ncsv":                     "x_y_csv",
		"\u202egpj.exe":                   "_gpj.exe",
		"caf\xe9.csv":                     "caf_.csv",
		strings.Repeat("a", 500) + ".csv": strings.Repeat("a", maxName-4) + ".csv",
	} {
		if got := cleanPath(raw); got != want {
			t.Errorf("cleanPath(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestTheSameNameTwiceGivesTwoPaths(t *testing.T) {
	t.Parallel()
	got, err := listing(t, zipOf(t, "a.csv", "1", "A.csv", "2", "x/../a.csv", "3"), "", Limits{})
	if err != nil || !slices.Equal(got, []string{"a.csv=1", "A.csv~2=2", "x/_/a.csv=3"}) {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestBombsAreCutOff(t *testing.T) {
	t.Parallel()
	zeros := strings.Repeat("\x00", 80<<20)
	gz := gzipOf(t, zeros)
	for name, c := range map[string]struct {
		data []byte
		l    Limits
	}{
		"ratio":  {gz, Limits{}},
		"total":  {gz, Limits{MaxTotal: 1 << 20}},
		"member": {zipOf(t, "a", zeros[:8<<20]), Limits{MaxMember: 1 << 20}},
		"nested": {zipOf(t, "a.gz", string(gz)), Limits{}},
	} {
		_, err := listing(t, c.data, "", c.l)
		if !errors.Is(err, ErrBomb) {
			t.Errorf("%s: %v, want ErrBomb", name, err)
		}
	}
	many := make([]string, 0, 60)
	for range 30 {
		many = append(many, "x", "")
	}
	if _, err := listing(t, zipOf(t, many...), "", Limits{MaxMembers: 20}); !errors.Is(err, ErrTooMany) {
		t.Errorf("many members: %v", err)
	}
}

// A zip of zips of zips, each with several of the next: the limit is on what all of them unpack to.
func TestNestedBombsAreCutOffTogether(t *testing.T) {
	t.Parallel()
	core := string(zipOf(t, "zeros", strings.Repeat("\x00", 24<<20)))
	layer := string(zipOf(t, "a.zip", core, "b.zip", core, "c.zip", core, "d.zip", core))
	outer := zipOf(t, "1.zip", layer, "2.zip", layer, "3.zip", layer, "4.zip", layer)
	if _, err := listing(t, outer, "", Limits{}); !errors.Is(err, ErrBomb) {
		t.Errorf("%d bytes: %v, want ErrBomb", len(outer), err)
	}
}

func TestTarsOfTrickstersHoldOnlyHarmlessFiles(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range []tar.Header{
		{Name: "/etc/shadow", Size: 1}, {Name: "../../up", Size: 1}, {Name: "link", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
		{Name: "hard", Typeflag: tar.TypeLink, Linkname: "/etc/passwd"}, {Name: "dev", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 5},
		{Name: "pipe", Typeflag: tar.TypeFifo}, {Name: "link/through", Size: 1},
	} {
		h.Mode = 0o644
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			w.Write([]byte("x"))
		}
	}
	w.Close()
	got, err := listing(t, b.Bytes(), "", Limits{})
	if err != nil || !slices.Equal(got, []string{"etc/shadow=x", "_/_/up=x", "link/through=x"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// Truncated and malformed archives are errors, whatever is cut or changed.
func TestBrokenArchivesAreErrors(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"7z with a header far away": "7z\xbc\xaf\x27\x1c\x00\x04\x8d\x9b\xd5\x0f\xff\xff\xff\xff\xff\xff\xff\x7f\x10\x00\x00\x00\x00\x00" +
			"\x00\x00\x00\x00\x00\x00",
		"7z cut off":             "7z\xbc\xaf\x27\x1c\x00\x04",
		"rar cut off":            "Rar!\x1a\x07\x01\x00\x33\x92",
		"rar 4 with a bad block": "Rar!\x1a\x07\x00\xcf\x90\x73\x00\x00\x0d\x00\x00\x00\x00\x00\x00\x00\xff\xff\x74\x20\x90\xff\xff",
		"zip cut off":            string(zipOf(t, "a", strings.Repeat("text ", 1000))[:60]),
		"gzip cut off":           string(gzipOf(t, strings.Repeat("text ", 1000))[:15]),
		"tar cut off":            string(tarOf(t, "a.txt", strings.Repeat("text ", 1000))[:700]),
		"xz with nothing in it":  "\xFD7zXZ\x00\x00\x04",
		"zstd with a bad block":  "\x28\xB5\x2F\xFD\x04\x58\xff\xff\xff\xff",
	} {
		members := 0
		err := Walk(t.Context(), strings.NewReader(data), int64(len(data)), "", Limits{TempDir: t.TempDir()}, func(m Member) error {
			members++
			r, err := m.Open()
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, r)
			return errors.Join(err, r.Close())
		})
		if err == nil {
			t.Errorf("%s: %d members and no error", name, members)
		}
	}
}

// TestMembersThatAreEncryptedSayThatTheyAre reads a 7z archive whose list of members is open and whose members are not:
// testdata/t4.7z of github.com/bodgit/sevenzip (BSD 3-clause).
func TestMembersThatAreEncryptedSayThatTheyAre(t *testing.T) {
	t.Parallel()
	b, err := base64.StdEncoding.DecodeString(
		"N3q8ryccAAQZPwq/fQAAAAAAAAAgAAAAAAAAADfp0uy/yFjkFdadbTq6EDSfSOaTAACBMweuD87ysgwHsMPa919FipdTgilRmAEQAhLTPSSWedwNTLs1pIFAusGbXPph" +
			"Du/LJSNENG45EQ990gX2H8aWbJqUvttxWjo0kngSGUx1uxodfPul72dl4+qZuzA/mOdWwQ4P3fgEgQAAABcGEAEJbQAHCwEAASMDAQEFXQAQAAAMdgoBVofKcwAA")
	if err != nil {
		t.Fatal(err)
	}
	members := 0
	err = Walk(t.Context(), bytes.NewReader(b), int64(len(b)), "application/x-7z-compressed", Limits{}, func(m Member) error {
		members++
		rc, err := m.Open()
		if err == nil {
			_, err = io.Copy(io.Discard, rc)
			rc.Close()
		}
		if !errors.Is(err, ErrEncrypted) {
			t.Errorf("%s: %v", m.Path, err)
		}
		return nil
	})
	if err != nil || members == 0 {
		t.Errorf("%d members, %v", members, err)
	}
}

func TestExtractFindsOneMember(t *testing.T) {
	t.Parallel()
	data := zipOf(t, "a.csv", "1", "in.zip", string(zipOf(t, "b.csv", text)))
	var b bytes.Buffer
	if err := Extract(context.Background(), bytes.NewReader(data), int64(len(data)), "", "in.zip/b.csv", Limits{}, &b); err != nil ||
		b.String() != text {
		t.Errorf("got %q, %v", b.String(), err)
	}
	if err := Extract(context.Background(), bytes.NewReader(data), int64(len(data)), "", "none", Limits{}, &b); !errors.Is(err,
		ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

func TestACancelledWalkStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	data := zipOf(t, "a", "1", "b", "2")
	n := 0
	err := Walk(ctx, bytes.NewReader(data), int64(len(data)), "", Limits{}, func(Member) error { n++; cancel(); return nil })
	if n != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d members, %v", n, err)
	}
}

func TestNamesInOldEncodingsAreRead(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, n := range []string{"\x94ffentlich.csv", "B\x81rger.csv"} { // code page 437
		w, _ := z.CreateHeader(&zip.FileHeader{Name: n, NonUTF8: true})
		io.WriteString(w, "x")
	}
	z.Close()
	got, err := listing(t, b.Bytes(), "", Limits{})
	if err != nil || !slices.Equal(got, []string{"öffentlich.csv=x", "Bürger.csv=x"}) {
		t.Errorf("got %q, %v", got, err)
	}
}

// compress is a compress(1) encoder that never uses longer codes than the text needs.
func compress(s string) []byte {
	out := []byte{0x1f, 0x9d, 0x80 | 16}
	table := map[string]int{}
	for i := range 256 {
		table[string(rune(0))+string([]byte{byte(i)})] = i
	}
	key := func(b string) string { return "\x00" + b }
	next, bits := 257, uint(9)
	var acc uint64
	var have uint
	codes := 0
	emit := func(c int) {
		acc |= uint64(c) << have
		have += bits
		codes++
		for have >= 8 {
			out = append(out, byte(acc))
			acc >>= 8
			have -= 8
		}
	}
	pad := func() { // a group of eight codes is completed before the width changes
		for codes%8 != 0 {
			emit(0)
		}
	}
	cur := ""
	for i := range len(s) {
		c := s[i : i+1]
		if _, ok := table[key(cur+c)]; ok {
			cur += c
			continue
		}
		emit(table[key(cur)])
		if next < 1<<16 {
			if next == 1<<bits && bits < 16 {
				pad()
				codes = 0
				bits++
			}
			table[key(cur+c)] = next
			next++
		}
		cur = c
	}
	emit(table[key(cur)])
	if have > 0 {
		out = append(out, byte(acc))
	}
	return out
}

func TestCompressRoundTripsLongTexts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 60000 {
		b.WriteByte(byte(i*i/7 + i%13))
	}
	got, err := listing(t, compress(b.String()), "", Limits{Name: "x.Z"})
	if err != nil || len(got) != 1 || got[0] != "x="+b.String() {
		t.Errorf("%d members, %v", len(got), err)
	}
}

func FuzzWalk(f *testing.F) {
	t := &testing.T{}
	for _, b := range [][]byte{zipOf(t, "a.csv", text), tarOf(t, "a", text), gzipOf(t, text), compress(text), []byte("Rar!\x1a\x07\x00"),
		[]byte("7z\xbc\xaf\x27\x1c\x00\x04"), []byte("\xfd7zXZ\x00\x00\x04")} {
		f.Add(b)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		l := Limits{MaxTotal: 1 << 20, MaxMembers: 100, TempDir: dir}
		_ = Walk(context.Background(), bytes.NewReader(data), int64(len(data)), "", l, func(m Member) error {
			if m.Path == "" || strings.HasPrefix(m.Path, "/") || slices.Contains(strings.Split(m.Path, "/"), "..") {
				t.Fatalf("path %q", m.Path)
			}
			rc, err := m.Open()
			if err != nil {
				return nil
			}
			defer rc.Close()
			_, err = io.Copy(io.Discard, rc)
			if errors.Is(err, ErrBomb) {
				return err
			}
			return nil
		})
	})
	os.RemoveAll(dir)
}
