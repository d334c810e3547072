package assist

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"odarchive/sparqlapi/problem"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits of requests.
const (
	maxBody  = 256 << 10
	maxDepth = 64 // of nested objects and arrays
)

// Handler serves POST /mcp: one message a request, answered with JSON. There are no sessions, so that nothing is kept
// for a client between its requests.
func (s *Server) Handler() http.Handler {
	inner := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.mcp }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody,
		DisableLocalhostProtection: true, // it refuses requests through a proxy on this machine; checkOrigin is ours
	})
	return problem.Handler(func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cache-Control", "no-store")
		if err := s.checkOrigin(r); err != nil {
			return err
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			return err
		}
		if err := checkBody(body); err != nil {
			return problem.Wrap(http.StatusBadRequest, "Not a message", err)
		}
		r2 := r.WithContext(context.WithValue(r.Context(), requestKey{}, r.Context()))
		r2.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r2)
		return nil
	})
}

// checkOrigin refuses requests of scripts of other sites: a site whose name suddenly leads to this machine could
// otherwise read an archive that only this network may see. Programs send no Origin.
func (s *Server) checkOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return nil
	}
	if u, err := url.Parse(origin); err == nil && u.Host != "" {
		base, err := url.Parse(s.o.Mint.Base)
		if err == nil && strings.EqualFold(u.Host, base.Host) && u.Scheme == base.Scheme || isLoopback(u.Hostname()) {
			return nil
		}
	}
	return problem.New(http.StatusForbidden, "Not from this site",
		"scripts of other sites may not use the tools; programs send no Origin header")
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		ip := net.ParseIP(host)
		return ip != nil && ip.IsLoopback()
	}
	return addr.Unmap().IsLoopback()
}

// checkBody refuses lists of messages, which the protocol no longer has, and nesting that costs a decoder its stack.
func checkBody(body []byte) error {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errors.New("expected one JSON-RPC message, which is an object")
	}
	depth, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return fmt.Errorf("objects and arrays are nested more than %d deep", maxDepth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}

type requestKey struct{}

// withRequest returns a context that ends with the HTTP request of a call, too, and after the time that a call may
// take. For clients of older versions of the protocol, the context of a call outlives the request.
func withRequest(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	request, ok := ctx.Value(requestKey{}).(context.Context)
	if !ok {
		return ctx, cancel
	}
	stop := context.AfterFunc(request, cancel)
	return ctx, func() { stop(); cancel() }
}
