package timestamp

import (
	"encoding/asn1"
	"math/big"
	"time"
)

// info is a TSTInfo.
type info struct {
	policy    asn1.ObjectIdentifier
	algorithm asn1.ObjectIdentifier
	digest    []byte
	serial    *big.Int
	time      time.Time
	nonce     *big.Int // nil if there is none
}

// parseInfo reads a TSTInfo: version, policy, imprint, serial, time, [accuracy], [ordering], [nonce], [authority],
// [more].
func parseInfo(raw []byte) (i info, err error) {
	v, err := whole(raw)
	if err != nil {
		return i, err
	}
	f, err := sequence(v, 5)
	if err != nil {
		return i, err
	}
	if i.policy, err = oidOf(f[1]); err != nil {
		return i, err
	}
	imprint, err := sequence(f[2], 2)
	if err != nil {
		return i, err
	}
	if i.algorithm, err = algorithmOf(imprint[0]); err != nil {
		return i, err
	}
	i.digest = imprint[1].Bytes
	if i.serial, err = integerOf(f[3]); err != nil {
		return i, err
	}
	// Seconds may have a fraction, which package asn1 does not read and time.Parse does.
	if i.time, err = time.Parse("20060102150405Z", string(f[4].Bytes)); err != nil || !is(f[4], asn1.TagGeneralizedTime) ||
		len(f[4].Bytes) > 40 {
		return i, invalid("its time cannot be read")
	}
	for _, more := range f[5:] {
		if is(more, asn1.TagInteger) {
			if i.nonce, err = integerOf(more); err != nil {
				return i, err
			}
		}
	}
	return i, nil
}
