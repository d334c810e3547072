//go:build campaign

package triplestore_test

import "flag"

var rounds = flag.Int("rounds", 200, "how often the child is killed")

func killRounds() int { return *rounds }
