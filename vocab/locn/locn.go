// Package locn names the terms of the ISA Core Location Vocabulary that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package locn

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.w3.org/ns/locn#"

const (
	Geometry = NS + "geometry"
	Address  = NS + "address"
)
