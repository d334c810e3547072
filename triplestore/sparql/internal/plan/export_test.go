package plan

import "slices"

// Rules returns the rewrites in the order in which they are applied.
func Rules() []Rule { return slices.Clone(rules) }
