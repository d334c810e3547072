//go:build race

package content

// underRace reports whether the race detector is on.
const underRace = true
