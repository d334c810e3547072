// Package adms defines the terms of ADMS that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package adms

// NS is the namespace of the terms.
const NS = "http://www.w3.org/ns/adms#"

const (
	Identifier     = NS + "Identifier"
	IdentifierProp = NS + "identifier"
	Status         = NS + "status"
	SchemaAgency   = NS + "schemaAgency"
)

// StatusWithdrawn is a concept of the ADMS status list, which has another namespace.
const StatusWithdrawn = "http://purl.org/adms/status/Withdrawn"
