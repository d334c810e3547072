package discover

import "math"

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
}

const (
	noise    = 0.5    // variance of an answer about its prediction
	leastVar = 0.0015 // of a weight: sites change from one part to the next, so nothing is ever certain
)

func newModel() *model { return &model{ids: map[uint64]int32{}} }

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

// worth returns the expected worth of a link, and its standard deviation.
func (m *model) worth(traits []int32) (mean, deviation float64) {
	v := 0.0
	for _, t := range traits {
		mean += float64(m.mean[t])
		v += float64(m.vary[t])
	}
	return mean, math.Sqrt(v)
}

// learn corrects the weights by the worth that a link turned out to have.
func (m *model) learn(traits []int32, worth float64) {
	mean, v := 0.0, noise
	for _, t := range traits {
		mean += float64(m.mean[t])
		v += float64(m.vary[t])
	}
	e := worth - mean
	for _, t := range traits {
		gain := float64(m.vary[t]) / v
		m.mean[t] += float32(gain * e)
		m.vary[t] = max(leastVar, m.vary[t]*float32(1-gain))
		m.touched[t] = true
	}
}

// nudge moves the weights a little towards a worth that is known better now, without becoming more certain.
func (m *model) nudge(traits []int32, worth, rate float64) {
	mean, v := 0.0, noise
	for _, t := range traits {
		mean += float64(m.mean[t])
		v += float64(m.vary[t])
	}
	e := (worth - mean) * rate
	for _, t := range traits {
		m.mean[t] += float32(float64(m.vary[t]) / v * e)
	}
}
