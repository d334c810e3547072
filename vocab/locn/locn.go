// Package locn defines the terms of the ISA Core Location Vocabulary that the archive reads or writes, as absolute
// IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package locn

// NS is the namespace of the terms.
const NS = "http://www.w3.org/ns/locn#"

const (
	Geometry = NS + "geometry"
)
