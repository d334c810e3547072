package records

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/ns"
	"odarchive/triplestore/fields"
	"odarchive/triplestore/kv"

	"github.com/klauspost/compress/flate"
)

// The record of an exchange (tableExchange) is
//
//	format   1 byte, exchangeFormat
//	flags    1 byte: HTTP/2, TLS, WARC, payload
//	encoded  varint: bytes of the body as it was sent
//	at       varint: time of the last hop in milliseconds since 1970
//	address  1 byte n, n bytes of the IP address (n is 0, 4 or 16), port as a varint
//	with the flag TLS: 32 bytes of the certificate's digest
//	with the flag WARC: 16 bytes of the record's UUID; its date as a signed varint, in milliseconds after the last
//	    hop;
//	    with the flag payload: 32 bytes of the payload's digest, which otherwise is the version's
//	text     the rest, deflated with exchangeDictionary: see below
//
// The text has a line with the TLS version and cipher if there is TLS; a line for each hop, with its status, its
// time in milliseconds before the last hop's, and its URL ("" for that of the resource); an empty line; and the head.
const (
	exchangeFormat = 1

	exchangeHTTP2   = 1
	exchangeTLS     = 2
	exchangeWARC    = 4
	exchangePayload = 8
)

// maxHopsText bounds the lines of the hops, and maxExchangeText the text of a record.
const (
	maxHopsText     = 1 << 20
	maxExchangeText = catalog.MaxExchangeHead + maxHopsText + 1
)

// Bounds of the numbers of a record.
const (
	maxEncoded = 1 << 62
	maxMillis  = 1 << 50
)

// PackExchange encodes the record of the exchange that brought a version of a URL; nil for nil. It cuts a head that is
// too long, and leaves out hops with too long URLs. Whatever the exchange has, the record has its head again: the leaf
// of the version in the transparency log depends on it.
func PackExchange(e *catalog.Exchange, url string) ([]byte, error) {
	if e == nil {
		return nil, nil
	}
	var flags byte
	var last time.Time
	if n := len(e.Hops); n > 0 {
		last = e.Hops[n-1].At
	} else if e.WARC != nil {
		last = e.WARC.Date
	}
	if e.HTTP2 {
		flags |= exchangeHTTP2
	}
	if e.TLS != nil {
		flags |= exchangeTLS
	}
	if e.WARC != nil {
		flags |= exchangeWARC
		if e.WARC.Payload != [32]byte{} {
			flags |= exchangePayload
		}
	}
	b := append(make([]byte, 0, 256), exchangeFormat, flags)
	b = binary.AppendUvarint(b, uint64(min(max(e.Encoded, 0), maxEncoded)))
	b = binary.AppendUvarint(b, uint64(min(max(last.UnixMilli(), 0), maxMillis)))
	var ip []byte
	addr, err := netip.ParseAddrPort(e.RemoteAddr)
	if err == nil {
		ip = addr.Addr().WithZone("").AsSlice()
	}
	b = append(append(b, byte(len(ip))), ip...)
	b = binary.AppendUvarint(b, uint64(addr.Port()))
	if e.TLS != nil {
		b = append(b, e.TLS.Certificate[:]...)
	}
	if e.WARC != nil {
		b = append(b, e.WARC.ID[:]...)
		b = binary.AppendVarint(b, e.WARC.Date.UnixMilli()-last.UnixMilli())
		if flags&exchangePayload != 0 {
			b = append(b, e.WARC.Payload[:]...)
		}
	}
	return deflateText(b, exchangeText(e, url, last))
}

func exchangeText(e *catalog.Exchange, url string, last time.Time) []byte {
	var text bytes.Buffer
	if e.TLS != nil {
		fmt.Fprintf(&text, "%s %s\n", oneLine(e.TLS.Version), oneLine(e.TLS.Cipher))
	}
	for _, h := range e.Hops {
		u := h.URL
		if u == url {
			u = ""
		}
		line := fmt.Sprintf("%d %d %s\n", h.Status, last.Sub(h.At).Milliseconds(), oneLine(u))
		if text.Len()+len(line) <= maxHopsText {
			text.WriteString(line)
		}
	}
	text.WriteByte('\n')
	text.Write(e.Head[:min(len(e.Head), catalog.MaxExchangeHead)])
	return text.Bytes()
}

// oneLine returns s without line ends, and cut if it is too long for the text of a record.
func oneLine(s string) string {
	return strings.ReplaceAll(s[:min(len(s), maxHopsText/4)], "\n", "%0A")
}

// unpackExchange decodes the record of a version of a URL with a digest.
func unpackExchange(raw []byte, url string, sha256 [32]byte) (*catalog.Exchange, error) {
	r := fields.Reader{B: raw}
	if r.Byte() != exchangeFormat {
		return nil, fmt.Errorf("unknown format: %w", fields.ErrBad)
	}
	flags := r.Byte()
	e := &catalog.Exchange{HTTP2: flags&exchangeHTTP2 != 0}
	e.Encoded = r.Max(maxEncoded)
	last := time.UnixMilli(r.Max(maxMillis)).UTC()
	ip, ok := netip.AddrFromSlice(r.Bytes(int(r.Max(16))))
	if port := r.Max(1<<16 - 1); ok {
		e.RemoteAddr = netip.AddrPortFrom(ip, uint16(port)).String()
	}
	if flags&exchangeTLS != 0 {
		e.TLS = &catalog.TLS{}
		copy(e.TLS.Certificate[:], r.Bytes(32))
	}
	if flags&exchangeWARC != 0 {
		e.WARC = &catalog.WARCRecord{Payload: sha256}
		copy(e.WARC.ID[:], r.Bytes(16))
		e.WARC.Date = last.Add(time.Duration(r.Varint()) * time.Millisecond)
		if flags&exchangePayload != 0 {
			copy(e.WARC.Payload[:], r.Bytes(32))
		}
	}
	if r.Bad() {
		return nil, fields.ErrBad
	}
	text, err := inflateText(r.B)
	if err != nil {
		return nil, err
	}
	return e, readExchangeText(e, text, url, last)
}

func readExchangeText(e *catalog.Exchange, text []byte, url string, last time.Time) error {
	for first := e.TLS != nil; ; first = false {
		raw, rest, ok := bytes.Cut(text, []byte("\n"))
		if !ok {
			return fields.ErrBad
		}
		line := string(raw)
		text = rest
		switch {
		case line == "":
			if len(text) > 0 {
				e.Head = text
			}
			return nil
		case first:
			if i := strings.LastIndexByte(line, ' '); i > 0 {
				e.TLS.Version, e.TLS.Cipher = line[:i], line[i+1:]
			}
		default:
			f := strings.SplitN(line, " ", 3)
			if len(f) != 3 {
				return fields.ErrBad
			}
			status, err1 := strconv.Atoi(f[0])
			before, err2 := strconv.ParseInt(f[1], 10, 48)
			if err1 != nil || err2 != nil {
				return fields.ErrBad
			}
			if f[2] == "" {
				f[2] = url
			}
			e.Hops = append(e.Hops, catalog.Hop{URL: f[2], Status: status, At: last.Add(-time.Duration(before) * time.Millisecond)})
		}
	}
}

var deflaters = sync.Pool{New: func() any {
	w, _ := flate.NewWriterDict(io.Discard, 1, []byte(exchangeDictionary)) // a valid level
	return w
}}

// deflateText appends the deflated text to b.
func deflateText(b, text []byte) ([]byte, error) {
	out := bytes.NewBuffer(b)
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(out)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

var inflaters = sync.Pool{New: func() any { return flate.NewReaderDict(bytes.NewReader(nil), []byte(exchangeDictionary)) }}

func inflateText(raw []byte) ([]byte, error) {
	r := inflaters.Get().(io.ReadCloser)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(raw), []byte(exchangeDictionary)); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, maxExchangeText+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxExchangeText {
		return nil, fmt.Errorf("the text is longer than %d bytes: %w", maxExchangeText, fields.ErrBad)
	}
	return text, nil
}

// AddExchange writes the record of a version's exchange that PackExchange made; nothing if it is nil.
func (t Txn) AddExchange(versionID string, packed []byte) error {
	if packed == nil {
		return nil
	}
	resource, n, _ := ns.SplitVersionID(versionID)
	return t.Set(kv.SpaceArchive, VersionKey(tableExchange, resource, n), packed)
}

// DropExchange deletes the record of a version's exchange.
func (t Txn) DropExchange(versionID string) error {
	resource, n, ok := ns.SplitVersionID(versionID)
	if !ok {
		return NotFound("version", versionID)
	}
	return t.Delete(kv.SpaceArchive, VersionKey(tableExchange, resource, n))
}

// Exchange returns what was on the wire when a version was fetched, nil if that is not known.
func (t Txn) Exchange(v catalog.Version) (e *catalog.Exchange, err error) {
	resource, n, _ := ns.SplitVersionID(v.ID)
	k := VersionKey(tableExchange, resource, n)
	_, err = t.Read(kv.SpaceArchive, k, func(raw []byte) (err error) {
		if e, err = unpackExchange(raw, v.URL, v.Digests.SHA256); err != nil {
			return badRecord(k, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}
