package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"odarchive/ui/docs"
)

// The commands of the documentation run here as a reader types them: after the tutorial, in a copy of the archive that
// it leaves, with no text replaced and nothing set but HOME and PATH. Each page has a network of its own, so that all
// can use port 8080; where the system does not permit that, they run one after another. The first word after the fence
// says what a block is, the second how it is used:
//
//	sh             runs to its end, with exit status 0, in a shell that stops at the first error; each 'odarchive
//	    query' whose
//	               result it prints has a solution
//	sh empty       likewise, and there is no solution
//	sh background  goes on running until the end of the page; the next block waits until its server answers
//	sh ended       runs after the command in the background was interrupted
//	sh fails       ends with another exit status
//	sh elsewhere   does not run here: it installs software, or needs root (elsewhere lists the words it may begin
//	    with)
//	sh service     runs in the test of the packages (cmd/deploy/release), which has a machine for it
//	text           is the output of the block before; … stands for anything, alone on a line for any number of lines
//	text later     is what the command in the background has printed some time later
//	sparql         is a query with at least one solution; with "empty", one without; with "update", an update
//	python, r      are programs; they are left out where the interpreter is not installed
//	toml NAME      is written to the file NAME, as csv, json, turtle and sparql with a name are
//	ini, nginx, …  are not looked at

// elsewhere are the first words of commands that do not run here.
var elsewhere = []string{"sudo", "make", "systemctl", "docker", "ssh", "git", "tar"}

// unread are languages of blocks that are only looked at by people.
var unread = []string{"console", "ini", "nginx", "caddy", "html", "http", "yaml", "javascript", "text"}

// interpreters of the blocks in other languages.
var interpreters = map[string][]string{"python": {"python3"}, "r": {"Rscript", "-"}}

const pageTime = 4 * time.Minute // of one block, on a slow machine

// ready is where the servers of pages say that they are ready.
const ready = "http://localhost:8080/readyz"

// reading is a page that is being followed.
type reading struct {
	t      *testing.T
	dir    string
	ran    bool   // a block has run
	left   bool   // the last block was left out, for want of an interpreter
	output []byte // of the last block: what it printed on standard output, and if it failed, also on standard error
	alive  *running
	seen   bool // the server of alive has answered
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
	if path := os.Getenv(pageVariable); path != "" { // this process has a network of its own
		if err := upLoopback(); err != nil {
			t.Fatal(err)
		}
		follow(t, path, os.Getenv(archiveVariable))
		return
	}
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	own := exec.Command("true")
	isolate(own)
	isolated := own.Run() == nil
	if l, err := net.Listen("tcp", "127.0.0.1:8080"); !isolated && err != nil {
		t.Skip("pages can have no network of their own here, and port 8080 is in use")
	} else if err == nil {
		l.Close()
	}
	archive := filepath.Join(t.TempDir(), "odarchive-data")
	one := func(t *testing.T, path string) {
		if !isolated {
			follow(t, path, archive)
			return
		}
		cmd := exec.Command(os.Args[0], "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$", "-test.timeout=20m")
		cmd.Env = append(os.Environ(), pageVariable+"="+path, archiveVariable+"="+archive)
		isolate(cmd)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if !t.Run("tutorial", func(t *testing.T) { one(t, "tutorial") }) {
		return
	}
	for _, p := range library.Pages() {
		if p.Group == "" || p.Path == "tutorial" || len(p.Code()) == 0 || strings.HasPrefix(p.Path, "reference/commands/") {
			continue // the reference of commands is made of their help, whose examples have a test of their own
		}
		t.Run(strings.ReplaceAll(p.Path, "/", "-"), func(t *testing.T) {
			if isolated {
				t.Parallel()
			}
			one(t, p.Path)
		})
	}
}

// What tells the process of a page which one it is, and where the archive of the tutorial is.
const (
	pageVariable    = "ODARCHIVE_TEST_PAGE"
	archiveVariable = "ODARCHIVE_TEST_ARCHIVE"
)

// follow runs the blocks of a page in a new folder, with a copy of the archive that the tutorial has left. The tutorial
// leaves it.
func follow(t *testing.T, path, archive string) {
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	r := &reading{t: t, dir: t.TempDir()}
	here := filepath.Join(r.dir, "odarchive-data")
	if path != "tutorial" {
		if err := os.CopyFS(here, os.DirFS(archive)); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range library.Page(path).Code() {
		if r.block(b); t.Failed() {
			return
		}
	}
	r.end()
	if path != "tutorial" { // the next page begins where this one has ended
		r.usable()
	}
	if path == "tutorial" {
		if err := os.Rename(here, archive); err != nil {
			t.Fatal(err)
		}
	}
}

// usable fails unless the archive of the reader can still be read under the address that the tutorial has, and be
// written.
func (r *reading) usable() {
	r.t.Helper()
	for _, script := range []string{
		`odarchive host set after.example note=read`, `odarchive crawl --once --url http://city.example/environment/trees.csv`,
		`odarchive get http://city.example/environment/trees.csv -o /dev/null`,
		`odarchive query 'SELECT ?v { <http://city.example/environment/trees.csv> dct:hasVersion ` +
			`?v }' | grep -q '<*http://localhost:8080/'`,
	} {
		if err := r.run(nil, "sh", "-ec", script); err != nil {
			r.t.Errorf("after the page: %s\n%v\n%s", script, err, r.output)
		}
	}
}

func (r *reading) block(b docs.Code) {
	r.t.Helper()
	var err error
	switch {
	case b.Language == "text" && b.Use == "":
		r.compare(b.Text)
	case b.Language == "text" && b.Use == "later":
		r.await(b.Text)
	case b.Language == "sh" && b.Use == "elsewhere":
		for line := range strings.Lines(b.Text) {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word != "" && word[0] != '#' && !slices.Contains(elsewhere, word) {
				r.t.Errorf("%s: only commands that begin with one of %v are left out", line, elsewhere)
			}
		}
	case b.Language == "sh" && strings.HasPrefix(b.Use, "service"):
	case b.Language == "sh" && b.Use == "background":
		r.start(b.Text)
	case b.Language == "sh":
		if b.Use == "ended" {
			r.end()
		}
		r.await("")
		err = r.run(nil, "sh", "-ec", b.Text)
		if (err != nil) != (b.Use == "fails") {
			r.t.Errorf("%s\n%v\n%s", b.Text, err, r.output)
		}
		if none, some := solutions(b.Text, string(r.output)); none && b.Use != "empty" || some && b.Use == "empty" {
			r.t.Errorf("%s\nsome query has no solution: %v, some query has one: %v\n%s", b.Text, none, some, r.output)
		}
	case b.Language == "sparql" && b.Use == "update":
		if err := r.run(nil, "odarchive", "update", b.Text); err != nil {
			r.t.Errorf("%s\n%v\n%s", b.Text, err, r.output)
		}
	case b.Language == "sparql" && (b.Use == "" || b.Use == "empty"):
		err := r.run(nil, "odarchive", "query", "--format", "csv", b.Text)
		if rows := bytes.Count(r.output, []byte("\n")) - 1; err != nil || (rows < 1) != (b.Use == "empty") {
			r.t.Errorf("%s\n%v, %d solutions\n%s", b.Text, err, rows, r.output)
		}
	case interpreters[b.Language] != nil:
		command := interpreters[b.Language]
		if _, err := exec.LookPath(command[0]); err != nil {
			r.t.Logf("%s is not installed", command[0])
			r.ran, r.left = false, true
			return
		}
		r.await("")
		if err := r.run(strings.NewReader(b.Text), command[0], command[1:]...); err != nil {
			r.t.Errorf("%s\n%v\n%s", b.Text, err, r.output)
		}
	case b.Use != "":
		if err := os.WriteFile(filepath.Join(r.dir, b.Use), []byte(b.Text), 0o600); err != nil {
			r.t.Error(err)
		}
	case !slices.Contains(unread, b.Language):
		r.t.Errorf("no test knows what a block of %q is", b.Language)
	}
}

// tableRule is the line below the head of a table of solutions.
var tableRule = regexp.MustCompile(`(?m)^-[-+]*$`)

// solutions reports whether some query of a script has no solution, and whether some query has one. It looks at the
// tables that the script printed.
func solutions(script, output string) (none, some bool) {
	tables := tableRule.FindAllStringIndex(output, -1)
	for _, at := range tables {
		if row := strings.TrimPrefix(output[at[1]:], "\n"); row == "" || row[0] == '\n' {
			none = true
		} else {
			some = true
		}
	}
	queries := 0
	for _, command := range strings.Split(script, "odarchive query")[1:] {
		if !strings.HasPrefix(command, " --format") && !strings.HasPrefix(command, " --explain") {
			queries++
		}
	}
	return none || len(tables) < queries, some
}

// run runs a command to its end and keeps its output.
func (r *reading) run(stdin io.Reader, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), pageTime)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.dir, r.env(), stdin, &out, &errs
	err := cmd.Run()
	r.ran, r.left = true, false
	if r.output = out.Bytes(); err != nil {
		r.output = append(r.output, errs.Bytes()...)
	}
	return err
}

// env is what every reader's shell has set.
func (r *reading) env() []string { return []string{"HOME=" + r.dir, "PATH=" + os.Getenv("PATH")} }

// start runs a command until the end of the page.
func (r *reading) start(text string) {
	r.end()
	job := &running{cmd: exec.Command("sh", "-c", "exec "+strings.TrimSpace(text)), done: make(chan struct{})}
	job.cmd.Dir, job.cmd.Env, job.cmd.Stdout, job.cmd.Stderr = r.dir, r.env(), job, job
	if err := job.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() {
		_ = job.cmd.Wait() // it ends by a signal
		close(job.done)
	}()
	r.t.Cleanup(func() { job.stop(r.t) })
	r.alive, r.ran, r.seen = job, false, false
}

// end ends the command in the background, if there is one.
func (r *reading) end() {
	if r.alive != nil {
		r.alive.stop(r.t)
		r.alive = nil
	}
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
// the output.
func (r *reading) compare(want string) {
	r.t.Helper()
	switch {
	case r.alive != nil && !r.ran:
		r.await(want)
	case !r.ran && !r.left:
		r.t.Errorf("no block has printed\n%s", want)
	case r.ran && !outputPattern(want).MatchString(shown(r.output)):
		r.t.Errorf("the output is\n%s\nand the page says\n%s", shown(r.output), want)
	}
}

// await waits until the command in the background has printed what the page shows, "" for anything, and its server
// answers.
func (r *reading) await(want string) {
	r.t.Helper()
	if r.alive == nil || want == "" && r.seen {
		return
	}
	pattern := outputPattern(want)
	for deadline := time.Now().Add(pageTime); time.Now().Before(deadline); {
		if want == "" || pattern.MatchString(shown(r.alive.text())) {
			if res, err := http.Get(ready); err == nil {
				res.Body.Close()
				if r.seen = res.StatusCode == http.StatusOK; r.seen {
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
	r.t.Errorf("the output is\n%s\nand the page says\n%s", shown(r.alive.text()), want)
}

// shown returns an output as a page would show it.
func shown(out []byte) string {
	var lines []string
	for line := range strings.Lines(string(out)) {
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

// A reader who types one page after the other has one folder for all.
func TestNoTwoPagesMakeTheSameDirectory(t *testing.T) {
	t.Parallel()
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	made := regexp.MustCompile(`odarchive (?:restore|import) .*--data (\S+)`)
	by := map[string]string{}
	for _, p := range library.Pages() {
		if strings.HasPrefix(p.Path, "reference/") {
			continue
		}
		for _, b := range p.Code() {
			for _, m := range made.FindAllStringSubmatch(b.Text, -1) {
				if other := by[m[1]]; other != "" && other != p.Path {
					t.Errorf("%s and %s make %s", other, p.Path, m[1])
				}
				by[m[1]] = p.Path
			}
		}
	}
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

func TestAQueryWithoutASolutionIsNoticed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		script, out string
		none, some  bool
	}{
		{"odarchive query 'A'", "?a | ?b\n---+---\n1  | 2\n", false, true},
		{"odarchive query 'A'", "?a\n--\n", true, false},
		{"odarchive query 'A'", "", true, false},
		{"odarchive query 'A'\nodarchive query 'B'", "?a\n--\n1\n?b\n--\n", true, true},
		{"odarchive query 'A'\nodarchive query 'B'", "?a\n--\n\n?b\n--\n1\n", true, true},
		{"n=$(odarchive query --format csv 'A')\nodarchive get \"$n\"", "bytes\n", false, false},
		{"odarchive stats", "versions 3\n", false, false},
	} {
		if none, some := solutions(c.script, c.out); none != c.none || some != c.some {
			t.Errorf("%q printed %q: none %v, some %v", c.script, c.out, none, some)
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
	}{{[]string{"docs"}, 0}, {[]string{"docs", "--json"}, 0}, {[]string{"docs", "no-such-page"}, 1}, {[]string{"docs", "a", "b"}, 2},
		{[]string{"docs", "--search", "robots.txt"}, 0}, {[]string{"docs", "--search", "qqqqq"}, 1},
		{[]string{"docs", "tutorial", "--search", "x"}, 2}} {
		var out, errs bytes.Buffer
		if status := run(t.Context(), c.args, nil, &out, &errs); status != c.status {
			t.Errorf("%v: exit status %d\n%s", c.args, status, errs.String())
		}
	}
}
