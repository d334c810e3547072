// Package preserve has what exports and imports for preservation share: how a version is described beside its bytes,
// and how files and their versions pass from whoever reads them to whoever keeps them.
//
// An archive, an OCFL storage root or a bag is read by a function that calls a Receiver; Receivers write OCFL storage
// roots and bags, and put versions into the archive. Wire is the Receiver that sends everything over a stream, and
// Receive reads it there, so that a server and its client may each be one end.
package preserve

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"time"

	"odarchive/crawler/catalog"
)

// Object is a file of the web with its versions.
type Object struct {
	URL     string           `json:"url"`
	Title   string           `json:"title,omitempty"`
	Format  string           `json:"format,omitempty"` // as its sources declare it
	Sources []catalog.Source `json:"sources,omitempty"`

	// Anew means that all versions follow, although the receiver has some of them: one has been withdrawn since, and
	// must be replaced by its record.
	Anew bool `json:"anew,omitempty"`
}

// Version describes a version. Its JSON names are stable: OCFL objects and bags hold it in this form.
type Version struct {
	URL        string              `json:"url"`
	IRI        string              `json:"iri,omitempty"`
	N          int                 `json:"number"`
	Time       time.Time           `json:"time"`
	FinalURL   string              `json:"finalUrl,omitempty"` // where redirects ended, "" if it is URL
	Status     int                 `json:"status,omitempty"`   // of HTTP
	MediaType  string              `json:"mediaType,omitempty"`
	Charset    string              `json:"charset,omitempty"`
	FileName   string              `json:"fileName,omitempty"`
	Size       int64               `json:"size"` // -1 if unknown
	SHA256     string              `json:"sha256,omitempty"`
	MD5        string              `json:"md5,omitempty"`
	Truncated  string              `json:"truncated,omitempty"`
	ErrorPage  string              `json:"errorPage,omitempty"`
	Header     map[string][]string `json:"header,omitempty"`
	Exchange   *Exchange           `json:"exchange,omitempty"`
	Title      string              `json:"title,omitempty"`   // of the file
	Format     string              `json:"format,omitempty"`  // as portals declare it
	Sources    []catalog.Source    `json:"sources,omitempty"` // where portals list it
	Withdrawal *catalog.Withdrawal `json:"withdrawn,omitempty"`
	Path       string              `json:"path,omitempty"` // of the bytes, in a bag
}

// Exchange is catalog.Exchange as JSON.
type Exchange struct {
	Hops       []Hop  `json:"hops,omitempty"`
	Head       []byte `json:"head,omitempty"` // in base64, since it may be no text
	HTTP2      bool   `json:"http2,omitempty"`
	RemoteAddr string `json:"address,omitempty"`
	TLS        *TLS   `json:"tls,omitempty"`
	Encoded    int64  `json:"encoded,omitempty"`
}

// Hop is one request of a fetch.
type Hop struct {
	URL    string    `json:"url"`
	Status int       `json:"status"`
	At     time.Time `json:"time"`
}

// TLS describes a connection.
type TLS struct {
	Version     string `json:"version"`
	Cipher      string `json:"cipher"`
	Certificate string `json:"certificate"` // its SHA-256 in hexadecimal digits
}

// maxSize bounds the bytes of a file: an archive could have written no more, and sums must not overflow.
const maxSize = 1 << 50

// Check returns an error if a description has a number that none can have.
func (v *Version) Check() error {
	switch {
	case !catalog.IsStatus(v.Status):
		return fmt.Errorf("%d is no HTTP status", v.Status)
	case v.Size < -1 || v.Size > maxSize:
		return fmt.Errorf("%d bytes is no size", v.Size)
	}
	return nil
}

// Describe returns the description of a version and of the visit that stored it.
func Describe(v catalog.Version, visit catalog.Activity, e *catalog.Exchange, iri string) Version {
	d := Version{
		URL: v.URL, IRI: iri, N: v.N, Time: v.At.UTC(), Status: visit.Status, MediaType: v.Type, Charset: v.Charset, FileName: v.FileName,
		Size: v.Size, SHA256: hex.EncodeToString(v.Digests.SHA256[:]), MD5: hex.EncodeToString(v.Digests.MD5[:]), Truncated: v.Truncated,
		ErrorPage: v.ErrorPage, Header: v.Headers,
	}
	if visit.FinalURL != v.URL {
		d.FinalURL = visit.FinalURL
	}
	if v.Withdrawn != nil {
		w := *v.Withdrawn
		if w.By != catalog.ByRetention { // who ordered it is for the operator only
			w.By = ""
		}
		d.Withdrawal, d.Header = &w, nil
	} else {
		d.Exchange = describeExchange(e)
	}
	return d
}

func describeExchange(e *catalog.Exchange) *Exchange {
	if e == nil {
		return nil
	}
	d := &Exchange{Head: e.Head, HTTP2: e.HTTP2, RemoteAddr: e.RemoteAddr, Encoded: e.Encoded}
	for _, h := range e.Hops {
		d.Hops = append(d.Hops, Hop{h.URL, h.Status, h.At.UTC()})
	}
	if e.TLS != nil {
		d.TLS = &TLS{e.TLS.Version, e.TLS.Cipher, hex.EncodeToString(e.TLS.Certificate[:])}
	}
	return d
}

// maxHops bounds the requests of one exchange.
const maxHops = 100

// Catalog returns the exchange as the archive records it, without what cannot be true. It returns nil for nil. The WARC
// file that held the response is another archive's, so it is not named.
func (e *Exchange) Catalog() *catalog.Exchange {
	if e == nil {
		return nil
	}
	c := &catalog.Exchange{Head: e.Head[:min(len(e.Head), catalog.MaxExchangeHead)], HTTP2: e.HTTP2, RemoteAddr: e.RemoteAddr,
		Encoded: max(e.Encoded, 0)}
	for _, h := range e.Hops[:min(len(e.Hops), maxHops)] {
		c.Hops = append(c.Hops, catalog.Hop{URL: h.URL, Status: h.Status, At: h.At})
	}
	if e.TLS != nil {
		c.TLS = &catalog.TLS{Version: e.TLS.Version, Cipher: e.TLS.Cipher}
		if sum, err := hex.DecodeString(e.TLS.Certificate); err == nil {
			copy(c.TLS.Certificate[:], sum)
		}
	}
	return c
}

// HTTPHeader returns the header of the response, never nil.
func (v *Version) HTTPHeader() http.Header {
	h := http.Header{}
	for name, values := range v.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
	return h
}

// Receiver keeps versions. Its methods are called by one goroutine: Begin, then Version for each version in the order
// of their numbers, then End, and so on for each file.
//
// An error that is a *Bad concerns one file or version: the caller reports it and goes on with the next file. Any other
// error ends everything.
type Receiver interface {
	Begin(ctx context.Context, o Object) error
	// Version keeps a version. body is nil if the version was withdrawn. Read errors of body are returned; if they are
	// *Bad, nothing is kept of the version.
	Version(ctx context.Context, v Version, body io.Reader) error
	// End keeps what was received since Begin. A Receiver that keeps files as a whole keeps nothing if a version was
	// bad.
	End(ctx context.Context) error
}

// Bad is the error of one file or version that cannot be kept. Others are not concerned.
type Bad struct{ Err error }

func (b *Bad) Error() string { return b.Err.Error() }

// Unwrap returns the cause.
func (b *Bad) Unwrap() error { return b.Err }

// Badf returns a *Bad.
func Badf(format string, args ...any) error { return &Bad{fmt.Errorf(format, args...)} }

// Held is what a receiver holds of a file already.
type Held struct {
	Versions []HeldVersion `json:"versions"`
}

// HeldVersion is a version that a receiver holds.
type HeldVersion struct {
	Time      time.Time `json:"time"`
	Withdrawn bool      `json:"withdrawn,omitempty"` // only its record is there
}
