package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sample is a module with tests of every end.
var sample = map[string]string{
	"go.mod": "module sample\n\ngo 1.26\n",
	"a/a_test.go": `package a

import "testing"

func TestPasses(t *testing.T)  { t.Log("nobody wants to know") }
func TestCurl(t *testing.T)    { t.Skip("curl is not installed") }
func TestCurlToo(t *testing.T) { t.Run("once", func(t *testing.T) { t.Skip("curl is not installed\nreally") }) }
func TestChild(t *testing.T)   { t.Skip("only as a child process") }
func TestPart(t *testing.T)    { t.Log("left out: unzip is not installed") }
`,
	"b/b_test.go": `package b

import "testing"

func TestPasses(t *testing.T) { t.Log("nobody wants to know") }
func TestFails(t *testing.T)  { t.Run("once", func(t *testing.T) { t.Error("one is not two") }) }
`,
	"c/c_test.go": "package c\n\nvar wrong int = \"a\"\n",
	"d/d_test.go": "package d\n\nimport \"testing\"\n\nfunc TestDies(t *testing.T) { panic(\"oh\") }\n",
	"e/e.go":      "package e\n",
}

func TestTheReportIsThatOfGoTestAndNamesWhatWasLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range sample {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "-count=1", "-p=1", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath", "GOPROXY=off")
	events, err := cmd.Output()
	if err == nil {
		t.Fatal("nothing failed")
	}
	var out strings.Builder
	r := newReport(&out)
	r.read(strings.NewReader(string(events)), false)
	r.close(2)
	text := regexp.MustCompile(`\d+\.\d+s`).ReplaceAllString(out.String(), "0.00s")
	for _, line := range []string{
		"ok  \tsample/a\t0.00s\n", "FAIL\tsample/b\t0.00s\n", "--- FAIL: TestFails/once (0.00s)\n", "b_test.go:6: one is not two\n",
		"c/c_test.go:3:17: cannot use \"a\"", "FAIL\tsample/c [build failed]\n", "panic: oh", "FAIL\tsample/d\t0.00s\n",
		"\nthe slowest packages, in seconds:\n",
		"\nleft out: curl is not installed (2 tests); unzip is not installed\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not there", line)
		}
	}
	for _, line := range []string{"nobody wants to know", "=== ", "--- PASS", "only as a child", "sample/e"} {
		if strings.Contains(text, line) {
			t.Errorf("%q is there", line)
		}
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
}

func TestWhatIsOnlyWithoutTheRaceDetectorIsRunAgain(t *testing.T) {
	t.Parallel()
	const events = `{"Action":"output","Package":"p","Test":"TestLong","Output":"    p_test.go:3: only without the race detector, which takes minutes\n"}
{"Action":"skip","Package":"p","Test":"TestLong"}
{"Action":"output","Package":"p","Test":"TestLonger","Output":"    p_test.go:9: only without the race detector\n"}
{"Action":"skip","Package":"p","Test":"TestLonger"}
{"Action":"pass","Package":"p"}
`
	r := newReport(&strings.Builder{})
	r.read(strings.NewReader(events), true)
	if all := r.onlyWithoutRace(); len(all) != 1 || all[0].pkg != "p" || all[0].pattern() != "^(TestLong|TestLonger)$" {
		t.Errorf("got %v", all)
	}
	r = newReport(&strings.Builder{})
	r.read(strings.NewReader(events), false)
	if all := r.onlyWithoutRace(); len(all) != 0 {
		t.Errorf("without the race detector, too: %v", all)
	}
}
