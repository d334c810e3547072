// Package spdx defines the terms of SPDX 2 that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package spdx

// NS is the namespace of the terms.
const NS = "http://spdx.org/rdf/terms#"

const (
	Checksum        = NS + "Checksum"
	ChecksumProp    = NS + "checksum"
	Algorithm       = NS + "algorithm"
	ChecksumValue   = NS + "checksumValue"
	AlgorithmSHA256 = NS + "checksumAlgorithm_sha256"
)
