//go:build !unix

package apart

import (
	"errors"
	"io"
	"net"
	"os"
)

// The line between the server and a child is two pipes, which are standard input and output of the child.

func isChild() bool { return os.Getenv(envMemory) != "" }

type line struct{ in, out *os.File }

func (l *line) Read(p []byte) (int, error)  { return l.in.Read(p) }
func (l *line) Write(p []byte) (int, error) { return l.out.Write(p) }
func (l *line) Close() error                { return errors.Join(l.in.Close(), l.out.Close()) }

func newLine() (*line, []*os.File, error) {
	theirIn, out, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	in, theirOut, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, theirIn.Close(), out.Close())
	}
	return &line{in, out}, []*os.File{theirIn, theirOut}, nil
}

const passesFiles = false

func (l *line) send(pieces net.Buffers, _ []*os.File) error {
	_, err := pieces.WriteTo(l.out)
	return err
}

type descriptors struct{}

func (*descriptors) next() (descriptor, bool) { return descriptor{}, false }

type descriptor struct{}

func (descriptor) readAt([]byte, int64) (int, error) { return 0, errors.ErrUnsupported }
func (descriptor) close()                            {}

func input() (io.Reader, *descriptors) { return os.Stdin, nil }
func output() io.Writer                { return os.Stdout }
