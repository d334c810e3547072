package csvprofile

// uniqueness tells whether any hash came twice, exactly, up to maxUnique of them.
type uniqueness struct {
	set  map[uint64]struct{}
	dup  bool
	over bool // more values than are remembered
}

const maxUnique = 1 << 18

func (u *uniqueness) add(h uint64) {
	if u.dup || u.over {
		return
	}
	if u.set == nil {
		u.set = make(map[uint64]struct{}, 2*tableCap)
	}
	if _, ok := u.set[h]; ok {
		u.dup, u.set = true, nil
		return
	}
	if len(u.set) >= maxUnique {
		u.over, u.set = true, nil
		return
	}
	u.set[h] = struct{}{}
}
