package timestamp

import (
	"encoding/asn1"
	"math/big"
)

// maxElements is the maximum number of elements of a sequence or set.
const maxElements = 64

var errDER = invalid("it is not well-formed DER")

// elements returns the elements of a sequence or set.
func elements(content []byte) (list []asn1.RawValue, err error) {
	for len(content) > 0 {
		var v asn1.RawValue
		if content, err = asn1.Unmarshal(content, &v); err != nil || len(list) >= maxElements {
			return nil, errDER
		}
		list = append(list, v)
	}
	return list, nil
}

// sequence returns the elements of a value that must be a sequence of at least n elements.
func sequence(v asn1.RawValue, n int) ([]asn1.RawValue, error) {
	if v.Class != asn1.ClassUniversal || v.Tag != asn1.TagSequence || !v.IsCompound {
		return nil, errDER
	}
	list, err := elements(v.Bytes)
	if err == nil && len(list) < n {
		err = errDER
	}
	return list, err
}

// whole parses bytes that must be one value.
func whole(b []byte) (v asn1.RawValue, err error) {
	rest, err := asn1.Unmarshal(b, &v)
	if err != nil || len(rest) > 0 {
		return v, errDER
	}
	return v, nil
}

func is(v asn1.RawValue, tag int) bool { return v.Class == asn1.ClassUniversal && v.Tag == tag }

// tagged reports whether a value has a context-specific tag, as optional and implicit fields have.
func tagged(v asn1.RawValue, tag int) bool {
	return v.Class == asn1.ClassContextSpecific && v.Tag == tag
}

func oidOf(v asn1.RawValue) (oid asn1.ObjectIdentifier, err error) {
	if rest, err := asn1.Unmarshal(v.FullBytes, &oid); err != nil || len(rest) > 0 {
		return nil, errDER
	}
	return oid, nil
}

// algorithmOf returns the identifier of an AlgorithmIdentifier; its parameters are not read.
func algorithmOf(v asn1.RawValue) (asn1.ObjectIdentifier, error) {
	list, err := sequence(v, 1)
	if err != nil {
		return nil, err
	}
	return oidOf(list[0])
}

func integerOf(v asn1.RawValue) (*big.Int, error) {
	var n *big.Int
	if rest, err := asn1.Unmarshal(v.FullBytes, &n); err != nil || len(rest) > 0 || len(v.Bytes) > 64 {
		return nil, errDER
	}
	return n, nil
}
