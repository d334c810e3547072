// Package timestamp asks time-stamping authorities (RFC 3161) when a digest existed, and checks what they answer.
//
// A time stamp is a CMS message (RFC 5652) over the digest and the authority's time. The package reads the part of CMS
// that time stamps use, in DER. It believes nothing of an answer that a signature does not cover, and needs no network
// to check one.
package timestamp

import (
	"bytes"
	"crypto"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// MaxResponse bounds the answer of an authority, in bytes.
const MaxResponse = 64 << 10

// ErrInvalid is in the chain of errors about answers that are no valid time stamp of the digest.
var ErrInvalid = errors.New("the time stamp does not hold")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrInvalid}, args...)...)
}

// Stamp is what a valid time stamp says.
type Stamp struct {
	Time      time.Time `json:"time"`      // of the authority, in UTC
	Authority string    `json:"authority"` // subject of its certificate
	Serial    string    `json:"serial"`    // number of the time stamp, decimal
	Policy    string    `json:"policy"`    // object identifier
	Trusted   bool      `json:"trusted"`   // the certificate leads to a root that the caller trusts
}

// Expected is what a time stamp is compared with.
type Expected struct {
	Digest [32]byte       // SHA-256
	Nonce  *big.Int       // of the request; nil if it is not known any more
	Roots  *x509.CertPool // of authorities; nil means that the chain of the certificate is not checked, and Stamp.Trusted is false
}

// Verify checks a response of an authority: the digest, the nonce, the signature, and the certificate. Errors wrap
// ErrInvalid.
func Verify(response []byte, want Expected) (s Stamp, err error) {
	if len(response) > MaxResponse {
		return s, invalid("it has more than %d bytes", MaxResponse)
	}
	token, err := tokenOf(response)
	if err != nil {
		return s, err
	}
	m, err := parseSigned(token)
	if err != nil {
		return s, err
	}
	info, err := parseInfo(m.content)
	if err != nil {
		return s, err
	}
	if !info.algorithm.Equal(oidSHA256) || !bytes.Equal(info.digest, want.Digest[:]) {
		return s, invalid("it is of another digest")
	}
	if want.Nonce != nil && (info.nonce == nil || info.nonce.Cmp(want.Nonce) != 0) {
		return s, invalid("it answers another request")
	}
	signer, others, err := m.signer()
	if err != nil {
		return s, err
	}
	if err := m.checkSignature(signer); err != nil {
		return s, err
	}
	if err := stampsOnly(signer); err != nil {
		return s, err
	}
	s = Stamp{Time: info.time, Authority: signer.Subject.String(), Serial: info.serial.String(), Policy: info.policy.String()}
	if want.Roots == nil {
		return s, nil
	}
	chain := x509.VerifyOptions{Roots: want.Roots, Intermediates: x509.NewCertPool(), CurrentTime: info.time,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}}
	for _, c := range others {
		chain.Intermediates.AddCert(c)
	}
	if _, err := signer.Verify(chain); err != nil {
		return Stamp{}, invalid("its certificate, of %.200q: %w", s.Authority, err)
	}
	s.Trusted = true
	return s, nil
}

// extKeyUsage is the extension that says what a certificate is for.
var extKeyUsage = asn1.ObjectIdentifier{2, 5, 29, 37}

// stampsOnly checks that a certificate is for time stamps and for nothing else, as RFC 3161 §2.3 wants it.
func stampsOnly(c *x509.Certificate) error {
	if len(c.ExtKeyUsage) == 1 && c.ExtKeyUsage[0] == x509.ExtKeyUsageTimeStamping && len(c.UnknownExtKeyUsage) == 0 {
		for _, e := range c.Extensions {
			if e.Id.Equal(extKeyUsage) && e.Critical {
				return nil
			}
		}
	}
	return invalid("its certificate is not one for time stamps only")
}

// checkSignature checks that a certificate's key signed the attributes, and that these commit to the content and to the
// certificate.
func (m *signed) checkSignature(by *x509.Certificate) error {
	hash, ok := hashes[m.digestAlgorithm.String()]
	if !ok {
		return invalid("its digest algorithm %s is not supported", m.digestAlgorithm)
	}
	h := hash.New()
	h.Write(m.content)
	if !bytes.Equal(m.attributes.digest, h.Sum(nil)) {
		return invalid("its content is not what is signed")
	}
	algorithm, err := signatureAlgorithm(m.signatureAlgorithm, hash)
	if err != nil {
		return err
	}
	if err := by.CheckSignature(algorithm, m.attributes.raw, m.signature); err != nil {
		return invalid("its signature: %w", err)
	}
	switch {
	case m.attributes.certSHA256 != nil:
		sum := sha256.Sum256(by.Raw)
		ok = bytes.Equal(m.attributes.certSHA256, sum[:])
	case m.attributes.certSHA1 != nil:
		sum := sha1.Sum(by.Raw) // RFC 2634 knows no other; the signature itself does not rest on it
		ok = bytes.Equal(m.attributes.certSHA1, sum[:])
	default:
		return invalid("it does not name the certificate of its signer")
	}
	if !ok {
		return invalid("it names another certificate than that of its signer")
	}
	return nil
}

// signatureAlgorithm returns the algorithm for a key or signature algorithm of CMS.
func signatureAlgorithm(oid asn1.ObjectIdentifier, hash crypto.Hash) (x509.SignatureAlgorithm, error) {
	type by map[crypto.Hash]x509.SignatureAlgorithm
	rsa := by{crypto.SHA256: x509.SHA256WithRSA, crypto.SHA384: x509.SHA384WithRSA, crypto.SHA512: x509.SHA512WithRSA}
	ecdsa := by{crypto.SHA256: x509.ECDSAWithSHA256, crypto.SHA384: x509.ECDSAWithSHA384, crypto.SHA512: x509.ECDSAWithSHA512}
	var algorithm x509.SignatureAlgorithm
	switch oid.String() {
	case "1.2.840.113549.1.1.1":
		algorithm = rsa[hash]
	case "1.2.840.113549.1.1.10":
		algorithm = by{crypto.SHA256: x509.SHA256WithRSAPSS, crypto.SHA384: x509.SHA384WithRSAPSS,
			crypto.SHA512: x509.SHA512WithRSAPSS}[hash]
	case "1.2.840.113549.1.1.11":
		algorithm = x509.SHA256WithRSA
	case "1.2.840.113549.1.1.12":
		algorithm = x509.SHA384WithRSA
	case "1.2.840.113549.1.1.13":
		algorithm = x509.SHA512WithRSA
	case "1.2.840.10045.2.1":
		algorithm = ecdsa[hash]
	case "1.2.840.10045.4.3.2":
		algorithm = x509.ECDSAWithSHA256
	case "1.2.840.10045.4.3.3":
		algorithm = x509.ECDSAWithSHA384
	case "1.2.840.10045.4.3.4":
		algorithm = x509.ECDSAWithSHA512
	case "1.3.101.112":
		algorithm = x509.PureEd25519
	}
	if algorithm == x509.UnknownSignatureAlgorithm {
		return 0, invalid("its signature algorithm %s is not supported", oid)
	}
	return algorithm, nil
}
