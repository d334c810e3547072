package replicate

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// endless repeats a frame.
type endless struct {
	frame []byte
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.frame[e.read%len(e.frame):])
	e.read += n
	return n, nil
}

func TestAnAnswerWithoutAnEndIsRefused(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1 << 20} {
		from := &endless{frame: appendFrame(nil, frameRecord, make([]byte, 12+size))}
		_, _, err := ReadLog(io.LimitReader(from, 4*maxRecords))
		if !errors.Is(err, ErrWire) || from.read > 2*maxRecords {
			t.Errorf("records of %d bytes: %d bytes were read: %v", size, from.read, err)
		}
	}
}

func TestTheLastRecordOfAnAnswerMayBeLarge(t *testing.T) {
	t.Parallel()
	answer := appendFrame(nil, frameRecord, make([]byte, maxRecords-frameHead-1))
	answer = appendFrame(answer, frameRecord, make([]byte, 2*maxRecords))
	answer = appendFrame(answer, frameEnd, []byte(`{"number": 2}`))
	records, end, err := ReadLog(bytes.NewReader(answer))
	if err != nil || len(records) != 2 || end.Number != 2 {
		t.Errorf("%d records, %+v: %v", len(records), end, err)
	}
}
