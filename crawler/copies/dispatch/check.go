package dispatch

import (
	"net/http"
	"strings"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
)

// check returns an error if the result is one that no worker sends. What it lets pass can be recorded and described in
// triples; lengths are cut again when it is recorded.
func (r *Result) check() error {
	f, ex := &r.Finding, &r.Finding.Exchange
	switch {
	case r.Version != Version:
		return malformed("a result of version %d, this is %d", r.Version, Version)
	case r.Job.Group == "" || r.Job.Key == "" || len(r.Job.Group) > maxText || len(r.Job.Key) > maxText:
		return malformed("no job")
	case len(r.Passages) > maxPassages || len(r.Robots) > maxPassages:
		return malformed("%d requests", len(r.Passages))
	case r.Age < 0 || ex.Took < 0 || ex.Latency < 0 || ex.Took > 24*time.Hour || r.Age > 24*time.Hour:
		return malformed("impossible times")
	case !isOutcome(ex.Outcome):
		return malformed("outcome %.40q", ex.Outcome)
	case ex.ErrorClass != "" && !ex.ErrorClass.Known():
		return malformed("error class %.40q", ex.ErrorClass)
	case !catalog.IsStatus(ex.Status) || ex.Received < 0 || r.Size < 0:
		return malformed("impossible numbers")
	case len(ex.Hops) > maxHops || sizeOf(ex.RequestHeader) > maxHeaders || sizeOf(ex.ResponseHeader) > maxHeaders:
		return malformed("too much about the exchange")
	case !areFields(ex.RequestHeader) || !areFields(ex.ResponseHeader):
		return malformed("a field of a message that is none")
	case ex.FinalURL != "" && !isURL(ex.FinalURL): // it is empty if nothing was asked for
		return malformed("final URL %.100q", ex.FinalURL)
	case f.Body != nil && (f.Body.Size <= 0 || f.Body.Size > 1<<50):
		return malformed("a body of %d bytes", f.Body.Size)
	case r.Object != "" && !isPartName(r.Object) || r.Beside != "" && !isPartName(r.Beside):
		return malformed("a part that is called %.40q", r.Object+" "+r.Beside)
	case r.Object != "" && f.Body == nil:
		return malformed("a parcel of no body")
	case len(r.Inside) > maxPart:
		return malformed("too much inside")
	}
	for _, text := range []string{ex.FinalURL, ex.Why, ex.Exception, ex.TLS, ex.ContentType, ex.ETag, ex.LastModified, ex.RemoteAddr,
		f.Accept, f.Fault, r.Object, r.Beside} {
		if len(text) > maxText {
			return malformed("a text of %d bytes", len(text))
		}
	}
	for _, h := range ex.Hops {
		if !isURL(h.URL) || len(h.URL) > maxText || len(h.Head) > catalog.MaxExchangeHead || h.Before < 0 || h.Before > 24*time.Hour ||
			!catalog.IsStatus(h.Status) {
			return malformed("an impossible request of %.100q", h.URL)
		}
	}
	for _, p := range r.Passages {
		if p.Latency < 0 || p.RetryAfter < 0 || p.Rest < 0 || p.RetryAfter > 48*time.Hour || p.Rest > 48*time.Hour {
			return malformed("impossible pauses")
		}
	}
	if k := f.Kept; k != nil {
		switch {
		case f.Body == nil || ex.Outcome != "":
			return malformed("a version without bytes")
		case len(r.Parcel) == 0 && r.Object == "":
			return malformed("a version without a parcel")
		case len(k.Head) != 0 && len(k.Head) != 8 || len(k.Block) != 0 && len(k.Block) != 32 || len(k.Head) == 0 && len(k.Block) > 0:
			return malformed("a digest of %d bytes", len(k.Block))
		case len(k.Type) > maxText || len(k.Charset) > maxText || len(k.Because) > maxText || len(k.FileName) > maxText:
			return malformed("a long text")
		}
	} else if ex.Outcome == "" {
		return malformed("no outcome")
	}
	return nil
}

// isOutcome reports whether a worker may report an outcome: "" for a body that is to be kept.
func isOutcome(o catalog.Outcome) bool {
	switch o {
	case "", catalog.Unchanged, catalog.NoVersion, catalog.Blocked, catalog.RobotsDenied, catalog.RetryLater:
		return true
	}
	return false
}

// isURL reports whether a text can be the URL of a request: absolute, with a host, and without controls and spaces.
// Other characters that IRIs exclude may be in it; they are escaped when it is described.
func isURL(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || rest == "" || strings.ContainsRune("/?#", rune(rest[0])) || scheme != "http" && scheme != "https" && scheme != "ftp" {
		return false
	}
	return !strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f })
}

// isHost reports whether a text is how address names a host.
func isHost(text string) bool {
	if len(text) > address.MaxURL {
		return false
	}
	u, err := address.Parse("http://" + text + "/")
	if err != nil || u.Group() != text {
		u, err = address.Parse("https://" + text + "/")
	}
	return err == nil && u.Group() == text
}

// areFields reports whether no field of a header could be taken for two, or for the end of the header.
func areFields(h http.Header) bool {
	for name, values := range h {
		if name == "" || strings.ContainsAny(name, ":\r\n\x00") {
			return false
		}
		for _, v := range values {
			if strings.ContainsAny(v, "\r\n\x00") {
				return false
			}
		}
	}
	return true
}

func sizeOf(h http.Header) (n int) {
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v)
		}
	}
	return n
}
