package warc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readHead reads the header of a record, from the version line to the blank line.
func (r *Reader) readHead() (*Record, error) {
	r.head = r.head[:0]
	line, err := r.readLine()
	if err != nil {
		return nil, err
	}
	version, isWARC := bytes.CutPrefix(line, []byte("WARC/"))
	if !isWARC {
		return r.readARC(string(line))
	}
	rec := &Record{Version: string(version)}
	switch rec.Version {
	case "1.1", "1.0", "0.18", "0.17":
	default:
		return nil, fmt.Errorf("unknown version %.20q", line)
	}
	r.lf = !bytes.HasSuffix(r.head, []byte("\r\n"))
	if rec.Header, err = readFields(r.readLine); err != nil {
		return nil, err
	}
	rec.Head = r.head
	rec.Type = strings.ToLower(rec.Header.Get("WARC-Type"))
	rec.ContentLength, err = contentLength(rec.Header)
	return rec, err
}

// readLine reads a line of the header, appends it to r.head, and returns it without its end. It is valid until the
// next call.
func (r *Reader) readLine() ([]byte, error) {
	start := len(r.head)
	for {
		p, err := r.in.ReadSlice('\n')
		if len(r.head)+len(p) > r.limits.MaxHead {
			return nil, fmt.Errorf("the header is longer than %d bytes", r.limits.MaxHead)
		}
		r.head = append(r.head, p...)
		if err == nil {
			line := r.head[start : len(r.head)-1]
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		if err != bufio.ErrBufferFull {
			return nil, err
		}
	}
}

// readFields reads header fields up to the blank line. A line that starts with white space continues the line before;
// both are joined with a space.
func readFields(readLine func() ([]byte, error)) (Header, error) {
	h := make(Header, 0, 12)
	for {
		line, err := readLine()
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			return h, nil
		}
		if bytes.IndexFunc(line, isControl) >= 0 {
			return nil, fmt.Errorf("a control character in the header line %.60q", line)
		}
		if line[0] == ' ' || line[0] == '\t' {
			if len(h) == 0 {
				return nil, errors.New("the first header line continues another")
			}
			last := &h[len(h)-1]
			last.Value = strings.TrimSpace(last.Value + " " + string(bytes.TrimSpace(line)))
			continue
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if name = bytes.TrimRight(name, " \t"); !ok || len(name) == 0 || bytes.ContainsAny(name, " \t") {
			return nil, fmt.Errorf("a header line without a field name: %.60q", line)
		}
		h = append(h, Field{string(name), string(bytes.TrimSpace(value))})
	}
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// contentLength returns the length that a header states. There must be one, and only one.
func contentLength(h Header) (int64, error) {
	all := h.Values("Content-Length")
	if len(all) == 0 {
		return 0, errors.New("no Content-Length")
	}
	for _, v := range all[1:] {
		if v != all[0] {
			return 0, fmt.Errorf("two Content-Lengths, %.20q and %.20q", all[0], v)
		}
	}
	n, err := strconv.ParseUint(all[0], 10, 63)
	if err != nil {
		return 0, fmt.Errorf("Content-Length is %.30q", all[0])
	}
	return int64(n), nil
}

// maxMessageHead bounds the head of an HTTP message in a block.
const maxMessageHead = 1 << 20

// Message is the head of an HTTP message.
type Message struct {
	StartLine string // "HTTP/1.1 200 OK", "GET / HTTP/1.1"
	Header    Header // values as sent, without the white space around them
	Head      []byte // as sent, with the blank line if there is one
}

// Status returns the status code of a response, 0 if the start line has none.
func (m *Message) Status() int {
	f := strings.Fields(m.StartLine)
	if len(f) < 2 || !strings.HasPrefix(f[0], "HTTP/") || len(f[1]) != 3 {
		return 0
	}
	n, err := strconv.Atoi(f[1])
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// Chunked reports whether the message's body is in chunks.
func (m *Message) Chunked() bool {
	all := m.Header.Values("Transfer-Encoding")
	return len(all) > 0 && strings.HasSuffix(strings.ToLower(all[len(all)-1]), "chunked")
}

// ReadMessage reads the head of an HTTP message. The returned reader reads the body as it was sent, including chunks.
// The head may end with the block instead of a blank line, as in revisit records. Lines without a colon, which some
// servers send, are skipped. An error comes from block, or says that the head is missing or longer than 1 MiB.
func ReadMessage(block io.Reader) (*Message, io.Reader, error) {
	in := bufio.NewReaderSize(block, 8<<10)
	m := &Message{}
	for start := 0; ; {
		p, err := in.ReadSlice('\n')
		if len(m.Head)+len(p) > maxMessageHead {
			return nil, nil, fmt.Errorf("warc: the head of the HTTP message is longer than %d bytes", maxMessageHead)
		}
		m.Head = append(m.Head, p...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			return nil, nil, err
		}
		line := string(bytes.TrimRight(m.Head[start:], "\r\n"))
		start = len(m.Head)
		if m.StartLine == "" {
			m.StartLine = line
		} else {
			m.add(line)
		}
		if m.StartLine == "" {
			return nil, nil, errors.New("warc: the block does not start with an HTTP message")
		}
		if line == "" || err == io.EOF {
			return m, in, nil
		}
	}
}

// add adds a line of the head.
func (m *Message) add(line string) {
	if line == "" {
		return
	}
	if line[0] == ' ' || line[0] == '\t' {
		if n := len(m.Header); n > 0 {
			m.Header[n-1].Value += " " + strings.TrimSpace(line)
		}
		return
	}
	if name, value, ok := strings.Cut(line, ":"); ok {
		m.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
}
