// Package ldp names the terms of Linked Data Platform that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package ldp

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.w3.org/ns/ldp#"

const (
	Container      = NS + "Container"
	BasicContainer = NS + "BasicContainer"
	Contains       = NS + "contains"
	Member         = NS + "member"
	Resource       = NS + "Resource"
	Page           = NS + "Page"
	NextPage       = NS + "nextPage"
)
