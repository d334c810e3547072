package diff

import (
	"context"
	"io"
)

const blockSize = 256 << 10

// compareBytes finds the common start and end of both versions.
func (r *Report) compareBytes(ctx context.Context, from, to Side) error {
	shorter := min(from.Size, to.Size)
	block := min(blockSize, shorter)
	a, b := make([]byte, block), make([]byte, block)
	prefix, err := common(ctx, shorter, func(done, n int64) (int64, error) {
		if err := readBoth(from, to, a[:n], b[:n], done, done); err != nil {
			return 0, err
		}
		return prefixOf(a[:n], b[:n]), nil
	})
	if err != nil {
		return err
	}
	suffix, err := common(ctx, shorter-prefix, func(done, n int64) (int64, error) {
		if err := readBoth(from, to, a[:n], b[:n], from.Size-done-n, to.Size-done-n); err != nil {
			return 0, err
		}
		return suffixOf(a[:n], b[:n]), nil
	})
	if err != nil {
		return err
	}
	r.Range = Range{prefix, suffix}
	r.BytesChanged = to.Size - prefix - suffix
	r.Same = from.Size == to.Size && r.BytesChanged == 0
	return nil
}

// common returns the number of bytes that are the same, which same finds block by block.
func common(ctx context.Context, limit int64, same func(done, n int64) (int64, error)) (done int64, err error) {
	for done < limit {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		n := min(blockSize, limit-done)
		k, err := same(done, n)
		if err != nil {
			return 0, err
		}
		done += k
		if k < n {
			break
		}
	}
	return done, nil
}

func readBoth(from, to Side, a, b []byte, atA, atB int64) error {
	if n, err := from.R.ReadAt(a, atA); n < len(a) {
		return unexpected(err)
	}
	if n, err := to.R.ReadAt(b, atB); n < len(b) {
		return unexpected(err)
	}
	return nil
}

func unexpected(err error) error {
	if err == io.EOF || err == nil {
		return io.ErrUnexpectedEOF
	}
	return err
}

func prefixOf(a, b []byte) int64 {
	for i := range a {
		if a[i] != b[i] {
			return int64(i)
		}
	}
	return int64(len(a))
}

func suffixOf(a, b []byte) int64 {
	for i := range a {
		if k := len(a) - 1 - i; a[k] != b[k] {
			return int64(i)
		}
	}
	return int64(len(a))
}
