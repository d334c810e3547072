package crawler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"odarchive/crawler/archive"
	"odarchive/crawler/archive/content"
	"odarchive/crawler/catalog"
	"odarchive/crawler/copies/dispatch"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/examine"
	"odarchive/crawler/inspect/packed"
	"odarchive/crawler/queue/frontier"
	"odarchive/crawler/web/fetch"
	"odarchive/crawler/web/spool"
)

// Elsewhere makes the first half of visits in a process that does not have the archive. Its Pipeline has neither an
// Archive nor a Frontier.
type Elsewhere struct {
	Pipeline *Pipeline
	Spool    *spool.Spool // for parcels
	Wrapper  *content.Wrapper
}

// Visit makes the first half of a visit. It is dispatch.Kit.Visit.
func (e *Elsewhere) Visit(ctx context.Context, job dispatch.Job) (sent *dispatch.Sent, err error) {
	p := e.Pipeline
	told := &asTold{e: e, job: job}
	defer func() {
		if sent == nil || sent.Parcel == nil {
			told.remove()
		}
	}()
	s, err := p.look(ctx, jobOf(job), told, nil, frontier.Moment)
	defer p.release(s)
	if err != nil {
		return nil, fmt.Errorf("visit %s: %w", job.URL, err)
	}
	ex := s.exchange
	if ex.ErrorClass == catalog.ErrDiskFull {
		return nil, &fetch.OwnTrouble{Kind: fetch.TroubleDisk, Err: errors.New(ex.Why)}
	}
	sent = &dispatch.Sent{Ended: ex.End,
		Finding: dispatch.Finding{Exchange: exchangeElsewhere(ex), Fault: s.found.Fault, Compare: told.compared}}
	f := &sent.Finding
	if s.job.Accept != job.Accept {
		f.Accept = s.job.Accept
	}
	if ex.Body != nil && s.found.Examined != nil { // else the host asks not to keep it
		f.Body = &dispatch.Body{Digests: ex.Body.Digests(), CRC32: ex.Body.CRC32(), Size: ex.Body.Size()}
	}
	kept := s.found.Kept
	if kept == nil {
		f.Compare = false
		return sent, nil
	}
	f.Kept = &dispatch.Kept{Type: kept.Type, Charset: kept.Charset, Because: kept.Because, FileName: kept.FileName}
	if kept.Block.SHA256 != [32]byte{} {
		f.Kept.Head, f.Kept.Block = kept.Block.Head[:], kept.Block.SHA256[:]
	}
	if kept.Inside != nil {
		if kept.Packed == nil || kept.Packed.Inside != kept.Inside {
			inside, err := packed.Pack(kept.Inside, packed.Sample)
			if err != nil {
				return nil, fmt.Errorf("visit %s: %w", job.URL, err)
			}
			kept.Packed = &inside
		}
		sent.Inside = kept.Packed.AppendTo(nil)
	}
	sent.Parcel = &parcel{told.parcel, told.parcel.Open()}
	return sent, nil
}

// jobOf returns a job as the first half of a visit needs it.
func jobOf(j dispatch.Job) frontier.Job {
	return frontier.Job{URL: j.URL, Key: j.Key, Format: j.Format, MediaType: j.MediaType, Accept: j.Accept, ETag: j.ETag,
		LastModified: j.LastModified,
		Fetches:      j.Fetches, Errors: j.Errors}
}

func exchangeElsewhere(ex *fetch.Exchange) dispatch.Exchange {
	d := dispatch.Exchange{
		FinalURL: ex.FinalURL, Took: max(0, ex.End.Sub(ex.Start)), Latency: max(0, ex.Latency()), Outcome: ex.Outcome,
		ErrorClass: ex.ErrorClass, Status: ex.Status,
		Why: ex.Why, Exception: ex.Exception, TLS: ex.TLS, Unverified: ex.Unverified, ContentType: ex.ContentType, ETag: ex.ETag,
		LastModified:  ex.LastModified,
		RequestHeader: ex.RequestHeader, ResponseHeader: ex.ResponseHeader, RemoteAddr: ex.RemoteAddr, Received: ex.Received,
	}
	for i, h := range ex.Hops {
		hop := dispatch.Hop{URL: h.URL, Status: h.Status, Before: max(0, ex.End.Sub(h.Start)), HTTP2: h.HTTP2}
		if i == len(ex.Hops)-1 {
			hop.Head = h.Head
			if h.TLS != nil {
				tls := catalog.TLS(*h.TLS)
				hop.TLS = &tls
			}
		}
		d.Hops = append(d.Hops, hop)
	}
	return d
}

// parcel is a spooled parcel.
type parcel struct {
	file *spool.File
	spool.Reader
}

func (p *parcel) Size() int64 { return p.file.Size() }

func (p *parcel) Close() error { return errors.Join(p.Reader.Close(), p.file.Remove()) }

var _ before = (*asTold)(nil)

// asTold is the before of a worker: it answers from what the writer told, and leaves the rest to the second half.
type asTold struct {
	e   *Elsewhere
	job dispatch.Job

	compared bool // the bytes have to be compared with those of other URLs
	parcel   *spool.File
}

func (a *asTold) remove() {
	_ = a.parcel.Remove() // what remains is removed with the spool
}

func (a *asTold) latest(context.Context, frontier.Job) (*catalog.Version, error) {
	l := a.job.Latest
	if l == nil {
		return nil, nil
	}
	v := &catalog.Version{URL: a.job.URL, Digests: l.Digests, ErrorPage: l.ErrorPage, Truncated: l.Truncated}
	if l.Withdrawn {
		v.Withdrawn = &catalog.Withdrawal{}
	}
	return v, nil
}

// belong is true, since the writer tells a worker no others.
func (a *asTold) belong(frontier.Job, catalog.Version) bool { return true }

// stored is true, since the writer visits URLs itself whose bytes are lost.
func (a *asTold) stored(catalog.Version) bool { return true }

func (a *asTold) original(context.Context, catalog.Version) *fetch.Original { return nil }

func (a *asTold) refused([32]byte) error { return nil }

func (a *asTold) sameBytes(context.Context, string, [32]byte, int) (int, error) {
	a.compared = true
	return 0, nil
}

func (a *asTold) change(context.Context, catalog.Version, *archive.Kept, *examine.Document, string) *diff.Summary {
	return nil
}

// place wraps the bytes into a parcel.
func (a *asTold) place(ctx context.Context, _ *catalog.Version, ex *fetch.Exchange, _ string, written func()) (*content.Placed, error) {
	a.remove()
	a.parcel = a.e.Spool.CreatePlain()
	err := a.e.Wrapper.Wrap(ctx, ex.Body, a.parcel)
	if err == nil {
		err = a.parcel.Finish()
	}
	if errors.Is(err, spool.ErrFull) {
		return nil, &fetch.OwnTrouble{Kind: fetch.TroubleDisk, Err: err}
	}
	if err != nil {
		return nil, err
	}
	written()
	return nil, nil
}

// exchangeOfWorker returns the exchange that a worker reports; now is the present by the archive's clock.
func exchangeOfWorker(url string, r *dispatch.Result, now time.Time) *fetch.Exchange {
	d := r.Finding.Exchange
	end := time.Now().Add(-r.Age)
	ex := &fetch.Exchange{
		URL: url, FinalURL: d.FinalURL, Start: end.Add(-d.Took), End: end, Outcome: d.Outcome, ErrorClass: d.ErrorClass, Status: d.Status,
		Why:       d.Why,
		Exception: d.Exception, TLS: d.TLS, Unverified: d.Unverified, ContentType: d.ContentType, ETag: d.ETag,
		LastModified:  d.LastModified,
		RequestHeader: d.RequestHeader, ResponseHeader: d.ResponseHeader, RemoteAddr: d.RemoteAddr, Received: d.Received,
	}
	ex.Taped.End = now.Add(-r.Age)
	for _, h := range d.Hops {
		hop := fetch.Hop{URL: h.URL, Status: h.Status, Start: end.Add(-h.Before), Head: h.Head, HTTP2: h.HTTP2}
		if h.TLS != nil {
			tls := fetch.TLS(*h.TLS)
			hop.TLS = &tls
		}
		ex.Hops = append(ex.Hops, hop)
	}
	if b := r.Finding.Body; b != nil {
		ex.Body = spool.Described(b.Size, b.Digests, b.CRC32)
	}
	return ex
}
