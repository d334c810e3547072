package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"odarchive/cmd/internal/faces"
	"odarchive/cmd/internal/sampleweb"
	"odarchive/ui/docs"
)

// The commands of the documentation run here, page by page, as a reader would type them. The first word after the fence
// says what a block is, the second how it is used:
//
//	sh             runs to its end, with exit status 0, in a shell that stops at the first error
//	sh background  goes on running until the end of the page; the next block waits until its output is there
//	sh fails       ends with another exit status
//	sh elsewhere   does not run here: it installs software, or needs root (elsewhere lists the words it may begin with)
//	sh service     runs in the test of the packages (cmd/deploy/release), which has a machine for it
//	text           is the output of the block before; … stands for anything, alone on a line for any number of lines
//	sparql         is a query with at least one solution; with "update", an update
//	python, r      are programs; they are left out where the interpreter is not installed
//	toml NAME      is written to the file NAME, as csv, json, turtle and sparql with a name are
//	ini, nginx, …  are not looked at
//
// The hosts city.example, region.example, library.example and portalwatch.example are those of the sample web,
// town.example is a site without a catalog, and the server on port 8080 has another port.

// startsEmpty are the pages that begin without an archive. The others begin with one of the sample web.
var startsEmpty = []string{"tutorial"}

// elsewhere are the first words of commands that do not run here.
var elsewhere = []string{"sudo", "make", "systemctl", "docker", "ssh", "git", "tar"}

// unread are languages of blocks that are only looked at by people.
var unread = []string{"console", "ini", "nginx", "caddy", "html", "http", "yaml", "javascript", "text"}

// interpreters of the blocks in other languages.
var interpreters = map[string][]string{"python": {"python3"}, "r": {"Rscript", "-"}}

const pageTime = 4 * time.Minute // of one block, on a slow machine

// reading is a page that is being followed.
type reading struct {
	t      *testing.T
	dir    string
	env    []string
	there  *strings.Replacer // from the addresses of pages to those of this test
	back   *strings.Replacer
	output []byte // of the last block
	alive  *running
}

// running is a command in the background.
type running struct {
	mu   sync.Mutex // guards out
	out  bytes.Buffer
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(p)
}

func (r *running) text() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.out.Bytes())
}

func TestEveryCommandOfTheDocumentationRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	sample := sampleArchive(t)
	for _, p := range library.Pages() {
		if p.Group == "" || len(p.Code()) == 0 {
			continue
		}
		t.Run(strings.ReplaceAll(p.Path, "/", "-"), func(t *testing.T) {
			t.Parallel()
			follow(t, p, sample)
		})
	}
}

// sample is an archive of the sample web, and that web.
type sample struct {
	data   string
	places map[string]string // address on pages -> address here
}

// sampleArchive crawls the sample web in its first three states, in January 2026.
func sampleArchive(t *testing.T) sample {
	t.Helper()
	var state atomic.Int64
	endpoint, err := faces.NewEndpoint(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	web, err := sampleweb.Start(sampleweb.Options{State: func() int { return int(state.Load()) }, Handlers: endpoint.Handlers()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		web.Close()
		if err := endpoint.Close(); err != nil {
			t.Error(err)
		}
	})
	catalog, err := web.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	if err := endpoint.Load(t.Context(), catalog); err != nil {
		t.Fatal(err)
	}
	town := httptest.NewServer(http.HandlerFunc(townPage))
	t.Cleanup(town.Close)
	s := sample{data: filepath.Join(t.TempDir(), "archive"), places: map[string]string{}}
	for _, host := range append(web.Hosts(), "portalwatch") {
		s.places["http://"+host+".example/"] = web.Base(host)
	}
	s.places["http://town.example/"] = town.URL + "/"
	do := func(args ...string) {
		t.Helper()
		var out bytes.Buffer
		args = append(args, "--data", s.data, "--log-level", "error", "--allow-private-hosts", "--host-delay", "1ms")
		if status := run(t.Context(), args, nil, &out, &out); status != 0 {
			t.Fatalf("%v: exit status %d\n%s", args, status, out.String())
		}
	}
	do("harvest", "portalwatch", web.Base("portalwatch")+"sparql")
	for n, at := range []string{"2026-01-01T06:00:00Z", "2026-01-08T06:00:00Z", "2026-01-15T06:00:00Z"} {
		state.Store(int64(n))
		do("crawl", "--once", "--at", at)
	}
	return s
}

// townPage serves a site without a catalog: a page that links to two tables.
func townPage(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><title>Town</title><h1>Open data</h1><a href="parks.csv">Parks (CSV)</a> <a href="benches.csv">Benches (CSV)</a>`)
	case "/parks.csv", "/benches.csv":
		w.Header().Set("Content-Type", "text/csv")
		fmt.Fprint(w, "id,name\n1,North\n2,South\n")
	default:
		http.NotFound(w, r)
	}
}

func follow(t *testing.T, p *docs.Page, from sample) {
	r := &reading{t: t, dir: t.TempDir()}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	l.Close() // the server of the page takes it
	pairs := []string{"localhost:8080", "localhost:" + port, "127.0.0.1:8080", "127.0.0.1:" + port}
	for there, here := range from.places {
		host, local := strings.Trim(strings.TrimPrefix(there, "http:"), "/"), strings.Trim(strings.TrimPrefix(here, "http:"), "/")
		pairs = append(pairs, host, local)
	}
	r.there = strings.NewReplacer(pairs...)
	slices.Reverse(pairs)
	r.back = strings.NewReplacer(pairs...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ODARCHIVE_") {
			r.env = append(r.env, v)
		}
	}
	r.env = append(r.env, "ODARCHIVE_ALLOW_PRIVATE_HOSTS=true", "ODARCHIVE_HOST_DELAY=1ms", "ODARCHIVE_LOG_LEVEL=error", "ODARCHIVE_LISTEN=127.0.0.1:"+port, "HOME="+r.dir)
	if !slices.Contains(startsEmpty, p.Path) {
		r.env = append(r.env, "ODARCHIVE_BASE=http://localhost:"+port+"/")
		if err := os.CopyFS(filepath.Join(r.dir, "odarchive-data"), os.DirFS(from.data)); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(p.Source, "sh background") { // whose server has another address than the sample archive
			var out bytes.Buffer
			if status := run(t.Context(), []string{"rebase", "--data", filepath.Join(r.dir, "odarchive-data"), "--base", "http://localhost:" + port + "/", "--log-level", "error"}, nil, &out, &out); status != 0 {
				t.Fatal(out.String())
			}
		}
	}
	for _, b := range p.Code() {
		r.block(b)
		if t.Failed() {
			return
		}
	}
}

func (r *reading) block(b docs.Code) {
	r.t.Helper()
	text := r.there.Replace(b.Text)
	var err error
	switch {
	case b.Language == "text" && b.Use == "":
		r.compare(b.Text)
	case b.Language == "sh" && b.Use == "elsewhere":
		for line := range strings.Lines(b.Text) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word != "" && word[0] != '#' && !slices.Contains(elsewhere, word) {
				r.t.Errorf("%s: only commands that begin with one of %v are left out", line, elsewhere)
			}
		}
	case b.Language == "sh" && strings.HasPrefix(b.Use, "service"):
	case b.Language == "sh" && b.Use == "background":
		r.start(text)
	case b.Language == "sh":
		if r.alive != nil && r.output == nil {
			r.compare("") // until it serves
		}
		err = r.run(nil, "sh", "-ec", text)
		if (err != nil) != (b.Use == "fails") {
			r.t.Errorf("%s\n%v\n%s", text, err, r.output)
		}
	case b.Language == "sparql" && b.Use == "update":
		if err := r.run(nil, "odarchive", "update", text); err != nil {
			r.t.Errorf("%s\n%v\n%s", text, err, r.output)
		}
	case b.Language == "sparql" && b.Use == "":
		if err := r.run(nil, "odarchive", "query", "--format", "csv", text); err != nil || bytes.Count(r.output, []byte("\n")) < 2 {
			r.t.Errorf("%s\n%v, and no solution\n%s", text, err, r.output)
		}
	case interpreters[b.Language] != nil:
		command := interpreters[b.Language]
		if _, err := exec.LookPath(command[0]); err != nil {
			r.t.Logf("left out: %s is not installed", command[0])
			r.output = nil
			return
		}
		if err := r.run(strings.NewReader(text), command[0], command[1:]...); err != nil {
			r.t.Errorf("%s\n%v\n%s", text, err, r.output)
		}
	case b.Use != "":
		if err := os.WriteFile(filepath.Join(r.dir, b.Use), []byte(text), 0o600); err != nil {
			r.t.Error(err)
		}
	case !slices.Contains(unread, b.Language):
		r.t.Errorf("no test knows what a block of %q is", b.Language)
	}
}

// run runs a command to its end and keeps its output.
func (r *reading) run(stdin io.Reader, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), pageTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = r.dir, r.env, stdin
	out, err := cmd.CombinedOutput()
	r.output = append(out, '\n') // so that it is not nil
	return err
}

// start runs a command until the end of the page.
func (r *reading) start(text string) {
	if r.alive != nil {
		r.alive.stop(r.t)
	}
	job := &running{cmd: exec.Command("sh", "-c", "exec "+strings.TrimSpace(text)), done: make(chan struct{})}
	job.cmd.Dir, job.cmd.Env, job.cmd.Stdout, job.cmd.Stderr = r.dir, r.env, job, job
	if err := job.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		_ = job.cmd.Wait() // it ends by a signal
		close(job.done)
	}()
	r.t.Cleanup(func() { job.stop(r.t) })
	r.alive, r.output = job, nil
}

// stop interrupts the command and waits for its end.
func (r *running) stop(t *testing.T) {
	_ = r.cmd.Process.Signal(os.Interrupt) // it may have ended
	select {
	case <-r.done:
	case <-time.After(pageTime):
		t.Errorf("%s: interrupted, it did not end\n%s", r.cmd, r.text())
		_ = r.cmd.Process.Kill()
		<-r.done
	}
}

// compare compares the output of the last block with what the page shows. If that block goes on running, it waits for
// the output, and then until the server answers.
func (r *reading) compare(want string) {
	r.t.Helper()
	pattern := outputPattern(want)
	if r.alive == nil || r.output != nil {
		if r.output != nil && !pattern.MatchString(r.seen(r.output)) {
			r.t.Errorf("the output is\n%s\nand the page says\n%s", r.seen(r.output), want)
		}
		return
	}
	deadline := time.Now().Add(pageTime)
	ready := ""
	for _, v := range r.env {
		if listen, ok := strings.CutPrefix(v, "ODARCHIVE_LISTEN="); ok {
			ready = "http://" + listen + "/readyz"
		}
	}
	for time.Now().Before(deadline) {
		if text := r.seen(r.alive.text()); want == "" || pattern.MatchString(text) {
			if res, err := http.Get(ready); err == nil {
				res.Body.Close()
				if res.StatusCode == http.StatusOK {
					r.output = []byte("\n")
					return
				}
			}
		}
		select {
		case <-r.alive.done:
			r.t.Fatalf("the command has ended\n%s", r.alive.text())
		case <-time.After(20 * time.Millisecond):
		}
	}
	r.t.Errorf("the output is\n%s\nand the page says\n%s", r.seen(r.alive.text()), want)
}

// seen returns an output as the page would show it.
func (r *reading) seen(out []byte) string {
	var lines []string
	for line := range strings.Lines(r.back.Replace(string(out))) {
		lines = append(lines, strings.TrimRight(line, " \r\n\t"))
	}
	return strings.TrimSpace(strings.Join(lines, "\n")) + "\n"
}

// outputPattern returns the expression for an output in which … stands for anything.
func outputPattern(want string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?s)^`)
	for line := range strings.Lines(strings.TrimSpace(want) + "\n") {
		line = strings.TrimRight(line, " \n")
		if line == "…" {
			b.WriteString(`.*?`)
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", `[^\n]*`) + `\n`)
	}
	b.WriteString(`$`)
	return regexp.MustCompile(b.String())
}

func TestAnOutputIsComparedWithWhatAPageShows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want, out string
		is        bool
	}{
		{"a\nb\n", "a\nb\n", true}, {"a\n…\nd\n", "a\nb\nc\nd\n", true}, {"a\n…\nd\n", "a\nd\n", true}, {"a …\n", "a b\n", true},
		{"a …\n", "a b\nc\n", false}, {"a\n", "ab\n", false}, {"…\n", "", true}, {"a.c\n", "abc\n", false},
	} {
		if got := outputPattern(c.want).MatchString(c.out); got != c.is {
			t.Errorf("%q shown for %q: %v", c.want, c.out, got)
		}
	}
}

func TestEveryTopicOfTheListIsPrinted(t *testing.T) {
	t.Parallel()
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range library.Pages()[1:] {
		var out, errs bytes.Buffer
		if status := run(t.Context(), []string{"docs", p.Path}, nil, &out, &errs); status != 0 || out.String() != p.Source {
			t.Errorf("docs %s: exit status %d,\n%s", p.Path, status, errs.String())
		}
	}
	for _, c := range []struct {
		args   []string
		status int
	}{{[]string{"docs"}, 0}, {[]string{"docs", "--json"}, 0}, {[]string{"docs", "no-such-page"}, 1}, {[]string{"docs", "a", "b"}, 2}, {[]string{"docs", "--search", "robots.txt"}, 0}, {[]string{"docs", "--search", "qqqqq"}, 1}, {[]string{"docs", "tutorial", "--search", "x"}, 2}} {
		var out, errs bytes.Buffer
		if status := run(t.Context(), c.args, nil, &out, &errs); status != c.status {
			t.Errorf("%v: exit status %d\n%s", c.args, status, errs.String())
		}
	}
}
