// Package faults tells the archive's own faults from those of one URL's bytes.
package faults

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"odarchive/crawler/inspect/apart"
	"odarchive/triplestore"
	"odarchive/triplestore/kv"
)

// IsOwn reports whether an error of work under ctx is the archive's own: of the disk, the database or this machine, or
// the end of ctx. Every other error that one URL's bytes cause on their way in concerns no other URL.
func IsOwn(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return true
	}
	for _, own := range []error{
		kv.ErrDiskFull, kv.ErrWritesStopped, kv.ErrClosed, kv.ErrDamaged, kv.ErrReadOnly, triplestore.ErrClosed, triplestore.ErrDamaged,
		fs.ErrClosed, apart.ErrOurs,
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
