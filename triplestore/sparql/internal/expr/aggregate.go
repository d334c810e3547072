package expr

import (
	"strings"

	"odarchive/triplestore/term"
	"odarchive/triplestore/xsdval"
)

// Accumulator computes an aggregate over a group (§18.5.1). Add is called for each value, errors included.
type Accumulator interface {
	Add(Value)
	Result() Value
	// Size returns approximately how many bytes it holds beyond a constant.
	Size() int
}

// NewAccumulator returns the accumulator of a set function. ok is false for an unknown name.
func NewAccumulator(fn string, separator string, distinct bool) (acc Accumulator, ok bool) {
	switch fn {
	case "COUNT":
		acc = &count{}
	case "SUM":
		acc = &sum{total: xsdval.Int(0)}
	case "AVG":
		acc = &sum{total: xsdval.Int(0), average: true}
	case "MIN":
		acc = &extreme{sign: -1}
	case "MAX":
		acc = &extreme{sign: 1}
	case "SAMPLE":
		acc = &sample{}
	case "GROUP_CONCAT":
		acc = &groupConcat{separator: separator}
	default:
		return nil, false
	}
	if distinct && fn != "MIN" && fn != "MAX" && fn != "SAMPLE" {
		acc = &distinctOnly{Accumulator: acc, seen: map[term.Key]struct{}{}}
	}
	return acc, true
}

// count is COUNT.
type count struct{ n int64 }

func (c *count) Add(v Value) {
	if v.kind != Err {
		c.n++
	}
}
func (c *count) Result() Value { return NewInt(c.n) }
func (c *count) Size() int     { return 0 }

// sum is SUM and AVG. An error or a value that is not a number makes the result an error.
type sum struct {
	total   xsdval.Value
	n       int64
	bad     bool
	average bool
}

func (s *sum) Add(v Value) {
	if !v.isNumeric() {
		s.bad = true
		return
	}
	if s.bad {
		return
	}
	total, ok := xsdval.Add(s.total, v.x)
	s.total, s.bad = total, !ok
	s.n++
}

func (s *sum) Result() Value {
	if s.bad {
		return errValue
	}
	if s.average && s.n > 0 {
		return xsdOK(xsdval.Div(s.total, xsdval.Int(s.n)))
	}
	return newXSD(s.total)
}
func (s *sum) Size() int { return 0 }

// Resume makes an empty accumulator of SUM or AVG continue from the total of n integers. It does nothing to others.
func Resume(acc Accumulator, total, n int64) {
	if s, ok := acc.(*sum); ok {
		s.total, s.n = xsdval.Int(total), n
	}
}

// Rounds reports whether acc is a sum whose result depends on the order of what is added, as that of doubles does.
func Rounds(acc Accumulator) bool {
	s, ok := acc.(*sum)
	return ok && (s.total.Kind == xsdval.Float || s.total.Kind == xsdval.Double)
}

// AddSum adds what another SUM or AVG has accumulated.
func AddSum(acc, other Accumulator) {
	s, o := acc.(*sum), other.(*sum)
	if s.bad = s.bad || o.bad; s.bad {
		return
	}
	total, ok := xsdval.Add(s.total, o.total)
	s.total, s.bad = total, !ok
	s.n += o.n
}

// extreme is MIN and MAX: the first or the last value in the order of ORDER BY, where unbound values and errors come
// first (§18.5.1.5). So MAX ignores them, and one of them makes MIN an error.
type extreme struct {
	best Value
	sign int
	bad  bool
}

func (e *extreme) Add(v Value) {
	if v.kind == Err {
		e.bad = e.bad || e.sign < 0
		return
	}
	if e.best.kind == Err || Order(v, e.best)*e.sign > 0 {
		e.best = v
	}
}
func (e *extreme) Result() Value {
	if e.bad {
		return errValue
	}
	return e.best
}
func (e *extreme) Size() int { return len(e.best.s) }

// sample is SAMPLE: the first value that is no error.
type sample struct{ v Value }

func (s *sample) Add(v Value) {
	if s.v.kind == Err {
		s.v = v
	}
}
func (s *sample) Result() Value { return s.v }
func (s *sample) Size() int     { return len(s.v.s) }

// maxGroupConcat bounds the text of a group in bytes. A longer one is an error.
const maxGroupConcat = 16 << 20

// groupConcat is GROUP_CONCAT. As in CONCAT, a value without text makes the result an error.
type groupConcat struct {
	b         strings.Builder
	separator string
	any, bad  bool
}

func (g *groupConcat) Add(v Value) {
	s := str(v)
	if s.kind == Err || g.b.Len()+len(s.s) > maxGroupConcat {
		g.bad = true
	}
	if g.bad {
		return
	}
	if g.any {
		g.b.WriteString(g.separator)
	}
	g.any = true
	g.b.WriteString(s.s)
}

func (g *groupConcat) Result() Value {
	if g.bad {
		return errValue
	}
	return newString(g.b.String())
}
func (g *groupConcat) Size() int { return g.b.Len() }

// distinctOnly passes each value on once.
type distinctOnly struct {
	Accumulator
	seen map[term.Key]struct{}
	size int
}

func (d *distinctOnly) Add(v Value) {
	k := v.Key()
	if _, dup := d.seen[k]; dup {
		return
	}
	d.seen[k] = struct{}{}
	d.size += len(k) + 48
	d.Accumulator.Add(v)
}
func (d *distinctOnly) Size() int { return d.size + d.Accumulator.Size() }
