// Package vcard names the terms of vCard that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package vcard

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.w3.org/2006/vcard/ns#"

const (
	Kind             = NS + "Kind"
	Individual       = NS + "Individual"
	Organization     = NS + "Organization"
	Fn               = NS + "fn"
	HasEmail         = NS + "hasEmail"
	HasURL           = NS + "hasURL"
	HasTelephone     = NS + "hasTelephone"
	OrganizationName = NS + "organization_name"
)
