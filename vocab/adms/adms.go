// Package adms names the terms of ADMS that the archive reads or writes, as absolute IRIs.
//
// It is a list of constants and does nothing. A class and a property that differ only in the case of their
// first letter are told apart by the suffix Prop on the property.
package adms

// NS is the namespace; every other constant is a term in it.
const NS = "http://www.w3.org/ns/adms#"

const (
	Identifier     = NS + "Identifier"
	IdentifierProp = NS + "identifier"
	Status         = NS + "status"
	Sample         = NS + "sample"
	SchemaAgency   = NS + "schemaAgency"
	VersionNotes   = NS + "versionNotes"
)

// StatusWithdrawn is a concept of the ADMS status list, which has a namespace of its own.
const StatusWithdrawn = "http://purl.org/adms/status/Withdrawn"
