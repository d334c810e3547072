package vocab

// VCardNS is the namespace of the terms.
const VCardNS = "http://www.w3.org/2006/vcard/ns#"

const (
	VCardKind         = VCardNS + "Kind"
	VCardIndividual   = VCardNS + "Individual"
	VCardOrganization = VCardNS + "Organization"
	VCardFn           = VCardNS + "fn"
	VCardHasEmail     = VCardNS + "hasEmail"
	VCardHasURL       = VCardNS + "hasURL"
)
