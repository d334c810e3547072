package crawler

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/describe"
	"odarchive/crawler/catalog"
	"odarchive/crawler/exchange/tape"
	"odarchive/crawler/exchange/warc"
	"odarchive/crawler/web/fetch"
	"odarchive/triplestore/rdfio"
	"odarchive/triplestore/term"
	"odarchive/vocab"
)

// ended returns the end of a fetch by the archive's clock.
func (p *Pipeline) ended(ex *fetch.Exchange) time.Time {
	if ex.Taped.End.IsZero() {
		return p.Clock()
	}
	return ex.Taped.End
}

// exchangeOf returns what the archive records of the wire for a body that was fetched.
func (p *Pipeline) exchangeOf(ex *fetch.Exchange) *catalog.Exchange {
	end := p.ended(ex)
	e := &catalog.Exchange{RemoteAddr: ex.RemoteAddr, Encoded: ex.Received}
	for _, h := range ex.Hops {
		e.Hops = append(e.Hops,
			catalog.Hop{URL: h.URL, Status: h.Status, At: end.Add(h.Start.Sub(ex.End)).UTC().Truncate(time.Millisecond)})
	}
	if n := len(ex.Hops); n > 0 {
		last := ex.Hops[n-1]
		e.Head, e.HTTP2 = last.Head, last.HTTP2
		if last.TLS != nil {
			tls := catalog.TLS(*last.TLS)
			e.TLS = &tls
		}
	}
	if t := ex.Taped; t.Record != "" && !t.Revisit {
		e.WARC = &catalog.WARCRecord{ID: tape.UUID(t.Record), Date: t.Date.UTC().Truncate(time.Millisecond)}
		sha := ex.Body.Digests().SHA256
		if payload, err := hex.DecodeString(strings.TrimPrefix(t.Payload, "sha256:")); err == nil && !bytes.Equal(payload, sha[:]) {
			copy(e.WARC.Payload[:], payload)
		}
	}
	return e
}

// original returns the response that brought a version, for the tape; nil without a tape or if it is not known.
func (p *Pipeline) original(ctx context.Context, v catalog.Version) *fetch.Original {
	if p.Tape == nil {
		return nil
	}
	found := &fetch.Original{URL: v.URL, Date: v.At}
	e, err := p.Archive.Exchange(ctx, v)
	if err != nil {
		p.Log.Warn("the exchange of a version cannot be read", "url", v.URL, "version", v.ID, "error", err)
	}
	if e == nil {
		return found
	}
	if n := len(e.Hops); n > 0 {
		found.URL, found.Date = e.Hops[n-1].URL, e.Hops[n-1].At
	}
	if e.WARC != nil {
		found.Record, found.Date = tape.RecordID(e.WARC.ID), e.WARC.Date
		found.Payload = "sha256:" + hex.EncodeToString(e.WARC.Payload[:])
	}
	return found
}

// tapeBody writes the response of a fetch to the WARC files, if that has not been done: with the compressed bytes of
// the body that is to be kept, nil for none. It must be called before the version is committed, and before the body is
// removed.
func (p *Pipeline) tapeBody(ex *fetch.Exchange, kept *archive.Kept) {
	write := ex.Taped.Write
	if write == nil {
		return
	}
	ex.Taped.Write = nil
	if kept == nil || kept.Placed == nil {
		write(nil)
		return
	}
	var packed *warc.Packed
	if stream, err := kept.Placed.Deflated(); err != nil {
		p.Log.Warn("a body is compressed again for the WARC files", "url", ex.URL, "error", err)
	} else {
		defer stream.Close()
		ref := kept.Placed.Ref()
		packed = &warc.Packed{Stream: stream, Size: ref.Size, CRC: ref.CRC32}
	}
	if !write(packed) {
		ex.Taped = fetch.Taped{End: ex.Taped.End}
		kept.Exchange.WARC = nil
	}
}

// tapeVisit adds to the WARC files what the archive recorded of a visit. v is the version that it brought, if it
// brought one.
func (p *Pipeline) tapeVisit(ex *fetch.Exchange, act catalog.Activity, v catalog.Version) {
	if p.Tape == nil || ex.Taped.Record == "" {
		return
	}
	quads := describe.Activity(p.Archive.Mint(), act)
	if act.Outcome == catalog.Archived {
		quads = append(quads, describe.Version(p.Archive.Mint(), v)...)
	}
	turtle, err := writeTurtle(quads)
	if err != nil {
		p.Log.Warn("a visit is not described in the WARC files", "url", act.URL, "error", err)
		return
	}
	p.Tape.Describe(ex.FinalURL, ex.Taped, turtle)
}

// blockDigest returns the digest of the record that an export as WARC will have for a body that was fetched: of its
// HTTP head and the bytes. It is computed now, while the bytes are at hand, because an export would have to inflate
// them.
func blockDigest(ex *fetch.Exchange, wire *catalog.Exchange) (d archive.BlockDigest, err error) {
	head := warc.ResponseHead{Status: ex.Status, Header: ex.ResponseHeader, Size: ex.Body.Size(), Exchange: wire}.HTTP()
	if head == nil {
		return d, nil // the block is the bytes
	}
	mark := sha256.Sum256(head)
	d.Head = [8]byte(mark[:8])
	if t := ex.Taped; t.Block != "" && bytes.Equal(head, ex.Hops[len(ex.Hops)-1].Head) { // the tape has it already
		_, err := hex.Decode(d.SHA256[:], []byte(strings.TrimPrefix(t.Block, "sha256:")))
		return d, err
	}
	body := ex.Body.Open()
	defer body.Close()
	sum := sha256.New()
	sum.Write(head)
	if _, err := body.WriteTo(sum); err != nil {
		return d, err
	}
	sum.Sum(d.SHA256[:0])
	return d, nil
}

func writeTurtle(quads []term.Quad) ([]byte, error) {
	var b bytes.Buffer
	w := rdfio.NewWriter(&b, rdfio.Turtle(), map[string]string{ // all prefixes would take as long as writing the triples
		"arc": vocab.ArcNS, "dcat": vocab.DCATNS, "dct": vocab.DCTNS, "prov": vocab.PROVNS, "spdx": vocab.SPDXNS, "xsd": vocab.XSDNS,
	})
	for _, q := range quads {
		if err := w.Write(q); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
