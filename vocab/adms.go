package vocab

// ADMSNS is the namespace of the terms.
const ADMSNS = "http://www.w3.org/ns/adms#"

const (
	ADMSIdentifier     = ADMSNS + "Identifier"
	ADMSIdentifierProp = ADMSNS + "identifier"
	ADMSStatus         = ADMSNS + "status"
	ADMSSchemaAgency   = ADMSNS + "schemaAgency"
)

// ADMSStatusWithdrawn is a concept of the ADMS status list, which has another namespace.
const ADMSStatusWithdrawn = "http://purl.org/adms/status/Withdrawn"
