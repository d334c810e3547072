package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"syscall"

	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// ErrBadRecord is in the chain of errors about one record that cannot be read, though the database returned it.
var ErrBadRecord = errors.New("the record cannot be read")

// IsOwn reports whether an error of work under ctx is the archive's own: of the disk, of the database, of this machine, or the
// end of ctx. Every other error that one URL's bytes meet on their way in is about those bytes, and concerns no other URL.
func IsOwn(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	for _, own := range []error{
		kv.ErrDiskFull, kv.ErrWritesStopped, kv.ErrClosed, kv.ErrDamaged, kv.ErrReadOnly, triplestore.ErrClosed, triplestore.ErrDamaged, fs.ErrClosed,
	} {
		if errors.Is(err, own) {
			return true
		}
	}
	var number syscall.Errno
	if errors.As(err, &number) {
		return number != syscall.ENAMETOOLONG && number != syscall.EILSEQ && number != syscall.EINVAL
	}
	return false
}

// Panic is a panic as an error, with the stack that it came from.
type Panic struct {
	Value any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("a fault of this program: %v", p.Value) }

// Contain runs f and returns its error, or its panic as a *Panic.
func Contain(f func() error) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = &Panic{fault, debug.Stack()}
		}
	}()
	return f()
}
