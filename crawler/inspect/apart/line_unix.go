//go:build unix

package apart

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// The line between the server and a child is a Unix socket pair, which is standard input and output of the child.

// isChild reports whether standard input is such a socket.
func isChild() bool {
	kind, err := syscall.GetsockoptInt(0, syscall.SOL_SOCKET, syscall.SO_TYPE)
	return err == nil && kind == syscall.SOCK_STREAM
}

// line is the server's end.
type line struct{ *net.UnixConn }

// newLine returns both ends; the second one is for the child.
func newLine() (*line, []*os.File, error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "child"), os.NewFile(uintptr(fds[1]), "server")
	conn, err := net.FileConn(ours)
	ours.Close()
	if err != nil {
		theirs.Close()
		return nil, nil, err
	}
	return &line{conn.(*net.UnixConn)}, []*os.File{theirs, theirs}, nil
}

// passesFiles reports whether files can be sent.
const passesFiles = true

// send sends the pieces of a frame, and descriptors with them. The lists are used up.
func (l *line) send(pieces net.Buffers, files []*os.File) error {
	if len(files) > 0 {
		var fds []int
		for _, f := range files {
			fds = append(fds, int(f.Fd()))
		}
		n, _, err := l.WriteMsgUnix(pieces[0], syscall.UnixRights(fds...), nil)
		if err != nil {
			return err
		}
		pieces[0] = pieces[0][n:]
	}
	_, err := pieces.WriteTo(l.UnixConn)
	return err
}

// descriptors are those that came to a child and were not taken yet.
type descriptors struct{ fds []int }

type descriptor int

func (d descriptor) readAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		m, err := syscall.Pread(int(d), p[n:], at+int64(n))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return n, err
		case m == 0:
			return n, io.ErrUnexpectedEOF
		default:
			n += m
		}
	}
	return n, nil
}

func (d descriptor) close() { syscall.Close(int(d)) }

// socketInput is standard input of a child, read with the plain system call: a goroutine that waits in the runtime's
// poller would cost changes of threads for each frame.
type socketInput struct{ came *descriptors }

func (s socketInput) Read(p []byte) (int, error) {
	var control [64]byte
	for {
		n, m, _, _, err := syscall.Recvmsg(0, p, control[:], 0)
		if err == syscall.EINTR {
			continue
		}
		if m > 0 {
			s.came.take(control[:m])
		}
		if n == 0 && err == nil {
			err = io.EOF
		}
		return max(n, 0), err
	}
}

func (d *descriptors) take(control []byte) {
	messages, err := syscall.ParseSocketControlMessage(control)
	if err != nil {
		return
	}
	for _, m := range messages {
		if fds, err := syscall.ParseUnixRights(&m); err == nil {
			d.fds = append(d.fds, fds...)
		}
	}
}

func (d *descriptors) next() (descriptor, bool) {
	if len(d.fds) == 0 {
		return 0, false
	}
	fd := d.fds[0]
	d.fds = d.fds[1:]
	return descriptor(fd), true
}

// input returns what a child reads from, and where descriptors come.
func input() (io.Reader, *descriptors) {
	came := &descriptors{}
	return socketInput{came}, came
}

// socketOutput is standard output of a child.
type socketOutput struct{}

func (socketOutput) Write(p []byte) (n int, err error) {
	for n < len(p) {
		m, err := syscall.Write(1, p[n:])
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return n, err
		}
		n += max(m, 0)
	}
	return n, nil
}

func output() io.Writer { return socketOutput{} }
