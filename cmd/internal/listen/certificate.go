package listen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Certificate is a server's certificate and its key, from two files in PEM that other programs renew.
type Certificate struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]

	mu   sync.Mutex // guards seen, and is held while the files are read
	seen [sha256.Size]byte
}

// LoadCertificate reads a certificate, with those of its issuers behind it, and its key.
func LoadCertificate(certFile, keyFile string) (*Certificate, error) {
	c := &Certificate{certFile: certFile, keyFile: keyFile}
	if _, err := c.Reload(); err != nil {
		return nil, err
	}
	return c, nil
}

// Reload reads the files again. It reports whether they have changed since they were read last. If they do not make a
// certificate, it returns an error, once for each such state of the files, and the certificate before stays.
func (c *Certificate) Reload() (changed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cert, err := readPEM(c.certFile)
	if err != nil {
		return false, c.failed(sha256.Sum256([]byte(err.Error())), fmt.Errorf("--tls-cert: %w", err))
	}
	key, err := readPEM(c.keyFile)
	if err != nil {
		return false, c.failed(sha256.Sum256([]byte(err.Error())), fmt.Errorf("--tls-key: %w", err))
	}
	sum := sha256.Sum256(bytes.Join([][]byte{cert, key}, []byte{0}))
	if sum == c.seen {
		return false, nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return false, c.failed(sum, fmt.Errorf("--tls-cert %s, --tls-key %s: %w", c.certFile, c.keyFile, err))
	}
	c.seen = sum
	c.current.Store(&pair)
	return true, nil
}

// maxPEM limits a file of certificates or of a key, in bytes. Long chains have some tens of thousands.
const maxPEM = 1 << 20

// readPEM reads a file whole. It takes regular files only: to open a pipe waits for somebody who writes to it, and a
// server that waits for that neither reads its settings again nor ends.
func readPEM(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if info.Size() > maxPEM {
		return nil, fmt.Errorf("%s has %d bytes, and may have %d", name, info.Size(), maxPEM)
	}
	return os.ReadFile(name)
}

// failed returns err if the files were not in this state when they were read last.
func (c *Certificate) failed(state [sha256.Size]byte, err error) error {
	if state == c.seen {
		return nil
	}
	c.seen = state
	return err
}

// Watch reads the files again every so often, until ctx ends, and reports what Reload returns unless nothing has
// changed.
func (c *Certificate) Watch(ctx context.Context, every time.Duration, report func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if changed, err := c.Reload(); changed || err != nil {
			report(err)
		}
	}
}

// Leaf returns the certificate that is in use.
func (c *Certificate) Leaf() *x509.Certificate { return c.current.Load().Leaf }

// Listener returns a listener that speaks TLS on the connections of another one: HTTP/2 where the client does, else
// HTTP/1.1.
func (c *Certificate) Listener(l net.Listener) net.Listener {
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			if pair := c.current.Load(); pair != nil {
				return pair, nil
			}
			return nil, errors.New("listen: no certificate")
		},
	})
}
