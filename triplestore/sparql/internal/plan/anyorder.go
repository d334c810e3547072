package plan

// anyOrder tells the text searches whose rows nothing takes in order, such as those that are only counted, that they
// need not sort them. free means that the order of n's rows is not seen by anybody.
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
