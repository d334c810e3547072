package csvprofile

import (
	"math/bits"

	"github.com/axiomhq/hyperloglog"
)

// registers are those of a HyperLogLog sketch with 2^14 registers (Flajolet et al., 2007), filled in the order of the
// cells. A value that changes none, as nearly all do once there are many, costs one comparison. Package hyperloglog
// computes the estimate.
type registers [1 << registerBits]uint8

const registerBits = 14

// add adds the hash of a value: its upper bits select the register, the leading zeros of the rest are the rank.
func (r *registers) add(hash uint64) {
	i := hash >> (64 - registerBits)
	rest := hash<<registerBits | 1<<(registerBits-1)
	if rest>>1>>((63-r[i])&63) == 0 { // at least r[i] leading zeros
		r[i] = uint8(bits.LeadingZeros64(rest)) + 1
	}
}

// estimate returns the approximate number of distinct hashes. It passes each register on as a hash with its rank.
func (r *registers) estimate() int64 {
	s := hyperloglog.NewNoSparse()
	for i, rank := range r {
		if rank == 0 {
			continue
		}
		hash := uint64(i) << (64 - registerBits)
		if rank <= 64-registerBits {
			hash |= 1 << (64 - registerBits - rank)
		}
		s.InsertHash(hash)
	}
	return int64(s.Estimate())
}
