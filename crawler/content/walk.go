package content

import (
	"errors"
	"io"
)

// walkBlock is how much of a pack is read at once.
const walkBlock = 1 << 20

// found is a segment met while walking through a pack.
type found struct {
	head
	offset int64
	bytes  []byte // head and body, valid during the call
	wrong  string // what is wrong with it, "" where it is as it was written
}

// walk reads the segments of a pack one after the other up to the byte end. Where something is wrong it calls f with
// that, and goes on at the place that next gives: the first one after the offset, or end.
func walk(r io.ReaderAt, end int64, next func(after int64) (int64, error), f func(found) error) error {
	block := make([]byte, walkBlock)
	var have []byte // the bytes from at on
	for at := int64(packHead); at < end; {
		if len(have) < segmentHead+maxStored && at+int64(len(have)) < end {
			n, err := r.ReadAt(block[:min(walkBlock, end-at)], at)
			if err != nil && !errors.Is(err, io.EOF) {
				return err
			}
			have = block[:n]
		}
		h, ok := parseHead(have)
		size := segmentHead + h.deflated
		s := found{head: h, offset: at}
		switch {
		case !ok:
			s.wrong = "there is no segment"
		case size > len(have):
			s.wrong = "the pack ends inside it"
		default:
			s.bytes = have[:size]
			_, _, s.wrong = checkSegment(s.bytes)
		}
		if err := f(s); err != nil {
			return err
		}
		if s.wrong == "" {
			at, have = at+int64(size), have[size:]
			continue
		}
		to, err := next(at)
		if err != nil {
			return err
		}
		at, have = to, nil
	}
	return nil
}
