package fetch

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/web/hosts"
	"odarchive/crawler/web/spool"
)

func (f *Fetcher) http(ctx context.Context, ex *Exchange, u address.URL, req Request, jar cookies) (location string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	set := f.opts.Settings(u.Group())
	trace := &traced{ex: ex, now: f.opts.Now, keep: f.opts.wireSpool(), login: set.Secret,
		permit: func() *NotPermitted { return f.opts.Permit(u.Group()) },
		giveUp: func() { cancel(errRefusedAgain) }}
	hop := Hop{URL: ex.FinalURL, Start: f.opts.Now()}
	if len(ex.Redirects) == 0 {
		hop.Start = ex.Start
	}
	out := (&http.Request{Method: http.MethodGet, URL: u.Standard(), Host: u.Group(), Header: f.header(u, req, jar, set)}).
		WithContext(httptrace.WithClientTrace(ctx, trace.hooks()))
	ex.StatusLine, ex.ResponseHeader, ex.Status, ex.TLS = "", nil, 0, ""

	relaxed := u.Scheme == "https" && (set.Unverified || f.unverified(u))
	travel := wayTo(u.Scheme, set, relaxed, forVisits)
	resp, err := f.send(travel, out)
	if err != nil && trace.reused() && class(err) == catalog.ErrProtocol {
		// The previous response was longer than its Content-Length, and the rest of it was read as this one.
		resp, err = f.send(travel, out)
	}
	wire := trace.close("GET "+u.PathAndQuery(), resp)
	hop.RemoteAddr = ex.RemoteAddr
	if err != nil {
		wire.finish(ex, hop, "disconnect")
		return "", f.classifyRequest(ctx, ex, err)
	}
	body := &incoming{ctx: ctx, cancel: cancel, src: resp.Body, f: f}
	if resp.ProtoMajor == 2 {
		body.wire = wire
	}
	defer func() {
		cut := body.cut()
		body.close()
		wire.finish(ex, hop, cut)
	}()
	f.note(ex, resp, relaxed, wire)
	ex.ResponseHeader = withoutRepeated(resp.Header, set.Secret)
	jar.set(u, resp.Header)
	if loc, ok := redirect(ex, resp); ok {
		body.drain()
		return loc, nil
	}
	if !f.wantsBody(ex, resp, req) {
		body.drain()
		return "", nil
	}
	if err := checkBody(ex, resp, req); err != nil || ex.Outcome != "" {
		body.drain()
		return "", err
	}
	ex.FileName = fileName(resp.Header.Get("Content-Disposition"), u)
	return "", f.receive(ex, body, resp.Header, req)
}

func (f *Fetcher) header(u address.URL, req Request, jar cookies, set hosts.Settings) http.Header {
	h := http.Header{
		"User-Agent":      {f.opts.userAgent(set.UserAgent)},
		"Accept":          {cmp.Or(req.Accept, "*/*")},
		"Accept-Encoding": {"gzip, br, zstd, deflate"},
	}
	if req.ETag != "" && validField(req.ETag) {
		h.Set("If-None-Match", req.ETag)
	}
	if req.LastModified != "" && validField(req.LastModified) {
		h.Set("If-Modified-Since", req.LastModified)
	}
	if req.Part != nil {
		req.Part.setHeader(h)
	}
	if c := jar.header(u); c != "" {
		h.Set("Cookie", c)
	}
	for name, value := range set.Headers {
		h.Set(name, value)
	}
	if user, pass, ok := credentials(u); ok {
		(&http.Request{Header: h}).SetBasicAuth(user, pass)
	}
	if set.Secret.Permits(u.Scheme == "https") {
		set.Secret.SetHeader(h)
	}
	return h
}

// credentials returns the user and password of a URL, decoded.
func credentials(u address.URL) (user, pass string, ok bool) {
	if u.User == "" {
		return "", "", false
	}
	user, pass, _ = strings.Cut(u.User, ":")
	user, err1 := url.PathUnescape(user)
	pass, err2 := url.PathUnescape(pass)
	return user, pass, err1 == nil && err2 == nil
}

// validField reports whether net/http sends a header value. Servers send values that it does not.
func validField(v string) bool {
	return !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// note copies the facts of a response's header to the exchange.
func (f *Fetcher) note(ex *Exchange, resp *http.Response, relaxed bool, wire *capture) {
	ex.Status = resp.StatusCode
	ex.StatusLine = strings.TrimSpace(resp.Proto + " " + resp.Status)
	ex.ResponseHeader = resp.Header
	ex.announced = resp.ContentLength
	ex.ContentType = resp.Header.Get("Content-Type")
	ex.LastModified = resp.Header.Get("Last-Modified")
	ex.ETag = resp.Header.Get("ETag")
	ex.RetryAfter = RetryAfter(resp.Header.Get("Retry-After"), f.opts.Now())
	ex.Rest = restWanted(resp.Header, f.opts.Now())
	if state := wire.state(); state != nil {
		ex.TLS = tls.VersionName(state.Version)
		if relaxed {
			ex.TLS, ex.Unverified = ex.TLS+", certificate not verified", true
		}
	}
}

// redirect returns the target of a redirect. ok is false if the response is not a redirect or has no target.
func redirect(ex *Exchange, resp *http.Response) (location string, ok bool) {
	switch resp.StatusCode {
	case 301, 302, 303, 307, 308:
		location = resp.Header.Get("Location")
		return location, location != ""
	}
	return "", false
}

// wantsBody checks status and length. If the body is not wanted, it sets the outcome.
func (f *Fetcher) wantsBody(ex *Exchange, resp *http.Response, req Request) bool {
	if req.Part != nil && !ex.wantsPart(req.Part, resp.Header) {
		return false
	}
	switch s := resp.StatusCode; {
	case s == 200 || s == 203 || s == 206 && ex.Sent.Total > 0:
	case s == 304 && (req.ETag != "" || req.LastModified != ""):
		ex.fail(catalog.Unchanged, "", "the server says that the file has not changed (304)")
		return false
	case s == 204 || s == 205:
		ex.fail(catalog.NoVersion, catalog.ErrEmptyBody, ex.StatusLine+": there is no content")
		return false
	case s == 206:
		ex.fail(catalog.NoVersion, catalog.ErrProtocol, "the server sent only a part of the file (206)")
		return false
	case s == 101:
		ex.fail(catalog.NoVersion, catalog.ErrProtocol, "the server switched to another protocol without being asked (101)")
		return false
	case s == 429 || s == 503:
		ex.fail(catalog.RetryLater, catalog.ErrHTTPStatus, ex.StatusLine+": the server asks to come back later")
		return false
	case s >= 301 && s <= 308 && s != 304 && s != 305 && s != 306:
		ex.fail(catalog.NoVersion, catalog.ErrProtocol, ex.StatusLine+": a redirect without a target")
		return false
	default:
		ex.fail(catalog.NoVersion, catalog.ErrHTTPStatus, ex.StatusLine)
		return false
	}
	if limit := f.limit(req); resp.ContentLength > limit && !req.CutOff {
		ex.fail(catalog.NoVersion, catalog.ErrTooLarge,
			fmt.Sprintf("the server announces %d bytes, the limit is %d", resp.ContentLength, limit))
		return false
	}
	return true
}

func (f *Fetcher) limit(req Request) int64 {
	if req.MaxBody > 0 {
		return req.MaxBody
	}
	return f.opts.MaxBody
}

// receive copies the body to the spool.
func (f *Fetcher) receive(ex *Exchange, body *incoming, h http.Header, req Request) error {
	body.begin()
	var src io.Reader = body
	var encoding string
	file := f.opts.Spool.Create()
	if ex.Sent.Total > 0 {
		file = f.opts.Spool.CreatePlain()
	} else {
		var err error
		if src, encoding, err = decoder(body, h); err != nil {
			return f.classifyBody(ex, body, err)
		}
	}
	ex.Encoding = encoding
	if encoding == "" {
		file.Expect(ex.announced)
	}
	err := f.copyBody(file, src, body, f.limit(req), req.CutOff)
	ex.Received = body.received
	if err == nil {
		err = body.end()
	}
	if err == nil && ex.Sent.Total > 0 && file.Size() != ex.asked {
		err = fmt.Errorf("the server announced a part of %d bytes and sent %d: %w", ex.asked, file.Size(), io.ErrUnexpectedEOF)
	}
	if err == nil && file.Size() > 0 {
		ex.Body = file
		return file.Finish()
	}
	if removing := file.Remove(); removing != nil {
		return removing
	}
	var ours *spoolError
	switch {
	case err == nil:
		ex.fail(catalog.NoVersion, catalog.ErrEmptyBody, "the file is empty")
	case errors.As(err, &ours) && errors.Is(err, spool.ErrFull):
		ex.fail(catalog.NoVersion, catalog.ErrDiskFull, ours.Error())
	case errors.As(err, &ours):
		return spoolTrouble(ours)
	default:
		return f.classifyBody(ex, body, err)
	}
	return nil
}

// spoolTrouble returns the *OwnTrouble for a failed write to the spool.
func spoolTrouble(err *spoolError) error {
	if own := ownTrouble(err.error); own != nil {
		return own
	}
	return &OwnTrouble{TroubleDisk, err.error}
}

var _ io.Reader = (*incoming)(nil)

// unverified reports whether Options.UnverifiedHosts has the host, with the port or without.
func (f *Fetcher) unverified(u address.URL) bool {
	name, _ := u.Address()
	return slices.ContainsFunc(f.opts.UnverifiedHosts, func(h string) bool {
		return strings.EqualFold(h, u.Group()) || strings.EqualFold(strings.Trim(h, "[]"), name)
	})
}

// checkBody calls Request.CheckBody, if there is one, and gives the exchange the outcome of a refusal.
func checkBody(ex *Exchange, resp *http.Response, req Request) error {
	if req.CheckBody == nil {
		return nil
	}
	length := resp.ContentLength
	if resp.Header.Get("Content-Encoding") != "" { // it is that of the encoded body
		length = -1
	}
	err := req.CheckBody(ex.ContentType, length)
	var refused *Refused
	if errors.As(err, &refused) {
		ex.fail(refused.Outcome, refused.Class, refused.Why)
		return nil
	}
	return err
}
