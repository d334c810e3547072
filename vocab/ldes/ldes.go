// Package ldes defines the terms of Linked Data Event Streams that the archive reads or writes, as absolute IRIs.
package ldes

// NS is the namespace of the terms.
const NS = "https://w3id.org/ldes#"

const (
	EventStream   = NS + "EventStream"
	VersionOfPath = NS + "versionOfPath"
	TimestampPath = NS + "timestampPath"
)
