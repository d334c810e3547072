package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"odarchive/crawler/catalog"

	"golang.org/x/net/http2"
)

// refusing accepts connections and refuses every stream of HTTP/2, for a reason. Over HTTP/1.1, it has a file. asked
// counts the streams.
func refusing(t *testing.T, asked *atomic.Int64, reason http2.ErrCode) (address string, roots *x509.CertPool) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil) // for its certificate
	s.EnableHTTP2 = true
	s.StartTLS()
	config := s.TLS.Clone()
	roots = x509.NewCertPool()
	roots.AddCert(s.Certificate())
	s.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				conn := conn.(*tls.Conn)
				if conn.HandshakeContext(t.Context()) != nil {
					return
				}
				if conn.ConnectionState().NegotiatedProtocol != "h2" {
					if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
						_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na,b\n")
					}
					return
				}
				if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
					return
				}
				f := http2.NewFramer(conn, conn)
				if f.WriteSettings() != nil {
					return
				}
				for {
					frame, err := f.ReadFrame()
					if err != nil {
						return
					}
					switch frame := frame.(type) {
					case *http2.HeadersFrame:
						asked.Add(1)
						_ = f.WriteRSTStream(frame.StreamID, reason)
					case *http2.SettingsFrame:
						if !frame.IsAck() {
							_ = f.WriteSettingsAck()
						}
					}
				}
			}()
		}
	}()
	return l.Addr().String(), roots
}

// fetcherTo returns a fetcher whose connections all go to an address.
func fetcherTo(t *testing.T, to string, roots *x509.CertPool) *Fetcher {
	t.Helper()
	return newFetcher(t, Options{RootCAs: roots, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, to)
	}})
}

func TestAServerThatRefusesEachStreamIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	to, roots := refusing(t, &asked, http2.ErrCodeRefusedStream)
	f := fetcherTo(t, to, roots)
	ex := get(t, f, Request{URL: "https://127.0.0.1/a.csv"})
	if ex.Outcome != catalog.NoVersion || ex.ErrorClass != catalog.ErrProtocol || ex.Why != errRefusedAgain.Error() {
		t.Errorf("%s %s %q", ex.Outcome, ex.ErrorClass, ex.Why)
	}
	if n := asked.Load(); n > maxTries+1 {
		t.Errorf("it was asked %d times", n)
	}
}

func TestAServerThatRequiresHTTP1IsAskedOverIt(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	to, roots := refusing(t, &asked, http2.ErrCodeHTTP11Required)
	f := fetcherTo(t, to, roots)
	ex := get(t, f, Request{URL: "https://127.0.0.1/a.csv"})
	if ex.Outcome != "" || ex.Status != 200 || ex.Body.Size() != 4 || asked.Load() != 1 {
		t.Errorf("%s %s %q, status %d, %d streams", ex.Outcome, ex.ErrorClass, ex.Why, ex.Status, asked.Load())
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://127.0.0.1/sparql", strings.NewReader("query=ASK"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := f.Portals().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.ProtoMajor != 1 || resp.StatusCode != 200 {
		t.Errorf("%s %s", resp.Proto, resp.Status)
	}
}
