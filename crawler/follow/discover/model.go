package discover

import (
	"encoding/binary"
	"math"
	"slices"
)

// model predicts what a link leads to from what it looks like: the worth is a sum of weights, one for each trait. Each
// weight is a normal distribution, and an answer moves those most of which least is known (a Kalman filter without
// covariances). So a trait of many links is known soon, and a new one, such as the page that a link is on, takes up
// what the others cannot explain.
//
// Worth is the logarithm of one plus files per request.
type model struct {
	ids     map[uint64]int32 // by hash of the trait
	hashes  []uint64
	mean    []float32
	vary    []float32 // variance
	touched []bool    // has been moved by an answer
	trust   trust     // how much what a branch brings says about its links
}

const (
	noise    = 0.5    // variance of an answer about its prediction
	leastVar = 0.0015 // of a weight: sites change from one part to the next, so nothing is ever certain
)

const (
	priorTrust    = 0.7
	varianceTrust = 0.1
)

// trust is the weight of what a branch brings.
type trust struct{ mean, vary float64 }

func newModel() *model {
	return &model{ids: map[uint64]int32{}, trust: trust{priorTrust, varianceTrust}}
}

// trait returns the number of a trait. A new one has the given mean and variance.
func (m *model) trait(h uint64, mean, variance float32) int32 {
	if id, ok := m.ids[h]; ok {
		return id
	}
	id := int32(len(m.mean))
	m.ids[h] = id
	m.hashes = append(m.hashes, h)
	m.mean, m.vary, m.touched = append(m.mean, mean), append(m.vary, variance), append(m.touched, false)
	return id
}

// worth returns the expected worth of a link, and its standard deviation. place is what its branch of the site brings.
func (m *model) worth(traits []int32, place float64) (mean, deviation float64) {
	mean, v := m.trust.mean*place, m.trust.vary*place*place
	for _, t := range traits {
		mean += float64(m.mean[t])
		v += float64(m.vary[t])
	}
	return mean, math.Sqrt(v)
}

// learn corrects the weights by the worth that a link turned out to have.
func (m *model) learn(traits []int32, place, worth float64) {
	mean, deviation := m.worth(traits, place)
	v, e := deviation*deviation+noise, worth-mean
	for _, t := range traits {
		gain := float64(m.vary[t]) / v
		m.mean[t] += float32(gain * e)
		m.vary[t] = max(leastVar, m.vary[t]*float32(1-gain))
		m.touched[t] = true
	}
	gain := m.trust.vary * place / v
	m.trust.mean += gain * e
	m.trust.vary = max(leastVar, m.trust.vary*(1-gain*place))
}

// nudge moves the weights a little towards a worth that is known better now, without becoming more certain.
func (m *model) nudge(traits []int32, place, worth, rate float64) {
	mean, deviation := m.worth(traits, place)
	v, e := deviation*deviation+noise, (worth-mean)*rate
	for _, t := range traits {
		m.mean[t] += float32(float64(m.vary[t]) / v * e)
	}
}

// save returns the weights that answers have moved, at most n of them, the most certain first.
func (m *model) save(n int) []byte {
	var ids []int32
	for id := range m.mean {
		if m.touched[id] {
			ids = append(ids, int32(id))
		}
	}
	if len(ids) > n {
		slices.SortFunc(ids, func(a, b int32) int { return int(math.Copysign(1, float64(m.vary[a]-m.vary[b]))) })
		ids = ids[:n]
	}
	slices.SortFunc(ids, func(a, b int32) int { return compare(m.hashes[a], m.hashes[b]) })
	var out []byte
	for _, id := range ids {
		out = binary.LittleEndian.AppendUint64(out, m.hashes[id])
		out = binary.LittleEndian.AppendUint16(out, uint16(int16(clamp(float64(m.mean[id])*4096))))
		out = binary.LittleEndian.AppendUint16(out, uint16(clamp(float64(m.vary[id])*65536)))
	}
	return out
}

func clamp(x float64) float64 { return math.Max(-32767, math.Min(32767, math.Round(x))) }

func (m *model) restore(saved []byte) {
	for ; len(saved) >= 12; saved = saved[12:] {
		id := m.trait(binary.LittleEndian.Uint64(saved), 0, 0)
		m.mean[id] = float32(int16(binary.LittleEndian.Uint16(saved[8:]))) / 4096
		m.vary[id] = max(leastVar, float32(binary.LittleEndian.Uint16(saved[10:]))/65536)
		m.touched[id] = true
	}
}
