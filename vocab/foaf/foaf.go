// Package foaf defines the terms of FOAF that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package foaf

// NS is the namespace of the terms.
const NS = "http://xmlns.com/foaf/0.1/"

const (
	Agent        = NS + "Agent"
	Organization = NS + "Organization"
	Person       = NS + "Person"
	Document     = NS + "Document"
	Name         = NS + "name"
	Homepage     = NS + "homepage"
	Page         = NS + "page"
	Mbox         = NS + "mbox"
	PrimaryTopic = NS + "primaryTopic"
)
