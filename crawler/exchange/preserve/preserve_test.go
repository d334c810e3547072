package preserve

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/catalog"
)

// log is a Receiver that writes down what it receives.
type log struct{ lines []string }

func (l *log) Begin(_ context.Context, o Object) error {
	if strings.Contains(o.URL, "refused") {
		return Badf("not this one")
	}
	l.lines = append(l.lines, "begin "+o.URL)
	return nil
}

func (l *log) Version(_ context.Context, v Version, body io.Reader) error {
	if body == nil {
		l.lines = append(l.lines, fmt.Sprintf("version %d without bytes", v.N))
		return nil
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	l.lines = append(l.lines, fmt.Sprintf("version %d: %d bytes", v.N, len(text)))
	return nil
}

func (l *log) End(context.Context) error { l.lines = append(l.lines, "end"); return nil }

// badly fails after some bytes.
type badly struct{ r io.Reader }

func (b badly) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if errors.Is(err, io.EOF) {
		err = Badf("the rest is damaged")
	}
	return n, err
}

func streamed(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWire(&b, Hello{Agent: "http://a.example/crawler"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for _, url := range []string{"http://a.example/1", "http://a.example/refused", "http://a.example/2"} {
		if err := errors.Join(
			w.Begin(ctx, Object{URL: url}),
			w.Version(ctx, Version{N: 0}, strings.NewReader(strings.Repeat("x", 200_000))),
			w.Version(ctx, Version{N: 1}, badly{strings.NewReader("half")}),
			w.Version(ctx, Version{N: 2}, nil),
			w.Version(ctx, Version{N: 3}, strings.NewReader("")),
			w.End(ctx),
		); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAStreamIsReceivedAsItWasSentAndWhatIsBadIsLeftOut(t *testing.T) {
	l, bad := &log{}, 0
	open := func(h Hello) (Receiver, error) {
		if h.Agent != "http://a.example/crawler" {
			t.Errorf("agent %q", h.Agent)
		}
		return l, nil
	}
	if err := Receive(t.Context(), bytes.NewReader(streamed(t)), open, func(error) { bad++ }); err != nil {
		t.Fatal(err)
	}
	one := "version 0: 200000 bytes|version 2 without bytes|version 3: 0 bytes|end"
	want := "begin http://a.example/1|" + one + "|begin http://a.example/2|" + one
	if got := strings.Join(l.lines, "|"); got != want || bad != 3 {
		t.Errorf("got %s and %d faults, want %s and 3", got, bad, want)
	}
}

func TestAStreamThatEndsAnywhereIsAnError(t *testing.T) {
	whole := streamed(t)
	for n := 0; n < len(whole); n += 1 + n/50 {
		err := Receive(t.Context(), bytes.NewReader(whole[:n]), func(Hello) (Receiver, error) { return &log{}, nil }, func(error) {})
		if !errors.Is(err, ErrBroken) {
			t.Fatalf("the first %d bytes of %d: %v", n, len(whole), err)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add([]byte("h\x02{}q\x00"))
	f.Add([]byte("h\x02{}o\x0e{\"url\":\"http:\"}v\x02{}d\x01xe\x00z\x00q\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_ = Receive(t.Context(), bytes.NewReader(b), func(Hello) (Receiver, error) { return &log{}, nil }, func(error) {})
	})
}

func TestPREMISIsWellFormedAndHasTheEvents(t *testing.T) {
	v := Version{
		URL: "http://a.example/?a=1&b=<2>", IRI: "http://b.example/0", Time: time.Unix(1, 0), Status: 200, Size: 3, SHA256: "ab",
		Truncated:  "length",
		Withdrawal: &catalog.Withdrawal{At: time.Unix(2, 0), Reason: "a \x00 reason & more", Basis: "law"},
	}
	text := PREMIS(v, "http://b.example/crawler")
	var doc struct {
		Events []struct {
			Type string `xml:"eventType"`
		} `xml:"event"`
	}
	if err := xml.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if len(doc.Events) != 4 || doc.Events[0].Type != "capture" || doc.Events[3].Type != "deaccession" {
		t.Errorf("events %v", doc.Events)
	}
}

// The schema is the Library of Congress's premis-v3-0.xsd, which is no part of the project: ODARCHIVE_PREMIS_XSD names
// it.
func TestPREMISIsValidByItsSchema(t *testing.T) {
	schema := os.Getenv("ODARCHIVE_PREMIS_XSD")
	if _, err := exec.LookPath("xmllint"); err != nil || schema == "" {
		t.Skip("needs xmllint, and the schema of PREMIS 3.0 in $ODARCHIVE_PREMIS_XSD")
	}
	whole := Version{
		URL: "http://a.example/?a=1&b=<2>", IRI: "http://b.example/0", Time: time.Unix(1, 0), Status: 200, Size: 3, SHA256: "ab", MD5: "cd",
		MediaType: "text/csv", Truncated: "length",
		Withdrawal: &catalog.Withdrawal{At: time.Unix(2, 0), Reason: "a \x00 reason & more", Basis: "law"},
	}
	for name, v := range map[string]Version{"whole": whole, "least": {URL: "x:", Size: -1}} {
		file := filepath.Join(t.TempDir(), "premis.xml")
		if err := os.WriteFile(file, PREMIS(v, "http://b.example/crawler"), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "xmllint", "--nonet", "--noout", "--schema", schema,
			file).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}

func TestFileNamesFitEverySystem(t *testing.T) {
	for name, want := range map[string]string{
		"": "file", "..": "file", "a/b.csv": "b.csv", `a\b.csv`: "b.csv", "a\x00b": "a_b", "con.txt": "_con.txt",
		"a:b%0A.csv": "a_b_0A.csv",
		" x. ":       "x", "-rf": "_-rf",
	} {
		if got := FileName(name); got != want {
			t.Errorf("FileName(%q) = %q, want %q", name, got, want)
		}
	}
	long := FileName(strings.Repeat("ü", 300) + ".csv")
	if len(long) > maxName || !strings.HasSuffix(long, ".csv") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}

func TestAddressesOfOthers(t *testing.T) {
	for _, c := range []struct {
		base, id, path string
		only           bool
		want           string
	}{
		{"", "https://r.example/item/1", "data.csv", true, "https://r.example/item/1"},
		{"", "https://r.example/item/1?x#y", "a b/c%.csv", false, "https://r.example/item/1/a%20b/c%25.csv"},
		{"", "info:fedora/1", "a", true, "imported/info:fedora%2F1/a"},
		{"https://r.example/", "ark:/1/2", "a", false, "https://r.example/ark:%2F1%2F2/a"},
		{"https://r.example/", "javascript:x", "../a", false, "https://r.example/javascript:x/../a"},
	} {
		if got := Address(c.base, c.id, c.path, c.only); got != c.want {
			t.Errorf("Address(%q, %q, %q) = %q, want %q", c.base, c.id, c.path, got, c.want)
		}
	}
}

func TestNumbersThatNoArchiveHasWrittenAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		size   int64
		ok     bool
	}{{0, -1, true}, {200, 0, true}, {999, 1 << 40, true}, {-1, 0, false}, {1000, 0, false}, {-2147483649, 0, false}, {200, -2, false},
		{200, math.MaxInt64, false}} {
		v := Version{Status: c.status, Size: c.size}
		if err := v.Check(); (err == nil) != c.ok {
			t.Errorf("status %d, %d bytes: %v", c.status, c.size, err)
		}
	}
}
