package warc

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// Digester computes the digests of a record's block while the block is written to it. Digests are written as "sha256:"
// and lower-case hexadecimal digits, the one spelling that all common validators accept.
//
// The payload of an HTTP message is its body without the chunks of the transfer coding; a content coding stays. If the
// chunks are malformed or end early, the payload is the body as it was sent. The payload of any other block is the
// block.
type Digester struct {
	algorithm func() hash.Hash
	block     hash.Hash // of the block; nil if it is not needed
	size      int64     // of the block so far

	http     bool
	head     []byte // of the HTTP message; nil once it is complete
	headSize int64
	sent     hash.Hash // of the body as it was sent
	body     hash.Hash // of the body without its chunks; nil if it is not in chunks
	bodySize int64
	chunks   Chunks
}

// NewDigester returns a digester of a block, which is an HTTP message if http is set.
func NewDigester(http bool) *Digester { return NewDigesterOf(http, sha256.New) }

// NewDigesterOf returns a digester with another algorithm. Use its method Sums; the others name SHA-256.
func NewDigesterOf(http bool, algorithm func() hash.Hash) *Digester {
	d := &Digester{algorithm: algorithm, block: algorithm(), http: http}
	if http {
		d.head, d.sent = make([]byte, 0, 512), algorithm()
	}
	return d
}

// Sums returns the digests of the block, of the payload as it was sent, and of the payload without its chunks. The last
// is nil if the payload is not in chunks, or if the chunks are incomplete or malformed.
func (d *Digester) Sums() (block, sent, body []byte) {
	block = d.block.Sum(nil)
	if !d.http {
		return block, block, nil
	}
	if d.body != nil && d.chunks.Complete() {
		body = d.body.Sum(nil)
	}
	return block, d.sent.Sum(nil), body
}

// PayloadDigest returns the digest of the payload of an HTTP message. An error comes from message.
func PayloadDigest(message io.WriterTo) (string, error) {
	d := NewDigester(true)
	d.block = nil // computing it would double the cost
	if _, err := message.WriteTo(d); err != nil {
		return "", err
	}
	return d.payload(), nil
}

// Write adds bytes of the block. It never fails.
func (d *Digester) Write(p []byte) (int, error) {
	n := len(p)
	if d.block != nil {
		d.block.Write(p)
	}
	d.size += int64(n)
	if d.http && d.head != nil {
		p = d.readHead(p)
	}
	if d.http && len(p) > 0 {
		d.sent.Write(p)
		d.bodySize += int64(len(p))
		if d.body != nil {
			d.chunks.Write(p, d.body)
		}
	}
	return n, nil
}

// readHead reads bytes of the message's head from p and returns the rest of p.
func (d *Digester) readHead(p []byte) []byte {
	if len(d.head)+len(p) > maxMessageHead {
		p = p[:max(0, maxMessageHead-len(d.head))]
	}
	before := len(d.head)
	d.head = append(d.head, p...)
	end := HeadEnd(d.head, max(0, before-3))
	if end < 0 {
		return nil
	}
	if m, _, err := ReadMessage(bytes.NewReader(d.head[:end])); err == nil && m.Chunked() {
		d.body = d.algorithm()
	}
	d.head, d.headSize = nil, int64(end)
	return p[end-before:]
}

// HeadEnd returns the length of the head of an HTTP message, including the blank line that ends it, or -1 if there is
// none. It looks for the blank line from index from on.
func HeadEnd(p []byte, from int) int {
	for {
		i := bytes.IndexByte(p[from:], '\n')
		if i < 0 {
			return -1
		}
		from += i + 1
		switch rest := p[from:]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			return from + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return from + 2
		}
	}
}

// Size returns the number of bytes of the block so far.
func (d *Digester) Size() int64 { return d.size }

// HeadSize returns the number of bytes of the HTTP message's head with its blank line, 0 if it is incomplete.
func (d *Digester) HeadSize() int64 { return d.headSize }

// BodySize returns the number of bytes of the HTTP message's body, as it was sent.
func (d *Digester) BodySize() int64 { return d.bodySize }

// Digests returns the digests of the block and of its payload.
func (d *Digester) Digests() (block, payload string) {
	block = spell(d.block)
	if !d.http {
		return block, block
	}
	return block, d.payload()
}

// payload returns the digest of an HTTP message's payload.
func (d *Digester) payload() string {
	if d.body != nil && d.chunks.Complete() {
		return spell(d.body)
	}
	return spell(d.sent)
}

func spell(h hash.Hash) string { return FormatDigest(h.Sum(nil)) }

// FormatDigest returns a SHA-256 in the form in which records state it.
func FormatDigest(sha256 []byte) string { return "sha256:" + hex.EncodeToString(sha256) }
