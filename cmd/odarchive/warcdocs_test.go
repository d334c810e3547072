package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"odarchive/crawler/exchange/warc"
)

// TestEveryCommandInTheDocumentOnWARCRuns runs the commands of crawler/exchange/warc/README.md, in order, on a small
// file. Each must succeed and write something.
func TestEveryCommandInTheDocumentOnWARCRuns(t *testing.T) {
	document, err := os.ReadFile("../../crawler/exchange/warc/README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	writeCrawl(t, "crawl.warc.gz")
	if err := os.WriteFile("wat.paths", []byte("crawl-data/wat/crawl.warc.wat.gz\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for block := range strings.SplitSeq(string(document), "```sh\n") {
		block, _, isCommand := strings.Cut(block, "```")
		if !isCommand || !strings.HasPrefix(block, "odarchive ") {
			continue
		}
		for line := range strings.Lines(block) {
			line = strings.TrimSpace(line)
			args, file := words(line)
			var out, errs bytes.Buffer
			if status := run(t.Context(), append(args[1:], "--log-level", "error"), nil, &out, &errs); status != 0 {
				t.Fatalf("%s: exit %d\n%s", line, status, errs.String())
			}
			if file != "" {
				if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if out.Len()+errs.Len() == 0 && !strings.Contains(line, " -o ") {
				t.Errorf("%s: nothing was written", line)
			}
			if i := strings.Index(line, " -o "); i >= 0 {
				if info, err := os.Stat(strings.Fields(line[i:])[1]); err != nil || info.Size() == 0 {
					t.Errorf("%s: %v", line, err)
				}
			}
			ran++
		}
	}
	if ran < 15 {
		t.Errorf("only %d commands were found", ran)
	}
}

// words splits a command line as a shell does, for single quotes and one redirection of the output.
func words(line string) (args []string, file string) {
	line, file, _ = strings.Cut(line, " > ")
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
		} else {
			args = append(args, strings.Fields(part)...)
		}
	}
	return args, file
}

// writeCrawl writes a WARC file with a page, a table in two states, and a missing page.
func writeCrawl(t *testing.T, name string) {
	t.Helper()
	var b bytes.Buffer
	w := warc.NewWriter(&b)
	for i, r := range [][4]string{
		{"http://a.example/", "2024-01-01T00:00:00Z", "200 OK\r\nContent-Type: text/html",
			"<title>Page</title><a href='http://b.example/x'>other</a><a href=/data.csv>data</a>"},
		{"http://a.example/data.csv", "2024-02-01T00:00:00Z", "200 OK\r\nContent-Type: text/csv", "id,name\n1,one\n2,two\n"},
		{"http://a.example/data.csv", "2025-02-01T00:00:00Z", "200 OK\r\nContent-Type: text/csv", "id,name\n1,one\n2,two\n3,three\n"},
		{"http://a.example/gone", "2025-02-01T00:00:00Z", "404 Not Found\r\nContent-Type: text/html", "no"},
	} {
		rec := &warc.Record{Block: bytes.NewReader([]byte("HTTP/1.1 " + r[2] + "\r\n\r\n" + r[3]))}
		for _, f := range [][2]string{{"WARC-Type", "response"},
			{"WARC-Record-ID", fmt.Sprintf("<urn:uuid:00000000-0000-4000-8000-%012d>", i)}, {"WARC-Date", r[1]}, {"WARC-Target-URI", r[0]},
			{"Content-Type", warc.HTTPResponse}} {
			rec.Header.Add(f[0], f[1])
		}
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
