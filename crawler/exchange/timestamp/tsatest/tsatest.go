// Package tsatest is a time-stamping authority for tests.
package tsatest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"slices"
	"time"
)

// Authority answers requests for time stamps. Its fields may be changed between requests.
type Authority struct {
	Roots []byte // PEM of the certificate that its own leads to
	Clock func() time.Time
	// Distort, if not nil, changes what is signed, as a liar does.
	Distort func(*Info)

	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

// Info is the part of a TSTInfo that Distort may change.
type Info struct {
	Version int
	Policy  asn1.ObjectIdentifier
	Imprint asn1.RawValue
	Serial  *big.Int
	Time    time.Time `asn1:"generalized"`
	Nonce   *big.Int  `asn1:"optional"`
}

// New makes an authority with a new root.
func New() (*Authority, error) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	from, to := time.Now().Add(-365*24*time.Hour), time.Now().Add(10*365*24*time.Hour)
	root, err := certify(&x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Root of Tests"}, NotBefore: from,
		NotAfter: to,
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil, &rootKey.PublicKey, rootKey)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	usage, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})
	if err != nil {
		return nil, err
	}
	own, err := certify(&x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Time Stamps of Tests"},
		NotBefore: from, NotAfter: to,
		KeyUsage:        x509.KeyUsageDigitalSignature,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: usage}}}, root, &key.PublicKey,
		rootKey)
	if err != nil {
		return nil, err
	}
	return &Authority{Roots: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Raw}), Clock: time.Now, key: key,
		certificate: own}, nil
}

func certify(c, by *x509.Certificate, public crypto.PublicKey, key crypto.Signer) (*x509.Certificate, error) {
	if by == nil {
		by = c
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, by, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(raw)
}

// ServeHTTP answers requests (RFC 3161 §3.4).
func (a *Authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	question, err := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	if err != nil {
		return
	}
	answer, err := a.Answer(question)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/timestamp-reply")
	_, _ = w.Write(answer)
}

// Answer returns the response to a request.
func (a *Authority) Answer(question []byte) ([]byte, error) {
	var q struct {
		Version  int
		Imprint  asn1.RawValue
		Nonce    *big.Int `asn1:"optional"`
		WithCert bool     `asn1:"optional"`
	}
	if _, err := asn1.Unmarshal(question, &q); err != nil {
		return nil, err
	}
	info := Info{1, asn1.ObjectIdentifier{1, 2, 3, 4}, q.Imprint, big.NewInt(a.Clock().UnixNano()), a.Clock().UTC(), q.Nonce}
	if a.Distort != nil {
		a.Distort(&info)
	}
	content, err := asn1.Marshal(info)
	if err != nil {
		return nil, err
	}
	token, err := a.sign(content)
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(struct {
		Status struct{ Code int }
		Token  asn1.RawValue
	}{Token: asn1.RawValue{FullBytes: token}})
}

type attribute struct {
	Type  asn1.ObjectIdentifier
	Value []any `asn1:"set"`
}

func constructed(class, tag int, parts ...[]byte) asn1.RawValue {
	return asn1.RawValue{Class: class, Tag: tag, IsCompound: true, Bytes: slices.Concat(parts...)}
}

// sign returns a CMS message (RFC 5652) with the content of a time stamp.
func (a *Authority) sign(content []byte) ([]byte, error) {
	sha := pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}}
	kind := asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	digest, cert := sha256.Sum256(content), sha256.Sum256(a.certificate.Raw)
	var attributes [][]byte
	for _, one := range []attribute{
		{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}, []any{kind}},
		{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}, []any{digest[:]}},
		{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47},
			[]any{struct{ Certs []struct{ Hash []byte } }{[]struct{ Hash []byte }{{cert[:]}}}}},
	} {
		raw, err := asn1.Marshal(one)
		if err != nil {
			return nil, err
		}
		attributes = append(attributes, raw)
	}
	slices.SortFunc(attributes, slices.Compare)
	set, err := asn1.Marshal(constructed(asn1.ClassUniversal, asn1.TagSet, attributes...))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(set)
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, sum[:])
	if err != nil {
		return nil, err
	}
	inner, err := asn1.Marshal(content) // an OCTET STRING
	if err != nil {
		return nil, err
	}
	type issuerAndSerial struct {
		Issuer asn1.RawValue
		Serial *big.Int
	}
	type signer struct {
		Version    int
		ID         issuerAndSerial
		Digest     pkix.AlgorithmIdentifier
		Attributes asn1.RawValue
		Algorithm  pkix.AlgorithmIdentifier
		Signature  []byte
	}
	type encapsulated struct {
		Type    asn1.ObjectIdentifier
		Content asn1.RawValue
	}
	data, err := asn1.Marshal(struct {
		Version      int
		Algorithms   []pkix.AlgorithmIdentifier `asn1:"set"`
		Content      encapsulated
		Certificates asn1.RawValue
		Signers      []signer `asn1:"set"`
	}{3, []pkix.AlgorithmIdentifier{sha}, encapsulated{kind, constructed(asn1.ClassContextSpecific, 0, inner)},
		constructed(asn1.ClassContextSpecific, 0, a.certificate.Raw),
		[]signer{{1, issuerAndSerial{asn1.RawValue{FullBytes: a.certificate.RawIssuer}, a.certificate.SerialNumber}, sha,
			constructed(asn1.ClassContextSpecific, 0, attributes...),
			pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}}, signature}}})
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(encapsulated{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}, constructed(asn1.ClassContextSpecific, 0, data)})
}
