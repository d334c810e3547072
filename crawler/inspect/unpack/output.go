package unpack

import (
	"context"
	"fmt"
	"io"
)

// output limits the output of all decoders of a walk. It is not safe for concurrent use.
type output struct {
	ctx    context.Context
	limits Limits
	input  int64 // size of the file
	made   int64
}

// freeBytes is the output that is allowed whatever the ratio.
const freeBytes = 64 << 20

// spend counts n more bytes.
func (b *output) spend(n int) error {
	b.made += int64(n)
	if b.made > b.limits.MaxTotal || b.made > freeBytes && b.made/b.limits.MaxRatio > b.input {
		return fmt.Errorf("%w: %d bytes from %d", ErrBomb, b.made, b.input)
	}
	return b.ctx.Err()
}

// foresee returns ErrBomb if a member of a size that the archive states would exceed the limits, so that nobody unpacks
// gigabytes to find that out. A stated size may be wrong; spend counts what there is. skipped are the bytes that are
// unpacked in front of it, which count as output.
func (b *output) foresee(path string, size, skipped int64) error {
	b.made += min(skipped, 1<<62-b.made)
	all := b.made + min(size, 1<<62-b.made)
	if size > b.limits.MaxMember || all > b.limits.MaxTotal || all > freeBytes && all/b.limits.MaxRatio > b.input {
		return fmt.Errorf("%w: %s has %d bytes", ErrBomb, path, size)
	}
	return nil
}

// counted is a decoder whose output counts against the limits.
type counted struct {
	io.Reader
	b     *output
	close func() error
}

func (c *counted) Read(p []byte) (n int, err error) {
	defer recovered(&err)
	n, err = c.Reader.Read(p)
	if serr := c.b.spend(n); serr != nil {
		return n, serr
	}
	return n, classified(err)
}

func (c *counted) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// guard is the reader of one member. It limits the size and recovers from a decoder's panic.
type guard struct {
	r    io.ReadCloser
	left int64
	path string
	ctx  context.Context
}

func (g *guard) Read(p []byte) (n int, err error) {
	defer recovered(&err)
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	n, err = g.r.Read(p)
	if g.left -= int64(n); g.left < 0 {
		return n, fmt.Errorf("%w: %s", ErrBomb, g.path)
	}
	return n, err
}

func (g *guard) Close() (err error) {
	defer recovered(&err)
	return g.r.Close()
}
