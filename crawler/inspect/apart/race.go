//go:build race

package apart

// underRace reports whether the race detector is on: its shadow memory breaks the limit of memory, and its calls the
// filter.
const underRace = true
