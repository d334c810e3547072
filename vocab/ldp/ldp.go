// Package ldp defines the terms of the Linked Data Platform that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package ldp

// NS is the namespace of the terms.
const NS = "http://www.w3.org/ns/ldp#"

const (
	Container      = NS + "Container"
	BasicContainer = NS + "BasicContainer"
	Contains       = NS + "contains"
	Resource       = NS + "Resource"
	Page           = NS + "Page"
	NextPage       = NS + "nextPage"
)
