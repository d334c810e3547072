package timestamp

import (
	"bytes"
	"crypto"
	_ "crypto/sha512" // for hashes
	"crypto/x509"
	"encoding/asn1"
	"math/big"
)

// The object identifiers of RFC 3161, RFC 5652, RFC 5035 and RFC 2634.
var (
	oidSHA256        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidSignedData    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidInfo          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningCert   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12}
	oidSigningCertV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	hashes           = map[string]crypto.Hash{oidSHA256.String(): crypto.SHA256, "2.16.840.1.101.3.4.2.2": crypto.SHA384,
		"2.16.840.1.101.3.4.2.3": crypto.SHA512}
)

// maxCertificates is the maximum number of certificates of a token.
const maxCertificates = 16

// tokenOf returns the time-stamp token in a TimeStampResp that grants it.
func tokenOf(response []byte) (token asn1.RawValue, err error) {
	v, err := whole(response)
	if err != nil {
		return token, err
	}
	fields, err := sequence(v, 1)
	if err != nil {
		return token, err
	}
	status, err := sequence(fields[0], 1)
	if err != nil {
		return token, err
	}
	code, err := integerOf(status[0])
	if err != nil {
		return token, err
	}
	if !code.IsInt64() || code.Int64() != 0 && code.Int64() != 1 { // granted, granted with changes
		why := ""
		if len(status) > 1 && is(status[1], asn1.TagSequence) {
			if texts, err := elements(status[1].Bytes); err == nil && len(texts) > 0 {
				why = string(texts[0].Bytes)
			}
		}
		return token, invalid("the authority has refused it with status %.20s: %.200q", code, why)
	}
	if len(fields) < 2 {
		return token, invalid("the answer has none")
	}
	return fields[1], nil
}

// signed is a CMS SignedData with one signer.
type signed struct {
	content            []byte
	certificates       []*x509.Certificate
	issuer             []byte   // DER of the signer's issuer; nil if keyID names the signer
	serial             *big.Int // of the signer's certificate
	keyID              []byte
	digestAlgorithm    asn1.ObjectIdentifier
	signatureAlgorithm asn1.ObjectIdentifier
	signature          []byte
	attributes         attributes
}

// attributes are what the signature covers.
type attributes struct {
	raw                  []byte // as it is signed
	digest               []byte
	certSHA1, certSHA256 []byte // of the signer's certificate; one of them, or none
}

func parseSigned(token asn1.RawValue) (*signed, error) {
	info, err := sequence(token, 2)
	if err != nil {
		return nil, err
	}
	if oid, err := oidOf(info[0]); err != nil || !oid.Equal(oidSignedData) || !tagged(info[1], 0) {
		return nil, invalid("it is not a signed message")
	}
	inner, err := whole(info[1].Bytes)
	if err != nil {
		return nil, err
	}
	fields, err := sequence(inner, 4) // version, digest algorithms, content, [certificates], [revocations], signers
	if err != nil {
		return nil, err
	}
	m := &signed{}
	if m.content, err = contentOf(fields[2]); err != nil {
		return nil, err
	}
	for _, f := range fields[3:] {
		switch {
		case tagged(f, 0):
			if m.certificates, err = certificatesOf(f.Bytes); err != nil {
				return nil, err
			}
		case is(f, asn1.TagSet):
			signers, err := elements(f.Bytes)
			if err != nil || len(signers) != 1 {
				return nil, invalid("it has not exactly one signer")
			}
			if err := m.readSigner(signers[0]); err != nil {
				return nil, err
			}
		}
	}
	if m.signature == nil {
		return nil, invalid("it has no signer")
	}
	return m, nil
}

// contentOf returns the TSTInfo in an EncapsulatedContentInfo.
func contentOf(v asn1.RawValue) ([]byte, error) {
	content, err := sequence(v, 2)
	if err != nil {
		return nil, err
	}
	if oid, err := oidOf(content[0]); err != nil || !oid.Equal(oidInfo) || !tagged(content[1], 0) {
		return nil, invalid("the message is not a time stamp")
	}
	octets, err := whole(content[1].Bytes)
	if err != nil || !is(octets, asn1.TagOctetString) || octets.IsCompound {
		return nil, errDER
	}
	return octets.Bytes, nil
}

func certificatesOf(set []byte) (list []*x509.Certificate, err error) {
	raw, err := elements(set)
	if err != nil || len(raw) > maxCertificates {
		return nil, invalid("its certificates cannot be read")
	}
	for _, v := range raw {
		if !is(v, asn1.TagSequence) { // attribute certificates and others
			continue
		}
		c, err := x509.ParseCertificate(v.FullBytes)
		if err != nil {
			return nil, invalid("a certificate: %w", err)
		}
		list = append(list, c)
	}
	return list, nil
}

// readSigner reads a SignerInfo: version, signer, digest algorithm, [attributes], signature algorithm, signature.
func (m *signed) readSigner(v asn1.RawValue) error {
	f, err := sequence(v, 6)
	if err != nil {
		return err
	}
	if tagged(f[1], 0) {
		m.keyID = f[1].Bytes
	} else {
		id, err := sequence(f[1], 2)
		if err != nil {
			return err
		}
		m.issuer = id[0].FullBytes
		if m.serial, err = integerOf(id[1]); err != nil {
			return err
		}
	}
	if m.digestAlgorithm, err = algorithmOf(f[2]); err != nil {
		return err
	}
	if !tagged(f[3], 0) {
		return invalid("it has no signed attributes")
	}
	if m.attributes, err = attributesOf(f[3]); err != nil {
		return err
	}
	if m.signatureAlgorithm, err = algorithmOf(f[4]); err != nil {
		return err
	}
	if !is(f[5], asn1.TagOctetString) {
		return errDER
	}
	m.signature = f[5].Bytes
	return nil
}

func attributesOf(v asn1.RawValue) (a attributes, err error) {
	a.raw = bytes.Clone(v.FullBytes)
	a.raw[0] = asn1.TagSet | 0x20 // it is signed with its own tag, and sent with an implicit one (RFC 5652 §5.4)
	list, err := elements(v.Bytes)
	if err != nil {
		return a, err
	}
	typed := false
	for _, v := range list {
		pair, err := sequence(v, 2)
		if err != nil {
			return a, err
		}
		oid, err := oidOf(pair[0])
		if err != nil {
			return a, err
		}
		values, err := elements(pair[1].Bytes)
		if err != nil || len(values) != 1 {
			continue // those that are read have one value
		}
		switch {
		case oid.Equal(oidContentType):
			is, err := oidOf(values[0])
			typed = err == nil && is.Equal(oidInfo)
		case oid.Equal(oidMessageDigest):
			a.digest = values[0].Bytes
		case oid.Equal(oidSigningCert):
			if _, a.certSHA1, err = signingCertificate(values[0]); err != nil {
				return a, err
			}
		case oid.Equal(oidSigningCertV2):
			algorithm, sum, err := signingCertificate(values[0])
			if err != nil {
				return a, err
			}
			if algorithm == nil || algorithm.Equal(oidSHA256) {
				a.certSHA256 = sum
			}
		}
	}
	if !typed || a.digest == nil {
		return a, invalid("its signature does not cover its content")
	}
	return a, nil
}

// signingCertificate returns the digest of the signer's certificate, and its algorithm if it is not the default one.
func signingCertificate(v asn1.RawValue) (algorithm asn1.ObjectIdentifier, sum []byte, err error) {
	outer, err := sequence(v, 1)
	if err != nil {
		return nil, nil, err
	}
	list, err := sequence(outer[0], 1)
	if err != nil {
		return nil, nil, err
	}
	id, err := sequence(list[0], 1) // the first is that of the signer
	if err != nil {
		return nil, nil, err
	}
	if is(id[0], asn1.TagSequence) {
		if algorithm, err = algorithmOf(id[0]); err != nil {
			return nil, nil, err
		}
		id = id[1:]
	}
	if len(id) == 0 || !is(id[0], asn1.TagOctetString) {
		return nil, nil, errDER
	}
	return algorithm, id[0].Bytes, nil
}

// signer returns the certificate of the signer, and the others.
func (m *signed) signer() (signer *x509.Certificate, others []*x509.Certificate, err error) {
	for _, c := range m.certificates {
		byName := m.issuer != nil && bytes.Equal(c.RawIssuer, m.issuer) && c.SerialNumber.Cmp(m.serial) == 0
		byKey := m.keyID != nil && bytes.Equal(c.SubjectKeyId, m.keyID)
		if signer == nil && (byName || byKey) {
			signer = c
		} else {
			others = append(others, c)
		}
	}
	if signer == nil {
		return nil, nil, invalid("it does not contain the certificate of its signer")
	}
	return signer, others, nil
}
