package csvprofile

import "bytes"

// uniqueness finds out, after a column has turned off its table of values, whether all further values are new. It
// compares values that come in order, and remembers the hashes of others within the table's allowance.
type uniqueness struct {
	started bool
	order   int8 // 1 if every value is greater than all before, -1 if less, 0 if hashes are remembered
	dup     bool // a value occurred twice
	unknown bool // more values than could be remembered, or the order broke
	set     []uint64
	used    int
}

// maxUnique is the number of hashes that the columns of a table may remember together: 32 MiB.
const maxUnique = 4 << 20

// add adds a value that comes after those with the given hashes and extremes. allowance is the number of hashes that
// the table may still remember.
func (u *uniqueness) add(cell []byte, v value, h uint64, st *stats, known func(yield func(uint64) bool), allowance *int) {
	if u.dup || u.unknown {
		return
	}
	if !u.started {
		u.started = true
		switch {
		case above(cell, v, st):
			u.order = 1
		case below(cell, v, st):
			u.order = -1
		default:
			for k := range known {
				u.remember(k, allowance)
			}
		}
	}
	switch {
	case u.order > 0:
		u.unknown = !above(cell, v, st)
	case u.order < 0:
		u.unknown = !below(cell, v, st)
	default:
		u.remember(h, allowance)
	}
}

// above reports whether a value is greater than all in the statistics.
func above(cell []byte, v value, st *stats) bool {
	if v.kind == kindInteger && st.count[kindText] == 0 {
		return v.num > st.num.max && v.num < 1<<53
	}
	return v.kind == kindText && bytes.Compare(cell, st.maxText) > 0 && len(cell) <= extremeLen
}

// below reports whether a value is less than all in the statistics.
func below(cell []byte, v value, st *stats) bool {
	if v.kind == kindInteger && st.count[kindText] == 0 {
		return v.num < st.num.min && v.num > -1<<53
	}
	return v.kind == kindText && bytes.Compare(cell, st.minText) < 0 && len(cell) <= extremeLen
}

// remember adds a hash to an open-addressing set, in which 0 is a free place.
func (u *uniqueness) remember(h uint64, allowance *int) {
	if h == 0 {
		h = 1
	}
	if u.used*2 >= len(u.set) {
		old := u.set
		size := max(2*len(old), 4*tableCap)
		if *allowance < size-len(old) {
			u.unknown, u.set = true, nil
			*allowance += len(old)
			return
		}
		*allowance -= size - len(old)
		u.set, u.used = make([]uint64, size), 0
		for _, k := range old {
			if k != 0 {
				u.place(k)
			}
		}
	}
	if !u.place(h) {
		*allowance += len(u.set)
		u.dup, u.set = true, nil
	}
}

// place adds a hash and reports whether it is new.
func (u *uniqueness) place(h uint64) bool {
	mask := uint64(len(u.set) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		switch u.set[i] {
		case h:
			return false
		case 0:
			u.set[i] = h
			u.used++
			return true
		}
	}
}
