package apart

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// attack tries from inside of a child what a document that has taken it over would try, and returns what the system let
// it do.
func attack(j *Job) ([]byte, error) {
	server := os.Getppid()
	var done []string
	try := func(what string, err error) {
		if err == nil {
			done = append(done, what)
		}
	}
	file := func(name string, flags int) error {
		f, err := os.OpenFile(name, flags, 0o600)
		if err == nil {
			f.Close()
		}
		return err
	}
	errno := func(e syscall.Errno) error {
		if e == 0 {
			return nil
		}
		return e
	}
	raw := func(call uintptr, a, b, c uintptr) error {
		_, _, e := syscall.RawSyscall(call, a, b, c)
		return errno(e)
	}
	try("read a file", file("/etc/passwd", os.O_RDONLY))
	try("read its memory", file("/proc/self/mem", os.O_RDWR))
	try("write a file", file(string(j.Args)+"/made", os.O_CREATE|os.O_WRONLY))
	try("remove a file", os.Remove(string(j.Args)+"/there"))
	try("list a directory", func() error { _, err := os.ReadDir("/"); return err }())
	try("look at a file", func() error { _, err := os.Stat("/"); return err }())
	try("make a directory", os.Mkdir(string(j.Args)+"/d", 0o700))
	try("link", os.Symlink("/etc/passwd", string(j.Args)+"/l"))
	try("change a mode", os.Chmod(string(j.Args)+"/there", 0o777))
	try("connect", func() error { _, err := net.DialTimeout("tcp", "127.0.0.1:1", time.Second); return ifMade(err) }())
	try("make a socket", func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }())
	try("listen", func() error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err }())
	try("start a program", exec.Command("/bin/true").Start())
	try("fork", raw(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0))
	try("kill the server", raw(unix.SYS_KILL, uintptr(server), 0, 0))
	try("kill a thread of the server", raw(unix.SYS_TGKILL, uintptr(server), uintptr(server), 0))
	try("kill any thread", raw(unix.SYS_TKILL, uintptr(server), 0, 0))
	try("limit the server", unix.Prlimit(server, unix.RLIMIT_NOFILE, nil, &unix.Rlimit{}))
	try("raise its memory", unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}))
	try("have the kernel signal the server", func() error { _, err := unix.FcntlInt(0, unix.F_SETOWN, server); return err }())
	try("trace the server", unix.PtraceAttach(server))
	try("read the server's memory", raw(unix.SYS_PROCESS_VM_READV, uintptr(server), 0, 0))
	try("make a user namespace", unix.Unshare(unix.CLONE_NEWUSER))
	try("mount", unix.Mount("none", "/", "tmpfs", 0, ""))
	try("make a filter of its own", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	try("make an io_uring", raw(425, 1, 0, 0))
	try("load a BPF program", raw(unix.SYS_BPF, 0, 0, 0))
	try("make a file in memory", func() error { _, err := unix.MemfdCreate("x", 0); return err }())
	try("write to the document", func() error { _, err := unix.Pwrite(int(j.Bodies[0].file), []byte("x"), 0); return err }())
	try("shorten the document", unix.Ftruncate(int(j.Bodies[0].file), 0))
	signal.Reset(syscall.SIGXCPU)
	return []byte(strings.Join(done, ", ")), nil
}

// ifMade returns nil for a refused connection: it was tried.
func ifMade(err error) error {
	if err != nil && strings.Contains(err.Error(), "refused") {
		return nil
	}
	return err
}

func TestAChildThatWasTakenOverCanDoNothing(t *testing.T) {
	t.Parallel()
	if underRace {
		t.Skip("only without the race detector")
	}
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/there", make([]byte, maxInline+1), 0o600); err != nil {
		t.Fatal(err)
	}
	body, err := os.OpenFile(dir+"/there", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	p := testPool(t)
	answer, err := do(t, p, Task{Op: "attack", Args: []byte(dir)}, Body{maxInline + 1, body})
	if err != nil || len(answer) > 0 {
		t.Errorf("the child could %s; %v", answer, err)
	}
	if s, err := os.Stat(dir + "/there"); err != nil || s.Size() != maxInline+1 {
		t.Errorf("the document: %v, %v", s, err)
	}
	works(t, p)
}

// Each limit has to be there: the filter, for one, can hide that another one is missing.
func TestAChildHasEachOfItsLimits(t *testing.T) {
	t.Parallel()
	p := testPool(t)
	d, err := p.Open(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, err := d.Do(t.Context(), Task{Op: "echo", Time: 7 * time.Second}); err != nil {
		t.Fatal(err)
	}
	pid := d.c.cmd.Process.Pid
	want := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: maxFileSize, unix.RLIMIT_NOFILE: maxFiles}
	status := map[string]string{"NoNewPrivs": "1"}
	if !underRace {
		want[unix.RLIMIT_DATA] = testMemory + overhead
		status["Seccomp"] = "2"
	}
	for of, n := range want {
		var is unix.Rlimit
		if err := unix.Prlimit(pid, of, nil, &is); err != nil || is.Cur != n || is.Max != n {
			t.Errorf("limit %d: %+v, %v, want %d", of, is, err, n)
		}
	}
	var cpu unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_CPU, nil, &cpu); err != nil || cpu.Cur < 16 || cpu.Cur > 22 {
		t.Errorf("processor time: %+v, %v", cpu, err)
	}
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	if underRace {
		return
	}
	for name, value := range status {
		if !strings.Contains(string(raw), name+":\t"+value+"\n") {
			t.Errorf("%s is not %s", name, value)
		}
	}
	if raw, err = os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); err != nil || strings.Contains(string(raw), "HOME=") {
		t.Errorf("its environment: %q, %v", raw, err)
	}
}

// A child whose server was killed ends at once.
func TestNoChildOutlivesItsServer(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(program, "-test.run=^TestAServerForTheTestOfOrphans$")
	server.Env = append(os.Environ(), "APART_TEST_SERVER=1")
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanf(out, "child %d\n", &pid); err != nil {
		t.Fatal(err)
	}
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; {
		raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if strings.Contains(string(raw), ") Z ") {
			return // it ended, and nobody has waited for it
		}
		if time.Now().After(deadline) {
			t.Fatalf("the child lives on: %s", raw)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAServerForTheTestOfOrphans(t *testing.T) {
	if os.Getenv("APART_TEST_SERVER") == "" {
		t.Skip("only as a child process")
	}
	p := testPool(t)
	d, err := p.Open(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = d.Do(t.Context(), Task{Op: "ask", Time: time.Hour, Reply: func([]byte) ([]byte, error) {
		fmt.Printf("child %d\n", d.c.cmd.Process.Pid)
		select {}
	}})
}
