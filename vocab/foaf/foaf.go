// Package foaf names the terms of FOAF that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package foaf

// NS is the namespace; every other constant is a term in it.
const NS = "http://xmlns.com/foaf/0.1/"

const (
	Agent            = NS + "Agent"
	Organization     = NS + "Organization"
	Person           = NS + "Person"
	Document         = NS + "Document"
	Name             = NS + "name"
	Homepage         = NS + "homepage"
	Page             = NS + "page"
	Mbox             = NS + "mbox"
	PrimaryTopic     = NS + "primaryTopic"
	IsPrimaryTopicOf = NS + "isPrimaryTopicOf"
)
