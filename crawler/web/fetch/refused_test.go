package fetch

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"odarchive/crawler/catalog"

	"golang.org/x/net/http2"
)

// refusing accepts connections and refuses every stream of HTTP/2. asked counts the streams.
func refusing(t *testing.T, asked *atomic.Int64) (address string) {
	t.Helper()
	s := httptest.NewUnstartedServer(nil) // for its certificate
	s.EnableHTTP2 = true
	s.StartTLS()
	config := s.TLS.Clone()
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
						_ = f.WriteRSTStream(frame.StreamID, http2.ErrCodeRefusedStream)
					case *http2.SettingsFrame:
						if !frame.IsAck() {
							_ = f.WriteSettingsAck()
						}
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestAServerThatRefusesEachStreamIsNotAskedForEver(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	to := refusing(t, &asked)
	f := newFetcher(t, Options{UnverifiedHosts: []string{"127.0.0.1"}, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, to)
	}})
	ex := get(t, f, Request{URL: "https://127.0.0.1/a.csv"})
	if ex.Outcome != catalog.NoVersion || ex.ErrorClass != catalog.ErrProtocol || ex.Why != errRefusedAgain.Error() {
		t.Errorf("%s %s %q", ex.Outcome, ex.ErrorClass, ex.Why)
	}
	if n := asked.Load(); n > maxTries+1 {
		t.Errorf("it was asked %d times", n)
	}
}
