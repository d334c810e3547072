package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"strings"
	"testing"
)

// captureOf returns a response record in a gzip member of its own.
func captureOf(url, head, body string, fields ...string) string {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n" + head + "\r\n" + body
	return packed(fmt.Sprintf(
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:%s>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Target-URI: %[1]s\r\n"+
			"Content-Type: application/http;msgtype=response\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", url,
		strings.Join(append(fields, ""), "\r\n"), len(block), block))
}

// recordOf returns a response record of a text whose header announces a content of length bytes; 0 for the right one.
func recordOf(url, body string, length int) string {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + body
	return fmt.Sprintf(
		"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x:%s>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Target-URI: %[1]s\r\n"+
			"Content-Type: application/http;msgtype=response\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", url, max(length, len(block)), block)
}

func packed(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

// ran runs a command in the current directory. It returns its exit status and what it wrote.
func ran(t *testing.T, args ...string) (status int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	status = run(t.Context(), append(args, "--log-level", "error"), nil, &o, &e)
	return status, o.String(), e.String()
}

func TestCompressedBodiesThatAreCutOffAreKeptAsTruncated(t *testing.T) {
	t.Chdir(t.TempDir())
	body := packed(strings.Repeat("a,b\n1,2\n", 10_000))
	announced := fmt.Sprintf("Content-Encoding: gzip\r\nContent-Length: %d\r\n", len(body))
	file := captureOf("http://a.example/whole", announced, body) +
		captureOf("http://a.example/cut", announced, body[:len(body)/2]) +
		captureOf("http://a.example/plain", announced, "a,b\n1,2\n") + // whose codings another program has undone
		captureOf("http://a.example/said", "Content-Encoding: gzip\r\n", body[:len(body)/2], "WARC-Truncated: length")
	if err := os.WriteFile("a.warc.gz", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := ran(t, "warc", "import", "a.warc.gz"); status != 0 || !strings.HasPrefix(out, "4 versions imported") {
		t.Fatalf("exit %d, %s%s", status, out, errs)
	}
	_, out, _ := ran(t, "query", "--format", "csv", `PREFIX arc: <https://archiver.ai.wu.ac.at/ns/csvw#> PREFIX dct: <http://purl.org/dc/terms/>
		SELECT ?url ?why { ?v dct:isVersionOf ?url ; arc:truncated ?why } ORDER BY ?url`)
	if want := "url,why\r\nhttp://a.example/cut,unspecified\r\nhttp://a.example/said,length\r\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestCheckSaysThatAFileIsEmpty(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.warc.gz", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := ran(t, "warc", "check", "a.warc.gz"); status != 0 || out != "a.warc.gz: empty; there are no records\n" {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
}

func TestADamagedRecordGetsNoBytesOfTheNextOneWhereRecordsShareMembers(t *testing.T) {
	t.Chdir(t.TempDir())
	file := packed(recordOf("http://a.example/1", "one", 0)+recordOf("http://a.example/2", "two", 0)) +
		packed(recordOf("http://a.example/cut", "cut", 400)) + // the rest of it is missing
		packed(recordOf("http://a.example/3", strings.Repeat("three\n", 100), 0)) +
		packed(recordOf("http://a.example/4", "four", 0))
	if err := os.WriteFile("a.warc.gz", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := ran(t, "warc", "import", "a.warc.gz"); status != 1 || !strings.HasPrefix(out, "4 versions imported") {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	_, out, _ := ran(t, "query", "--format", "csv", `PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dct: <http://purl.org/dc/terms/>
		SELECT ?url ?size { ?v dct:isVersionOf ?url ; dcat:byteSize ?size } ORDER BY ?url`)
	if want := "url,size\r\nhttp://a.example/1,3\r\nhttp://a.example/2,3\r\nhttp://" +
		"a.example/3,600\r\nhttp://a.example/4,4\r\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}

func TestAnImportThatFailsAtOnceCountsNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	if status, out, errs := ran(t, "warc", "import", "missing.warc.gz"); status == 0 || out != "" ||
		!strings.Contains(errs, "missing.warc.gz") {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
}

func TestADamagedFileOfAPackageDoesNotKeepTheOthersOut(t *testing.T) {
	t.Chdir(t.TempDir())
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i, name := range []string{"archive/1.warc", "archive/2.warc", "archive/3.warc"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, recordOf(fmt.Sprintf("http://a.example/%d", i+1), noise(5000), 0))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	pack := b.Bytes()
	for i := range 16 {
		pack[bytes.Index(pack, []byte("archive/2.warc"))+200+i] ^= 0xff
	}
	if err := os.WriteFile("a.wacz", pack, 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := ran(t, "warc", "import", "a.wacz"); status != 1 || !strings.HasPrefix(out, "2 versions imported") ||
		!strings.Contains(errs, `unpack "archive/2.warc"`) {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	if status, out, errs := ran(t, "warc", "check", "a.wacz"); status != 1 || !strings.Contains(out, `unpack "archive/2.warc"`) ||
		!strings.Contains(out, "a.wacz!archive/3.warc: sound") {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
}

func TestURIsOfOtherBytesThanUTF8StayApart(t *testing.T) {
	t.Chdir(t.TempDir())
	revisit := packed(
		"WARC/1.1\r\nWARC-Type: revisit\r\nWARC-Record-ID: <urn:x:r>\r\nWARC-Date: 2025-01-01T00:00:00Z\r\nWARC-Target-URI: " +
			"http://a.example/again\r\n" +
			"WARC-Refers-To-Target-URI: http://a.example/caf\xe9\r\nWARC-Refers-To-Date: 2024-01-01T00:00:00Z\r\nContent-Length: " +
			"0\r\n\r\n\r\n\r\n")
	file := captureOf("http://a.example/caf\xe9", "", "one") + captureOf("http://a.example/caf\xe8", "", "two!") + revisit
	if err := os.WriteFile("a.warc.gz", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if status, out, errs := ran(t, "warc", "import", "a.warc.gz"); status != 0 || !strings.HasPrefix(out, "3 versions imported") {
		t.Errorf("exit %d, %s%s", status, out, errs)
	}
	_, out, _ := ran(t, "query", "--format", "csv", `PREFIX dcat: <http://www.w3.org/ns/dcat#> PREFIX dct: <http://purl.org/dc/terms/>
		SELECT ?url ?size { ?v dct:isVersionOf ?url ; dcat:byteSize ?size } ORDER BY ?url`)
	if want := "url,size\r\nhttp://a.example/again,3\r\nhttp://a.example/caf%E8,4\r\nhttp://a.example/caf%E9,3\r\n"; out != want {
		t.Errorf("got %q, want %q", out, want)
	}
}
