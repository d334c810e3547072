package content

import "time"

// spare is how long GC leaves files alone that Put or Place has given out, at least. It is less than twice that at most.
const spare = time.Hour

// recent remembers the files of the last hour in two generations: when the younger one is an hour old, it becomes the
// older one, and what was that is forgotten. So nothing is ever searched.
type recent struct {
	began        time.Time // of young
	young, older map[Digest]struct{}
}

func (r *recent) add(sha Digest, now time.Time) {
	r.turn(now)
	if r.young == nil {
		r.young = make(map[Digest]struct{})
	}
	r.young[sha] = struct{}{}
}

func (r *recent) has(sha Digest, now time.Time) bool {
	r.turn(now)
	_, young := r.young[sha]
	_, older := r.older[sha]
	return young || older
}

func (r *recent) forget(sha Digest) {
	delete(r.young, sha)
	delete(r.older, sha)
}

func (r *recent) turn(now time.Time) {
	switch age := now.Sub(r.began); {
	case age >= 2*spare:
		r.young, r.older, r.began = nil, nil, now
	case age >= spare:
		r.young, r.older, r.began = nil, r.young, now
	}
}
