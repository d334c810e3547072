package vocab

// FOAFNS is the namespace of the terms.
const FOAFNS = "http://xmlns.com/foaf/0.1/"

const (
	FOAFAgent        = FOAFNS + "Agent"
	FOAFOrganization = FOAFNS + "Organization"
	FOAFPerson       = FOAFNS + "Person"
	FOAFDocument     = FOAFNS + "Document"
	FOAFName         = FOAFNS + "name"
	FOAFHomepage     = FOAFNS + "homepage"
	FOAFPage         = FOAFNS + "page"
	FOAFMbox         = FOAFNS + "mbox"
	FOAFPrimaryTopic = FOAFNS + "primaryTopic"
)
