package vocab

// PROVNS is the namespace of the terms.
const PROVNS = "http://www.w3.org/ns/prov#"

const (
	PROVEntity                = PROVNS + "Entity"
	PROVActivity              = PROVNS + "Activity"
	PROVAgent                 = PROVNS + "Agent"
	PROVSoftwareAgent         = PROVNS + "SoftwareAgent"
	PROVOrganization          = PROVNS + "Organization"
	PROVPerson                = PROVNS + "Person"
	PROVPlan                  = PROVNS + "Plan"
	PROVWasGeneratedBy        = PROVNS + "wasGeneratedBy"
	PROVWasDerivedFrom        = PROVNS + "wasDerivedFrom"
	PROVWasRevisionOf         = PROVNS + "wasRevisionOf"
	PROVWasAssociatedWith     = PROVNS + "wasAssociatedWith"
	PROVStartedAtTime         = PROVNS + "startedAtTime"
	PROVEndedAtTime           = PROVNS + "endedAtTime"
	PROVInvalidatedAtTime     = PROVNS + "invalidatedAtTime"
	PROVWasInvalidatedBy      = PROVNS + "wasInvalidatedBy"
	PROVInvalidation          = PROVNS + "Invalidation"
	PROVGeneration            = PROVNS + "Generation"
	PROVQualifiedInvalidation = PROVNS + "qualifiedInvalidation"
	PROVQualifiedGeneration   = PROVNS + "qualifiedGeneration"
	PROVAtTime                = PROVNS + "atTime"
	PROVActivityProp          = PROVNS + "activity"
	PROVUsed                  = PROVNS + "used"
)
