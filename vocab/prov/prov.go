// Package prov defines the terms of PROV-O that the archive reads or writes, as absolute IRIs.
//
// If a class and a property differ only in the case of their first letter, the property has the suffix Prop.
package prov

// NS is the namespace of the terms.
const NS = "http://www.w3.org/ns/prov#"

const (
	Entity                = NS + "Entity"
	Activity              = NS + "Activity"
	Agent                 = NS + "Agent"
	SoftwareAgent         = NS + "SoftwareAgent"
	Organization          = NS + "Organization"
	Person                = NS + "Person"
	Plan                  = NS + "Plan"
	WasGeneratedBy        = NS + "wasGeneratedBy"
	WasDerivedFrom        = NS + "wasDerivedFrom"
	WasRevisionOf         = NS + "wasRevisionOf"
	WasAssociatedWith     = NS + "wasAssociatedWith"
	StartedAtTime         = NS + "startedAtTime"
	EndedAtTime           = NS + "endedAtTime"
	InvalidatedAtTime     = NS + "invalidatedAtTime"
	WasInvalidatedBy      = NS + "wasInvalidatedBy"
	Invalidation          = NS + "Invalidation"
	Generation            = NS + "Generation"
	QualifiedInvalidation = NS + "qualifiedInvalidation"
	QualifiedGeneration   = NS + "qualifiedGeneration"
	AtTime                = NS + "atTime"
	ActivityProp          = NS + "activity"
	Used                  = NS + "used"
)
