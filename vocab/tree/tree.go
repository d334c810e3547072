// Package tree defines the terms of the TREE specification that the archive reads or writes, as absolute IRIs.
package tree

// NS is the namespace of the terms.
const NS = "https://w3id.org/tree#"

const (
	Collection         = NS + "Collection"
	Node               = NS + "Node"
	View               = NS + "view"
	Member             = NS + "member"
	Shape              = NS + "shape"
	Relation           = NS + "Relation"
	RelationProp       = NS + "relation"
	GreaterThanOrEqual = NS + "GreaterThanOrEqualToRelation"
	LessThanOrEqual    = NS + "LessThanOrEqualToRelation"
	NodeProp           = NS + "node"
	Path               = NS + "path"
	Value              = NS + "value"
)
