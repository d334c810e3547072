package cdxj

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
)

// Meta describes the file that was indexed. Its line sorts before those of captures.
type Meta struct {
	Format   string `json:"format"` // "odarchive-cdxj 1"
	File     string `json:"file"`
	Size     int64  `json:"size"`
	Unlisted int    `json:"unlisted"` // records with an address that belong to no capture
}

const metaFormat, metaPrefix = "odarchive-cdxj 1", "!meta "

// Line returns the line of m, without its end.
func (m Meta) Line() string {
	m.Format = metaFormat
	b, err := json.Marshal(m)
	if err != nil { // strings and numbers always marshal
		panic(err)
	}
	return metaPrefix + string(b)
}

// Index is an open index file. The caller must Close it.
type Index struct {
	Metas []Meta
	f     *os.File
	size  int64
}

// Open opens an index file.
func Open(name string) (*Index, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	x := &Index{f: f, size: info.Size()}
	err = x.lines(0, func(line string) (bool, error) {
		text, ok := strings.CutPrefix(line, metaPrefix)
		if !ok {
			return false, nil
		}
		var m Meta
		if err := json.Unmarshal([]byte(text), &m); err == nil && m.Format == metaFormat {
			x.Metas = append(x.Metas, m)
		}
		return true, nil
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return x, nil
}

// Close closes the file.
func (x *Index) Close() error { return x.f.Close() }

// maxLine bounds a line, in bytes.
const maxLine = 1 << 20

var errLongLine = errors.New("a line of the index is longer than 1 MiB")

// lines calls f with each line from an offset on, at which a line must begin, until f returns false or an error.
func (x *Index) lines(offset int64, f func(line string) (more bool, err error)) error {
	in := bufio.NewReaderSize(io.NewSectionReader(x.f, offset, x.size-offset), 64<<10)
	for {
		line, err := readLine(in)
		if err == io.EOF && line == "" {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		more, ferr := f(line)
		if ferr != nil || !more || err == io.EOF {
			return ferr
		}
	}
}

// readLine reads a line and returns it without its end.
func readLine(in *bufio.Reader) (string, error) {
	var b []byte
	for {
		part, err := in.ReadSlice('\n')
		if len(b)+len(part) > maxLine {
			return "", errLongLine
		}
		b = append(b, part...)
		if err != bufio.ErrBufferFull {
			return strings.TrimRight(string(b), "\r\n"), err
		}
	}
}

// Captures calls f with the captures whose key begins with prefix, in order, until f returns an error.
func (x *Index) Captures(prefix string, f func(Capture) error) error {
	low, high := int64(0), x.size // the first line that is not less than prefix begins between them
	for high-low > 64<<10 {
		middle := low + (high-low)/2
		at, line, err := x.lineAfter(middle)
		if err != nil {
			return err
		}
		if at < high && line < prefix {
			low = at
		} else {
			high = middle
		}
	}
	return x.lines(low, func(line string) (bool, error) {
		if strings.HasPrefix(line, metaPrefix) || line < prefix {
			return true, nil
		}
		if !strings.HasPrefix(line, prefix) {
			return false, nil
		}
		c, err := ParseLine(line)
		if err != nil {
			return false, err
		}
		return true, f(c)
	})
}

// lineAfter returns the first line that begins after an offset, and the offset at which it begins. If there is none, it
// returns "" and the size of the file.
func (x *Index) lineAfter(offset int64) (at int64, line string, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(x.f, offset, x.size-offset), 4<<10)
	at = offset
	for {
		skipped, err := in.ReadSlice('\n')
		at += int64(len(skipped))
		if err == nil {
			break
		}
		if err == io.EOF {
			return x.size, "", nil
		}
		if err != bufio.ErrBufferFull {
			return 0, "", err
		}
	}
	line, err = readLine(in)
	if err == io.EOF {
		err = nil
	}
	return at, line, err
}
