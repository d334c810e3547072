package vocab

// LDPNS is the namespace of the terms.
const LDPNS = "http://www.w3.org/ns/ldp#"

const (
	LDPContainer      = LDPNS + "Container"
	LDPBasicContainer = LDPNS + "BasicContainer"
	LDPContains       = LDPNS + "contains"
	LDPResource       = LDPNS + "Resource"
	LDPPage           = LDPNS + "Page"
	LDPNextPage       = LDPNS + "nextPage"
)
