package backup

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A stream is magic, sections, and a footer. FORMAT.md describes it.
const (
	magic  = "odarchive backup 1\n"
	family = "odarchive backup "
	footer = "ODBACKUP"

	maxChunk = 1 << 20
	maxName  = 255
	maxInfo  = 256 << 20
)

// Kinds of sections.
const (
	kindFile     = 'F'
	kindDatabase = 'D'
	kindPack     = 'P'
	kindInfo     = 'I' // the last section
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writer writes sections as chunks with checksums.
type writer struct {
	ctx      context.Context // of the Write that this belongs to
	w        io.Writer
	n        int64
	progress Progress
	buf      []byte
}

func (out *writer) put(b []byte) error {
	if out.ctx.Err() != nil {
		return context.Cause(out.ctx)
	}
	n, err := out.w.Write(b)
	out.n += int64(n)
	if out.progress != nil {
		out.progress(int64(n))
	}
	return err
}

func (out *writer) begin() error { return out.put([]byte(magic)) }

// section writes a section with what f writes: its kind, a name, chunks, and an empty chunk.
func (out *writer) section(kind byte, name string, f func(io.Writer) error) error {
	if len(name) > maxName {
		return fmt.Errorf("the name %q is too long", name)
	}
	head := append([]byte{kind, byte(len(name))}, name...)
	head = binary.BigEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))
	if err := out.put(head); err != nil {
		return err
	}
	out.buf = out.buf[:0]
	if err := f(chunker{out}); err != nil {
		return err
	}
	if err := out.flush(); err != nil {
		return err
	}
	return out.chunk(nil)
}

type chunker struct{ out *writer }

func (c chunker) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), maxChunk-len(c.out.buf))
		c.out.buf = append(c.out.buf, p[:k]...)
		p = p[k:]
		if len(c.out.buf) == maxChunk {
			if err := c.out.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (out *writer) flush() error {
	if len(out.buf) == 0 {
		return nil
	}
	err := out.chunk(out.buf)
	out.buf = out.buf[:0]
	return err
}

func (out *writer) chunk(b []byte) error {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(b)))
	head = binary.BigEndian.AppendUint32(head, crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, b))
	if err := out.put(head); err != nil || len(b) == 0 {
		return err
	}
	return out.put(b)
}

// end writes the info and its offset.
func (out *writer) end(info Info) error {
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	at := out.n
	err = out.section(kindInfo, "", func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return out.put(binary.BigEndian.AppendUint64([]byte(footer), uint64(at)))
}

// reader reads sections.
type reader struct {
	ctx      context.Context // of the Restore that this belongs to
	r        io.Reader
	progress Progress
}

func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: it ends too early", ErrBroken)
	}
	return err
}

func (in *reader) get(b []byte) error {
	if in.ctx.Err() != nil {
		return context.Cause(in.ctx)
	}
	n, err := io.ReadFull(in.r, b)
	if in.progress != nil {
		in.progress(int64(n))
	}
	return broken(err)
}

func (in *reader) begin() error {
	b := make([]byte, len(magic))
	if err := in.get(b); err != nil {
		return err
	}
	if string(b) == magic {
		return nil
	}
	if bytes.HasPrefix(b, []byte(family)) {
		return ErrNewer
	}
	return fmt.Errorf("%w: it does not begin as a backup does", ErrBroken)
}

// nextSection returns the next section. The caller must read its body to the end.
func (in *reader) nextSection() (kind byte, name string, body io.Reader, err error) {
	head := make([]byte, 2, 2+maxName+4)
	if err := in.get(head); err != nil {
		return 0, "", nil, err
	}
	head = head[:2+int(head[1])+4]
	if err := in.get(head[2:]); err != nil {
		return 0, "", nil, err
	}
	plain := head[:len(head)-4]
	if crc32.Checksum(plain, castagnoli) != binary.BigEndian.Uint32(head[len(plain):]) {
		return 0, "", nil, fmt.Errorf("%w: the head of a section is damaged", ErrBroken)
	}
	return plain[0], string(plain[2:]), &chunks{in: in}, nil
}

// chunks is the body of a section.
type chunks struct {
	in   *reader
	buf  []byte
	rest []byte
	done bool
}

func (c *chunks) Read(p []byte) (int, error) {
	for len(c.rest) == 0 {
		if c.done {
			return 0, io.EOF
		}
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *chunks) fill() error {
	var head [8]byte
	if err := c.in.get(head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > maxChunk {
		return fmt.Errorf("%w: a chunk has %d bytes", ErrBroken, n)
	}
	if uint32(cap(c.buf)) < n {
		c.buf = make([]byte, maxChunk)
	}
	c.rest = c.buf[:n]
	if err := c.in.get(c.rest); err != nil {
		return err
	}
	if crc32.Update(crc32.Checksum(head[:4], castagnoli), castagnoli, c.rest) != binary.BigEndian.Uint32(head[4:]) {
		return fmt.Errorf("%w: a chunk differs from its checksum", ErrBroken)
	}
	c.done = n == 0
	return nil
}

// readEnd returns the encoded info at the end of a backup.
func readEnd(f io.ReadSeeker) ([]byte, error) {
	var end [len(footer) + 8]byte
	size, err := f.Seek(-int64(len(end)), io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("%w: it is too short", ErrBroken)
	}
	if _, err := io.ReadFull(f, end[:]); err != nil {
		return nil, broken(err)
	}
	at := binary.BigEndian.Uint64(end[len(footer):])
	if string(end[:len(footer)]) != footer || at >= uint64(size) {
		return nil, fmt.Errorf("%w: it does not end as a backup does", ErrBroken)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	in := &reader{ctx: context.Background(), r: f}
	if err := in.begin(); err != nil {
		return nil, err
	}
	if _, err := f.Seek(int64(at), io.SeekStart); err != nil {
		return nil, err
	}
	kind, _, body, err := in.nextSection()
	if err != nil {
		return nil, err
	}
	if kind != kindInfo {
		return nil, fmt.Errorf("%w: it does not end with a description", ErrBroken)
	}
	return readInfo(body)
}

func readInfo(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxInfo+1))
	if err == nil && len(data) > maxInfo {
		err = fmt.Errorf("%w: its description is too long", ErrBroken)
	}
	return data, err
}
