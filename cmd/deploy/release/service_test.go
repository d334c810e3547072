package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"odarchive/ui/docs"
)

// followService follows the page "Run it as a service" as somebody with a fresh machine and the packages in dir does:
// from there to a crawling archive behind nginx with TLS. testdata/machine.sh is the machine.
func followService(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"apt", "nginx", "openssl", "curl", "python3", "ip"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	library, err := docs.New()
	if err != nil {
		t.Fatal(err)
	}
	page := library.Page("howto/service")
	if page == nil {
		t.Fatal("there is no page howto/service")
	}
	script, err := os.ReadFile(filepath.Join("testdata", "machine.sh"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(script)
	for _, b := range page.Code() {
		block := strings.ReplaceAll(b.Text, "amd64", runtime.GOARCH)
		switch {
		case b.Language == "sh" && b.Use == "service":
			text += "\n" + block
		case b.Language == "sh" && b.Use == "service again": // waits for the crawl
			text += "\nblock() (\nset -e\n" + block + ")\nagain block\n"
		case b.Use != "":
			text += "\ncat >" + b.Use + " <<'END'\n" + block + "END\n"
		default:
			t.Errorf("nothing is done with\n%s", block)
		}
	}
	text += `
python3 -m zipfile -l tables.zip | grep trees
test -s /var/backups/odarchive/today.odab
again grep -q 'setting changed.*host-delay' /var/log/odarchive.log
kill "$(cat /run/odarchive.pid)"
`
	inCopy(t, dir, text)
}
