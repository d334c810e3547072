package vocab

// LDESNS is the namespace of the terms.
const LDESNS = "https://w3id.org/ldes#"

const (
	LDESEventStream   = LDESNS + "EventStream"
	LDESVersionOfPath = LDESNS + "versionOfPath"
	LDESTimestampPath = LDESNS + "timestampPath"
)
