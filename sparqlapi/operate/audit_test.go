package operate_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"odarchive/sparqlapi/operate"
	"odarchive/triplestore/disk"
	"odarchive/triplestore/disk/disktest"
)

func open(t *testing.T, dir string, o operate.AuditOptions) *operate.AuditLog {
	t.Helper()
	l, err := operate.OpenAudit(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// act records a request with an end.
func act(t *testing.T, l *operate.AuditLog, who, body string, status int) {
	t.Helper()
	r := httptest.NewRequest("POST", "/crawl/drop?x=1", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r, a := operate.WithAct(l, r, operate.AuditLine{Who: who, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery})
	if err := operate.BeginAct(r.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Fatal(err)
	}
	if err := a.End(status); err != nil {
		t.Fatal(err)
	}
}

func sound(t *testing.T, fsys disk.FS, dir string, lines int) {
	t.Helper()
	if r, err := operate.VerifyAudit(fsys, dir); err != nil || len(r.Faults) > 0 || lines >= 0 && r.Lines != lines {
		t.Fatalf("%+v, %v; want %d lines", r, err, lines)
	}
}

func TestRequestsAreListedWithWhoAskedAndHowItEnded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, operate.AuditOptions{})
	act(t, l, "a", `{"targets":["x"]}`, 200)
	act(t, l, "b", `token=abc&x=1`, 400)
	r, _ := operate.WithAct(l, httptest.NewRequest("POST", "/backup", nil), operate.AuditLine{Who: "c"})
	if err := operate.BeginAct(r.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	unasked, act := operate.WithAct(l, httptest.NewRequest("POST", "/sparql", nil), operate.AuditLine{Who: "e"}) // only reads
	if err := act.End(200); err != nil || unasked == nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	list, err := operate.LastAct(disk.OS{}, dir, 10, 0)
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	if e := list[0]; e.Who != "d" || e.Ended {
		t.Errorf("one without an end: %+v", e)
	}
	if e := list[1]; e.Who != "b" || e.Status != 400 || e.Body != "token=-&x=1" || !e.Ended {
		t.Errorf("a secret in a body: %+v", e)
	}
	if e := list[2]; e.Who != "a" || e.Status != 200 || e.Body != `{"targets":["x"]}` || e.Path != "/crawl/drop" || e.Query != "x=1" {
		t.Errorf("%+v", e)
	}
	if list, err := operate.LastAct(disk.OS{}, dir, 1, list[1].N); err != nil || len(list) != 1 || list[0].Who != "a" {
		t.Errorf("before the second: %+v, %v", list, err)
	}
	sound(t, disk.OS{}, dir, 5)
	for _, name := range []string{dir, filepath.Join(dir, "00000001.jsonl")} {
		if info, err := os.Stat(name); err != nil || name != dir && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestFilesAreRotatedAndTheChainGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 5 { // each time continuing where the last one ended
		l := open(t, dir, operate.AuditOptions{MaxFile: 1000, MaxFiles: 4})
		for range 20 {
			act(t, l, "a", "{}", 200)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Errorf("%d files, %v", len(files), err)
	}
	sound(t, disk.OS{}, dir, -1)
	list, err := operate.LastAct(disk.OS{}, dir, 3, 0)
	if err != nil || len(list) != 3 || list[0].N != 199 || !list[0].Ended {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestLinesThatWereChangedOrRemovedAreNamed(t *testing.T) {
	t.Parallel()
	fresh := func() (dir, file string, lines []string) {
		dir = t.TempDir()
		l := open(t, dir, operate.AuditOptions{})
		for i := range 5 {
			act(t, l, fmt.Sprint("a", i), "{}", 200)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		file = filepath.Join(dir, "00000001.jsonl")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return dir, file, strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	}
	for name, change := range map[string]func([]string) []string{
		"changed":  func(l []string) []string { l[2] = strings.Replace(l[2], "a1", "zz", 1); return l },
		"removed":  func(l []string) []string { return append(l[:3:3], l[4:]...) },
		"swapped":  func(l []string) []string { l[2], l[4] = l[4], l[2]; return l },
		"repeated": func(l []string) []string { return append(l[:4:4], l[3:]...) },
		"garbage":  func(l []string) []string { l[5] = "\x00\xff\n"; return l },
	} {
		dir, file, lines := fresh()
		if err := os.WriteFile(file, []byte(strings.Join(change(lines), "")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := operate.VerifyAudit(disk.OS{}, dir); err != nil || len(r.Faults) == 0 {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		l := open(t, dir, operate.AuditOptions{}) // a server still starts, and goes on
		act(t, l, "later", "{}", 200)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if list, err := operate.LastAct(disk.OS{}, dir, 1, 0); err != nil || len(list) != 1 || list[0].Who != "later" {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}

func TestWhatBeganIsKeptWhereverThePowerFails(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		crash := disktest.NewCrash(seed)
		crash.CutAt(int(seed) * 2)
		var begun []string
		l, err := operate.OpenAudit("/data/audit", operate.AuditOptions{FS: crash, MaxFile: 700, MaxFiles: 100})
		for i := 0; err == nil && i < 12; i++ {
			who := fmt.Sprint("a", i)
			r, a := operate.WithAct(l, httptest.NewRequest("POST", "/x", nil), operate.AuditLine{Who: who})
			if err = operate.BeginAct(r.Context(), ""); err == nil {
				begun = append(begun, who)
				_ = a.End(200) // may fail: the power is off
			}
		}
		after := crash.Crash()
		again, err := operate.OpenAudit("/data/audit", operate.AuditOptions{FS: after, MaxFile: 700, MaxFiles: 100})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		list, err := operate.LastAct(after, "/data/audit", 1000, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]bool{}
		for _, e := range list {
			found[e.Who] = true
		}
		for _, who := range begun {
			if !found[who] {
				t.Errorf("seed %d: %s began and is not in the log", seed, who)
			}
		}
		r, a := operate.WithAct(again, httptest.NewRequest("POST", "/x", nil), operate.AuditLine{Who: "later"})
		if err := errors.Join(operate.BeginAct(r.Context(), ""), a.End(200)); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		sound(t, after, "/data/audit", -1)
	}
}

// full is a file system that is full from a moment on.
type full struct {
	disk.FS
	is *bool
}

type fullFile struct {
	disk.File
	is *bool
}

func (f full) OpenFile(name string, flag int, perm fs.FileMode) (disk.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	return fullFile{file, f.is}, err
}

func (f fullFile) Write(p []byte) (int, error) {
	if *f.is {
		n, _ := f.File.Write(p[:len(p)/2])
		return n, syscall.ENOSPC
	}
	return f.File.Write(p)
}

func TestOnAFullDiskNothingIsDoneThatCannotBeRecorded(t *testing.T) {
	t.Parallel()
	isFull, dir := false, t.TempDir()
	l := open(t, dir, operate.AuditOptions{FS: full{disk.OS{}, &isFull}})
	act(t, l, "before", "{}", 200)
	isFull = true
	r, a := operate.WithAct(l, httptest.NewRequest("POST", "/x", nil), operate.AuditLine{Who: "never"})
	err := operate.BeginAct(r.Context(), "")
	if err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("Begin: %v", err)
	}
	if err := a.End(507); err != nil {
		t.Errorf("the end of what never began: %v", err)
	}
	isFull = false
	act(t, l, "after", "{}", 200)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	sound(t, disk.OS{}, dir, 4)
	if err := l.Append(&operate.AuditLine{}); err == nil {
		t.Error("a closed log takes lines")
	}
}

func TestManyRequestsAtATime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, operate.AuditOptions{MaxFile: 4000, MaxFiles: 1000})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 30 {
				r, a := operate.WithAct(l, httptest.NewRequest("POST", "/x", nil), operate.AuditLine{Who: "a"})
				if err := errors.Join(operate.BeginAct(r.Context(), ""), a.End(200)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	sound(t, disk.OS{}, dir, 480)
}

func TestHostileRequestsMakeOrdinaryLines(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := open(t, dir, operate.AuditOptions{Now: func() time.Time { return time.Unix(0, 0) }})
	evil := strings.Repeat("\n\"}{\x00\u2028\xff<", 1000)
	if err := l.Append(&operate.AuditLine{Who: evil, Path: evil, Query: evil, Method: evil, From: evil, Request: evil, Body: evil,
		Note: evil}); err != nil {
		t.Fatal(err)
	}
	act(t, l, "a", evil, http.StatusOK)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "00000001.jsonl"))
	if err != nil || strings.Count(string(text), "\n") != 3 || len(text) > 128<<10 {
		t.Errorf("%d bytes with %d line ends, %v", len(text), strings.Count(string(text), "\n"), err)
	}
	for line := range strings.Lines(string(text)) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %.80q", line)
		}
	}
	sound(t, disk.OS{}, dir, 3)
}

func TestRedact(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"": "", "a=b": "a=b", "secret=x": "secret=-", "a;SECRET=x;b": "a;SECRET=-;b",
		"token=a&token=b": "token=-&token=-", "secret=": "secret=-", "secret=secret=x": "secret=-"} {
		if got := operate.Redact(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
