package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a new pseudo-terminal.
func openTerminal() (control, terminal *os.File, err error) {
	if control, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(control.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(control.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(control.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 25, Col: 100})
	}
	if err == nil {
		terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		control.Close()
	}
	return control, terminal, err
}

// cmdOnTerminal implements "terminal COMMAND...", which runs a command with a terminal of 100 columns as its output,
// and prints what it wrote there.
func cmdOnTerminal(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: [!] terminal COMMAND...")
	}
	control, terminal, err := openTerminal()
	ts.Check(err)
	defer control.Close()
	name, err := exec.LookPath(args[0])
	ts.Check(err)
	cmd := exec.Command(name, args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), terminal, terminal
	for _, name := range []string{"ODARCHIVE_DATA", "ODARCHIVE_ALLOW_PRIVATE_HOSTS", "ODARCHIVE_HOST_DELAY", "PATH", "HOME", "TMPDIR",
		"WORK"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(cmd.Start())
	ts.Check(terminal.Close())
	var seen bytes.Buffer
	_, _ = io.Copy(&seen, control) // ends with an error when the last process has closed the terminal
	err = cmd.Wait()
	ts.Stdout().Write(bytes.ReplaceAll(seen.Bytes(), []byte("\r\n"), []byte("\n")))
	if (err != nil) != neg {
		ts.Fatalf("%v: %v\n%s", args, err, &seen)
	}
}

func TestALineOfProgressIsNeverMixedWithWhatIsPrinted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := &screen{out: &out, width: func() int { return 12 }}
	w := s.over(&out)
	s.show("5 of 9 files, and more")
	io.WriteString(w, "begun")
	s.show("6 of 9 files")
	io.WriteString(w, " and ended\n")
	s.show("7 files")
	s.show("")
	const want = "5 of 9 fil…\r           \rbegun and ended\n7 files\r       \r"
	if out.String() != want {
		t.Errorf("%q\nwant %q", out.String(), want)
	}
}
