// Package spdx names the terms of SPDX 2 that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package spdx

// NS is the namespace; every other constant is a term in it.
const NS = "http://spdx.org/rdf/terms#"

const (
	Checksum        = NS + "Checksum"
	ChecksumProp    = NS + "checksum"
	Algorithm       = NS + "algorithm"
	ChecksumValue   = NS + "checksumValue"
	AlgorithmSHA256 = NS + "checksumAlgorithm_sha256"
	AlgorithmMD5    = NS + "checksumAlgorithm_md5"
)
