package vocab

// TreeNS is the namespace of the terms.
const TreeNS = "https://w3id.org/tree#"

const (
	TreeCollection         = TreeNS + "Collection"
	TreeNode               = TreeNS + "Node"
	TreeView               = TreeNS + "view"
	TreeMember             = TreeNS + "member"
	TreeShape              = TreeNS + "shape"
	TreeRelation           = TreeNS + "Relation"
	TreeRelationProp       = TreeNS + "relation"
	TreeGreaterThanOrEqual = TreeNS + "GreaterThanOrEqualToRelation"
	TreeLessThanOrEqual    = TreeNS + "LessThanOrEqualToRelation"
	TreeNodeProp           = TreeNS + "node"
	TreePath               = TreeNS + "path"
	TreeValue              = TreeNS + "value"
)
