package triplestore

import "odarchive/triplestore/kv"

// Sizes are the bytes of keys and values stored, by space.
func (s *Store) Sizes() map[string]int64 {
	m := map[string]int64{}
	sn := s.db.Snapshot()
	defer sn.Close()
	for _, sp := range []kv.Space{kv.SpaceTripleIndex, kv.SpaceDict, kv.SpaceTripleLog, kv.SpaceTripleMeta} {
		sn.Scan(sp, nil, nil, func(k, v []byte) (bool, error) {
			name := sp.String()
			if sp != kv.SpaceTripleLog {
				name += string(k[:1])
			}
			m[name] += int64(len(k) + len(v))
			return true, nil
		})
	}
	return m
}
