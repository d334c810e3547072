package listen

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

func itoa(n int) string { return strconv.Itoa(n) }

// passAndRun runs the test again in a process that gets two sockets from descriptor 3 on, and calls f with the address
// of the first meanwhile.
func passAndRun(t *testing.T, f func(address string)) {
	t.Helper()
	var files []*os.File
	var address string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if address == "" {
			address = l.Addr().String()
		}
		file, err := l.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
		defer file.Close()
		files = append(files, file)
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	again.Env = append(os.Environ(), "ODARCHIVE_TEST_PASSED=1", "LISTEN_FDS=2", "LISTEN_FDNAMES=web:more")
	again.ExtraFiles = files
	out := make(chan string, 1)
	go func() {
		text, err := again.CombinedOutput()
		if err != nil {
			text = append(text, err.Error()...)
			out <- string(text)
		}
		close(out)
	}()
	f(address)
	if text := <-out; text != "" {
		t.Error(text)
	}
}
