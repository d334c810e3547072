// Package vcard defines the terms of vCard that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package vcard

// NS is the namespace of the terms.
const NS = "http://www.w3.org/2006/vcard/ns#"

const (
	Kind         = NS + "Kind"
	Individual   = NS + "Individual"
	Organization = NS + "Organization"
	Fn           = NS + "fn"
	HasEmail     = NS + "hasEmail"
	HasURL       = NS + "hasURL"
)
