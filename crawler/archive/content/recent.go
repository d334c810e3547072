package content

import "time"

// spare is the minimum time for which GC leaves files alone that Put or Place returned. The maximum is less than twice
// that.
const spare = time.Hour

// recent is the set of files of the last hour, in two generations: when the younger one is an hour old, it replaces the
// older one. So nothing is ever searched for what has expired.
type recent struct {
	began        time.Time // when young began
	young, older map[Digest]struct{}
}

func (r *recent) add(sha Digest, now time.Time) {
	r.rotate(now)
	if r.young == nil {
		r.young = make(map[Digest]struct{})
	}
	r.young[sha] = struct{}{}
}

func (r *recent) has(sha Digest, now time.Time) bool {
	r.rotate(now)
	_, young := r.young[sha]
	_, older := r.older[sha]
	return young || older
}

func (r *recent) forget(sha Digest) {
	delete(r.young, sha)
	delete(r.older, sha)
}

func (r *recent) rotate(now time.Time) {
	switch age := now.Sub(r.began); {
	case age >= 2*spare:
		r.young, r.older, r.began = nil, nil, now
	case age >= spare:
		r.young, r.older, r.began = nil, r.young, now
	}
}
