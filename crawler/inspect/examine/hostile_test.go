package examine

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/apart"
	"odarchive/testdata/shared"
)

// The files of five.py ended the program, each by itself, when it read them itself. With ODARCHIVE_HOSTILE=all ("make
// hostile") the other generators' files are tried, too: there are 186, and some need minutes.
func TestABombEndsAChildAtMostAndHasASentence(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3, which makes the files, is absent")
	}
	dir := t.TempDir()
	generators, limit := []string{"five.py"}, 10*time.Second
	if os.Getenv("ODARCHIVE_HOSTILE") == "all" {
		generators, limit = append(generators, "bombs.py", "crcbombs.py"), 30*time.Second
	}
	for _, g := range generators {
		to := filepath.Join(dir, g)
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("python3", shared.Bench(t, "hostile-files", g), to).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	p := testPool(t)
	verdicts, ended := 0, map[string]int{}
	var most uint64
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if why := survives(t, p, name, limit); why != "" {
			ended[why]++
			t.Logf("%s: %s", e.Name(), why)
		} else {
			verdicts++
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.Sys-m.HeapReleased)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d ended with a reader's verdict, others by %v; this process had at most %d MiB", verdicts, ended, most>>20)
	if most > 400<<20 {
		t.Errorf("this process had %d MiB", most>>20)
	}
	if got := examined(t, p, "a.csv", []byte("a,b\n1,2\n")); len(got) < 3 {
		t.Errorf("the next document: %q", got)
	}
}

// survives examines a file and reads the rows of its first table. It returns why a child ended, "" if none did.
func survives(t *testing.T, p *Pool, name string, limit time.Duration) string {
	body, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	info, err := body.Stat()
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.Open(t.Context(), Crawl, About{}, Body{Size: info.Size(), R: body})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	file := File{Name: filepath.Base(name), Time: limit}
	if file.Found, err = d.Detect(t.Context(), file); err != nil || file.Found.Type == "" {
		t.Errorf("%s: its type is not known: %v", name, err)
	}
	inside, err := d.Profile(t.Context(), file)
	if err == nil && inside.Inside != nil && len(inside.Inside.Tables) > 0 {
		rows := 0
		table := Table{Type: file.Found.Type, Charset: file.Found.Charset, Profile: inside.Inside.Tables[0]}
		enough := errors.New("enough")
		err = d.EachRow(t.Context(), file, table, inspect.Marks{}, func([][]byte) error {
			if rows++; rows == 1000 {
				return enough
			}
			return nil
		})
		if _, died := errors.AsType[*apart.Death](err); !died {
			err = nil // the reader's verdict
		}
	}
	for _, m := range memberOf(inside.Inside) {
		if err == nil {
			if err = d.Extract(t.Context(), file, m, io.Discard); err != nil {
				if _, died := errors.AsType[*apart.Death](err); !died {
					err = nil
				}
			}
		}
	}
	if err == nil {
		return ""
	}
	death, died := errors.AsType[*apart.Death](err)
	if !died || !death.Blame || !strings.HasPrefix(err.Error(), "examining it took ") {
		t.Errorf("%s: %v", name, err)
	}
	return err.Error()
}

func memberOf(in *inspect.Inside) []string {
	if in == nil || len(in.Members) == 0 {
		return nil
	}
	return []string{in.Members[0].Path}
}
