package plan

// anyOrder sets TextSearch.AnyOrder for the text searches whose rows need not be sorted, for example because they are
// only counted. free means that the order of n's rows does not matter.
func anyOrder(n Node, free bool) {
	switch n := n.(type) {
	case *TextSearch:
		n.AnyOrder = free && n.Limit < 0 && n.Score < 0
		return
	case *Group:
		free = true
		for _, a := range n.Aggs {
			if a.Func == "SAMPLE" || a.Func == "GROUP_CONCAT" {
				free = false
			}
		}
	case *Filter, *Extend, *Rename, *Project, *HashJoin, *MergeJoin, *BindJoin, *PathJoin, *PlacesJoin, *Union, *Distinct, *Parallel:
	default:
		free = false
	}
	for _, in := range Inputs(n) {
		anyOrder(in, free)
	}
}
