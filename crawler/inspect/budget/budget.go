// Package budget limits the memory that a file can demand: by counts and lengths that it states, and by one text that
// it uses in many places.
//
// A reader spends from a Budget before it allocates, or before it passes a count or a length to a decoder of others,
// which would allocate it unseen. All readers of files share this type and the limits below.
package budget

import (
	"errors"
	"fmt"
	"math/bits"
)

// Limits, in bytes of memory.
const (
	Row      = 16 << 20  // the texts of one row
	Table    = 64 << 20  // the cells of one table that is held as a whole
	Decoding = 128 << 20 // what a decoder allocates because a file states a number
	Block    = 256 << 20 // what a decoder unpacks at a time, and what it looks back at
)

// Repeats is the maximum number of cells of a table that the file states to be repetitions of others.
const Repeats = 10_000_000

// ErrSpent is in the chain of errors about files that demand more than a budget has.
var ErrSpent = errors.New("more than is allowed")

// Budget is an amount of memory, or of anything that is counted. It is not safe for concurrent use.
type Budget struct {
	what string
	max  uint64
	used uint64
}

// New returns a budget of max bytes. what names what demands them: "a row".
func New(what string, max uint64) *Budget { return &Budget{what: what, max: max} }

// Spend takes count things of size bytes each. It returns an error, and takes nothing, if they are more than is left.
func (b *Budget) Spend(count, size uint64) error {
	over, n := bits.Mul64(count, size)
	if over != 0 || n > b.max-b.used {
		return fmt.Errorf("%s would take %w: %s", b.what, ErrSpent, amount(b.max))
	}
	b.used += n
	return nil
}

// Left returns what is left.
func (b *Budget) Left() uint64 { return b.max - b.used }

// Reset gives everything back, for the next row or block.
func (b *Budget) Reset() { b.used = 0 }

func amount(n uint64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB of memory", n>>20)
	}
	return fmt.Sprint(n)
}
