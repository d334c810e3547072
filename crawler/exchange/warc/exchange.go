package warc

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"odarchive/crawler/catalog"
)

// Extension fields for properties of an exchange that WARC has no field for.
const (
	fieldPort        = "Odarchive-Port"           // of WARC-IP-Address
	fieldCertificate = "Odarchive-Certificate"    // SHA-256 of the host's certificate
	fieldEncoded     = "Odarchive-Encoded-Length" // bytes of the body as it was sent
	fieldRequested   = "Odarchive-Requested"      // when the last request was sent
	fieldRedirect    = "Odarchive-Redirect"       // "STATUS DATE URL" of a redirect, in order
)

// Bounds of redirects: their number, and the time between them and the last request.
const (
	maxRedirects = 100
	maxEarlier   = 24 * time.Hour
)

// HeaderFields returns the WARC fields that describe an exchange, nil if e is nil. url is the address of the last
// request, where redirects ended.
func HeaderFields(e *catalog.Exchange, url string) Header {
	if e == nil {
		return nil
	}
	var h Header
	remote, err := netip.ParseAddrPort(e.RemoteAddr)
	if err == nil {
		h.Add("WARC-IP-Address", remote.Addr().String())
	}
	if p := e.Protocol(); p != "" {
		h.Add("WARC-Protocol", p)
	} else if strings.HasPrefix(strings.ToLower(url), "ftp:") {
		h.Add("WARC-Protocol", "ftp")
	}
	if e.TLS != nil {
		h.Add("WARC-Protocol", strings.ToLower(strings.Replace(e.TLS.Version, " ", "/", 1)))
		if e.TLS.Cipher != "" {
			h.Add("WARC-Cipher-Suite", e.TLS.Cipher)
		}
	}
	if err == nil && remote.Port() != 0 {
		h.Add(fieldPort, strconv.Itoa(int(remote.Port())))
	}
	if e.TLS != nil && e.TLS.Certificate != [32]byte{} {
		h.Add(fieldCertificate, FormatDigest(e.TLS.Certificate[:]))
	}
	if e.Encoded > 0 {
		h.Add(fieldEncoded, strconv.FormatInt(e.Encoded, 10))
	}
	for i, hop := range e.Hops {
		if i == len(e.Hops)-1 {
			h.Add(fieldRequested, FormatDate(hop.At))
		} else if !strings.ContainsFunc(hop.URL, isControlByte) {
			h.Add(fieldRedirect, strconv.Itoa(hop.Status)+" "+FormatDate(hop.At)+" "+hop.URL)
		}
	}
	return h
}

// ExchangeHeads returns the exchange that a record describes, nil if the record says nothing about it. m is the HTTP
// head in the record, or nil; own reports whether this program exported the record, so that m has prefixes; url is the
// address of the last request. hops are the redirects that led there, as far as other records of the file tell.
func ExchangeHeads(rec *Record, m *Message, own bool, url string, hops []catalog.Hop) *catalog.Exchange {
	e := &catalog.Exchange{}
	h := rec.Header
	if ip, err := netip.ParseAddr(h.Get("WARC-IP-Address")); err == nil {
		port, _ := strconv.ParseUint(h.Get(fieldPort), 10, 16) // 0 if it is not known
		e.RemoteAddr = netip.AddrPortFrom(ip.WithZone(""), uint16(port)).String()
	}
	e.Encoded, _ = strconv.ParseInt(h.Get(fieldEncoded), 10, 64) // 0 if it is not known
	e.Encoded = max(e.Encoded, 0)
	protocols := h.Values("WARC-Protocol")
	e.TLS = readTLS(h, protocols)
	if m == nil {
		if e.RemoteAddr == "" && e.TLS == nil && e.Encoded == 0 {
			return nil
		}
		return e
	}
	overHTTP := false
	for _, p := range protocols {
		p = strings.ToLower(p)
		e.HTTP2 = e.HTTP2 || p == "h2" || p == "http/2" || p == "http/2.0"
		overHTTP = overHTTP || e.HTTP2 || strings.HasPrefix(p, "http/")
	}
	if own && !overHTTP { // the exchange was not known when the record was exported; the head was made from Response.Header
		return nil
	}
	e.Head = completeHead(m.Head)
	if own {
		e.Head = UndoHeads(e.Head)
	}
	if len(e.Head) > catalog.MaxExchangeHead {
		e.Head = e.Head[:catalog.MaxExchangeHead]
	}
	last, err := ParseDate(h.Get(fieldRequested))
	if err != nil && own {
		return e
	}
	if err != nil {
		if last, err = rec.Date(); err != nil {
			return e
		}
	}
	last = last.Truncate(time.Millisecond)
	if stated := redirects(h); len(stated) > 0 {
		hops = stated
	}
	for _, hop := range hops {
		hop.At = hop.At.UTC().Truncate(time.Millisecond)
		if before := last.Sub(hop.At); before < maxEarlier && before > -maxEarlier {
			e.Hops = append(e.Hops, hop)
		}
	}
	e.Hops = append(e.Hops, catalog.Hop{URL: url, Status: m.Status(), At: last})
	return e
}

// readTLS returns the properties of TLS that a record states, nil if it states no version of TLS.
func readTLS(h Header, protocols []string) *catalog.TLS {
	for _, p := range protocols {
		name, version, ok := strings.Cut(strings.ToLower(p), "/")
		if !ok || name != "tls" && name != "ssl" || version == "" || strings.ContainsAny(version, " \t") {
			continue
		}
		t := &catalog.TLS{Version: strings.ToUpper(name) + " " + version}
		if cipher := h.Get("WARC-Cipher-Suite"); !strings.ContainsAny(cipher, " \t") {
			t.Cipher = cipher
		}
		if sum, err := hex.DecodeString(strings.TrimPrefix(h.Get(fieldCertificate), "sha256:")); err == nil &&
			len(sum) == len(t.Certificate) {
			copy(t.Certificate[:], sum)
		}
		return t
	}
	return nil
}

// redirects returns the redirects that an exported record states.
func redirects(h Header) (hops []catalog.Hop) {
	for _, line := range h.Values(fieldRedirect) {
		f := strings.SplitN(line, " ", 3)
		if len(f) < 3 || len(hops) == maxRedirects {
			return hops
		}
		status, err1 := strconv.Atoi(f[0])
		at, err2 := ParseDate(f[1])
		if err1 == nil && err2 == nil {
			hops = append(hops, catalog.Hop{URL: f[2], Status: status, At: at})
		}
	}
	return hops
}

// completeHead returns the head with a blank line at its end, which heads in revisit records may lack.
func completeHead(head []byte) []byte {
	if HeadEnd(head, 0) == len(head) {
		return head
	}
	if !bytes.HasSuffix(head, []byte("\n")) {
		head = append(bytes.Clone(head), "\r\n"...)
	}
	return append(bytes.Clone(head), "\r\n"...)
}
