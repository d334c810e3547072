package vocab

// LOCNNS is the namespace of the terms.
const LOCNNS = "http://www.w3.org/ns/locn#"

const (
	LOCNGeometry = LOCNNS + "geometry"
)
