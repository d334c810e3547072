//go:build !campaign

package triplestore_test

func killRounds() int { return 3 }
