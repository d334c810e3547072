package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"hash"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/spool"
)

// Hop is one request of a fetch and its response, as they were on the wire.
type Hop struct {
	URL    string // without a user and a password
	Start  time.Time
	Status int // 0 if the response has no status line

	// Request is the request as sent, without what is secret; at most 1 MiB, which few bodies exceed. Head is the head
	// of the response as received, without what tells of a login (Secret.Repeated); at most 64 KiB. HTTP/2 has no such
	// text: then they are written in the style of HTTP/1.1.
	Request []byte
	Head    []byte

	HTTP2      bool
	RemoteAddr string // address and port
	TLS        *TLS   // nil without TLS

	// Wire is the whole response, nil unless Options.Tape is set. It is valid until Tape.Record returns.
	Wire *Wire
}

// TLS describes a connection with TLS.
type TLS struct {
	Version     string   // "TLS 1.3"
	Cipher      string   // IANA name
	Certificate [32]byte // SHA-256 of the host's certificate
}

// Wire is a response as it was received: the head and the body with its codings.
type Wire struct {
	File  *spool.File // finished
	Block string      // digest of File, as WARC-Block-Digest
	Head  int64       // bytes of the head in File
	// Cut says why File is not the whole response: "disconnect" (the connection broke), "time" or "length" (this side
	// stopped reading). It is "" if File is complete.
	Cut string
}

// Original is an earlier response that a new one may repeat.
type Original struct {
	URL     string
	Date    time.Time
	Record  string // WARC-Record-ID, "" if unknown
	Payload string // WARC-Payload-Digest, "" if unknown
}

// Taped tells where a Tape put a response.
type Taped struct {
	Record  string    // WARC-Record-ID of the last response
	Date    time.Time // its WARC-Date
	Payload string    // its WARC-Payload-Digest
	Block   string    // its WARC-Block-Digest, if its block is the head and Exchange.Body as it is; else ""
	Revisit bool      // it is a revisit record, without the body
	End     time.Time // the end of the fetch by the tape's clock

	// Write, if not nil, writes the last response, which is not written yet because the bytes of Exchange.Body may soon
	// be at hand in compressed form: body, nil if they are not. It must be called once, before Body is removed. It
	// reports whether the response was written.
	Write func(body *warc.Packed) bool
}

// A Tape keeps what was on the wire. Record is called at the end of every fetch that had a response, before Fetch
// returns; original is Request.Original, and hold Request.Hold. It may be called concurrently. It must not keep
// anything of the exchange but what Taped.Write needs.
type Tape interface {
	Record(ctx context.Context, ex *Exchange, original *Original, hold bool) Taped
}

// Bounds of Hop.Request and Hop.Head.
const (
	maxRequest = 1 << 20
	maxHopHead = 64 << 10
)

// capture records one request and its response from the connection that carries them.
type capture struct {
	mu      sync.Mutex
	login   *hosts.Secret        // to leave out; may be nil
	permit  func() *NotPermitted // may be nil
	request []byte
	head    []byte // of the response, complete if headed
	headed  bool
	lost    bool // the head is too long, or the spool is full: nothing more is recorded

	keep *spool.Spool // nil: the body is not recorded
	file *spool.File
	sum  hash.Hash // of file
	left int64     // bytes of the body that are still to come, -1 if the head does not say how many

	chunks *warc.Chunks // finds the end of the body; nil if it has no chunks

	http2  bool
	closed bool
	tls    *tls.ConnectionState
}

// sent records bytes of the request.
func (c *capture) sent(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.request = append(c.request, p[:min(len(p), maxRequest-len(c.request))]...)
	}
}

// unsent takes back the last n bytes, which were not sent after all.
func (c *capture) unsent(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed && len(c.request) < maxRequest {
		c.request = c.request[:max(0, len(c.request)-n)]
	}
}

// received records bytes of the response. It leaves out interim responses (1xx, RFC 9110 §15.2).
func (c *capture) received(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.headed && !c.closed && !c.lost {
		before := len(c.head)
		c.head = append(c.head, p...)
		end := warc.HeadEnd(c.head, max(0, before-3))
		if end < 0 {
			c.lost = len(c.head) > maxCapturedHead
			return
		}
		rest := bytes.Clone(c.head[end:])
		c.head = c.head[:end]
		if interim(c.head) {
			c.head, p = c.head[:0], rest
			if len(p) == 0 {
				return
			}
			continue
		}
		c.headed = true
		if c.left = bodyLength(c.head); c.left == chunked {
			c.left, c.chunks = -1, new(warc.Chunks)
		}
		c.head = withoutLogin(c.head, c.login)
		c.write(c.head)
		p = rest
	}
	if c.chunks != nil { // what follows the body is not of this response
		p = p[:c.chunks.Write(p, io.Discard)]
	}
	if c.left >= 0 {
		p = p[:min(int64(len(p)), c.left)]
		c.left -= int64(len(p))
	}
	if c.headed && len(p) > 0 {
		c.write(p)
	}
}

// chunked is the length of a body in chunks.
const chunked = -2

// bodyLength returns the length of the body that follows a head, -1 if that does not say it, or chunked (RFC 9112
// §6.3).
func bodyLength(head []byte) int64 {
	m, _, err := warc.ReadMessage(bytes.NewReader(head))
	if err != nil {
		return -1
	}
	if s := m.Status(); s == http.StatusNoContent || s == http.StatusNotModified {
		return 0
	}
	if m.Chunked() && !strings.HasPrefix(m.StartLine, "HTTP/1.0") {
		return chunked
	}
	if m.Header.Get("Transfer-Encoding") != "" {
		return -1
	}
	n, err := strconv.ParseUint(strings.TrimSpace(m.Header.Get("Content-Length")), 10, 63)
	if err != nil {
		return -1
	}
	return int64(n)
}

// maxCapturedHead bounds the head while its end is looked for. The transport ends a response with a longer one.
const maxCapturedHead = 1 << 20

// interim reports whether a head is that of an interim response, other than 101.
func interim(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	f := bytes.Fields(line)
	return len(f) > 1 && len(f[1]) == 3 && f[1][0] == '1' && string(f[1]) != "101"
}

// write adds bytes to the recorded response. The caller holds mu.
func (c *capture) write(p []byte) {
	if c.keep == nil || c.lost || c.closed {
		return
	}
	if c.file == nil {
		c.file, c.sum = c.keep.CreatePlain(), sha256.New()
		if c.left >= 0 && c.left < 1<<31 {
			c.file.Expect(int64(len(c.head)) + c.left)
		}
	}
	if _, err := c.file.Write(p); err != nil {
		c.lost = true // the spool is full: the fetch goes on, only the recording ends
		return
	}
	c.sum.Write(p)
}

// finish ends recording and adds the hop to the exchange, if a response was received.
func (c *capture) finish(ex *Exchange, hop Hop, cut string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	if !c.headed {
		return // file is nil
	}
	hop.Request, hop.Head = withoutSecrets(c.request, c.login.Names()), c.head[:min(len(c.head), maxHopHead)]
	hop.HTTP2, hop.TLS = c.http2, describeTLS(c.tls)
	if m, _, err := warc.ReadMessage(bytes.NewReader(hop.Head)); err == nil {
		hop.Status = m.Status()
	}
	if c.file != nil && (c.lost || c.file.Finish() != nil) {
		_ = c.file.Remove() // what remains is removed with the spool
	} else if c.file != nil {
		hop.Wire = &Wire{File: c.file, Block: warc.FormatDigest(c.sum.Sum(nil)), Head: int64(len(c.head)), Cut: cut}
	}
	ex.Hops = append(ex.Hops, hop)
}

// drop ends recording without a result.
func (c *capture) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	_ = c.file.Remove() // what remains is removed with the spool
}

// state returns the state of the connection's TLS, nil without TLS.
func (c *capture) state() *tls.ConnectionState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tls
}

// release frees the recorded responses.
func (ex *Exchange) release() {
	for i := range ex.Hops {
		if w := ex.Hops[i].Wire; w != nil {
			_ = w.File.Remove() // what remains is removed with the spool
			ex.Hops[i].Wire = nil
		}
	}
}

func describeTLS(s *tls.ConnectionState) *TLS {
	if s == nil {
		return nil
	}
	t := &TLS{Version: tls.VersionName(s.Version), Cipher: tls.CipherSuiteName(s.CipherSuite)}
	if len(s.PeerCertificates) > 0 {
		t.Certificate = sha256.Sum256(s.PeerCertificates[0].Raw)
	}
	return t
}

// synthesise records an exchange over HTTP/2, whose heads are not text: the fields in the order in which they were
// sent, those of the response in alphabetical order.
func (c *capture) synthesise(line string, fields warc.Header, resp *http.Response) {
	c.mu.Lock()
	c.http2, c.tls = true, resp.TLS
	c.request = c.request[:0]
	c.mu.Unlock()
	var b bytes.Buffer
	b.WriteString(line + "\r\n")
	for _, f := range fields {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	b.WriteString("\r\n")
	c.sent(b.Bytes())
	b.Reset()
	b.WriteString(strings.TrimSuffix("HTTP/1.1 "+resp.Status, " ") + "\r\n")
	var names []string
	for name := range resp.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range resp.Header[name] {
			b.WriteString(name + ": " + v + "\r\n")
		}
	}
	b.WriteString("\r\n")
	c.received(b.Bytes())
}
