package timestamp

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"time"
)

const (
	// askTime bounds one request to an authority.
	askTime = time.Minute
	// maxSkew is how far the clock of an authority may be from that of this machine. One of the two is wrong by more,
	// or the authority lies.
	maxSkew = 24 * time.Hour
	// maxRoots bounds a file with root certificates, in bytes.
	maxRoots = 4 << 20
)

// request is a TimeStampReq.
type request struct {
	Version int
	Imprint struct {
		Algorithm struct {
			Algorithm  asn1.ObjectIdentifier
			Parameters asn1.RawValue
		}
		Digest []byte
	}
	Nonce    *big.Int
	WithCert bool
}

// Request returns a request (DER) for a time stamp of a SHA-256 digest.
func Request(digest [32]byte, nonce *big.Int) ([]byte, error) {
	r := request{Version: 1, Nonce: nonce, WithCert: true}
	r.Imprint.Algorithm.Algorithm, r.Imprint.Algorithm.Parameters = oidSHA256, asn1.NullRawValue
	r.Imprint.Digest = digest[:]
	return asn1.Marshal(r)
}

// CheckAddress returns an error for what is not the address of an authority.
func CheckAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%.200q is not the address of a time-stamping authority, such as https://tsa.example/", address)
	}
	return nil
}

// Ask asks the authority at an address for a time stamp of a SHA-256 digest, and returns its response (DER) if it
// holds, with a certificate that leads to one of the roots. now is the present time, with which that of the stamp is
// compared.
func Ask(ctx context.Context, client *http.Client, address string, digest [32]byte, roots *x509.CertPool, now time.Time) (response []byte,
	s Stamp, err error) {
	fails := func(err error) ([]byte, Stamp, error) {
		return nil, Stamp{}, fmt.Errorf("time stamp from %.200s: %w", address, err)
	}
	nonce, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 63))
	if err != nil {
		return fails(err)
	}
	question, err := Request(digest, nonce)
	if err != nil {
		return fails(err)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(question))
	if err != nil {
		return fails(err)
	}
	r.Header.Set("Content-Type", "application/timestamp-query")
	r.Header.Set("Accept", "application/timestamp-reply")
	resp, err := client.Do(r)
	if err != nil {
		return fails(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fails(fmt.Errorf("it answered %s", resp.Status))
	}
	response, err = io.ReadAll(io.LimitReader(resp.Body, MaxResponse+1))
	if err != nil {
		return fails(err)
	}
	s, err = Verify(response, Expected{Digest: digest, Nonce: nonce, Roots: roots})
	if err == nil && s.Time.Sub(now).Abs() > maxSkew {
		err = invalid("its time is %s, and the clock of this machine says %s", s.Time.Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	if err != nil {
		return fails(err)
	}
	return response, s, nil
}

// Roots reads certificates (PEM) that are trusted.
func Roots(text []byte) (*x509.CertPool, error) {
	if len(text) > maxRoots {
		return nil, fmt.Errorf("root certificates: more than %d bytes", maxRoots)
	}
	pool, n := x509.NewCertPool(), 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("root certificates: %w", err)
		}
		pool.AddCert(c)
		n++
	}
	if n == 0 {
		return nil, fmt.Errorf("root certificates: there is no certificate in the file (expected PEM)")
	}
	return pool, nil
}
