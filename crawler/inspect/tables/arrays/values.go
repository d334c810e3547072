package arrays

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"
)

// kind is how numbers are stored.
type kind struct {
	size   int
	float  bool
	signed bool
	big    bool // big-endian
}

// xsd returns the datatype of a kind.
func (k kind) xsd() string {
	switch {
	case k.float && k.size == 4:
		return "float"
	case k.float:
		return "double"
	case !k.signed:
		return map[int]string{1: "unsignedByte", 2: "unsignedShort", 4: "unsignedInt"}[k.size] + map[bool]string{
			true: "unsignedLong"}[k.size == 8]
	}
	return map[int]string{1: "byte", 2: "short", 4: "int", 8: "long"}[k.size]
}

// bits returns the bits of a number.
func (k kind) bits(b []byte) uint64 {
	order := binary.ByteOrder(binary.LittleEndian)
	if k.big {
		order = binary.BigEndian
	}
	switch k.size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(order.Uint16(b))
	case 4:
		return uint64(order.Uint32(b))
	}
	return order.Uint64(b)
}

// number returns a number, and its text.
func (k kind) number(b []byte) (float64, string) {
	u := k.bits(b)
	switch {
	case k.float && k.size == 2:
		x := half(uint16(u))
		return x, real(x, 32)
	case k.float && k.size == 4:
		x := float64(math.Float32frombits(uint32(u)))
		return x, real(x, 32)
	case k.float:
		x := math.Float64frombits(u)
		return x, real(x, 64)
	case k.signed:
		i := int64(u<<(64-8*k.size)) >> (64 - 8*k.size)
		return float64(i), strconv.FormatInt(i, 10)
	}
	return float64(u), strconv.FormatUint(u, 10)
}

// half returns a number of IEEE 754 binary16.
func half(u uint16) float64 {
	exp, frac := int(u>>10&31), float64(u&1023)
	x := 0.0
	switch {
	case exp == 31 && frac != 0:
		return math.NaN()
	case exp == 31:
		x = math.Inf(1)
	case exp == 0:
		x = frac * 0x1p-24
	default:
		x = (1 + frac/1024) * math.Pow(2, float64(exp-15))
	}
	if u&0x8000 != 0 {
		return -x
	}
	return x
}

// real returns the text of a number, "" for what is none.
func real(x float64, bits int) string {
	if math.IsNaN(x) {
		return ""
	}
	if math.IsInf(x, 0) {
		return map[bool]string{true: "INF", false: "-INF"}[x > 0]
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}

// conventions is what attributes say of the numbers of a variable (CF conventions 2.5.1, 4.4, 8.1).
type conventions struct {
	missing       map[string]bool // texts of numbers that mean no value
	scale, offset float64
	packed        bool
	since         time.Time
	unit          time.Duration // 0 if the numbers are no times
}

func conventionsOf(v *Var) (c conventions) {
	c.scale = 1
	c.missing = map[string]bool{}
	for _, name := range []string{"_FillValue", "missing_value"} {
		for s := range strings.SplitSeq(v.Attr(name), ", ") {
			if s != "" {
				c.missing[s] = true
			}
		}
	}
	if x, err := strconv.ParseFloat(v.Attr("scale_factor"), 64); err == nil {
		c.scale, c.packed = x, true
	}
	if x, err := strconv.ParseFloat(v.Attr("add_offset"), 64); err == nil {
		c.offset, c.packed = x, true
	}
	switch strings.ToLower(v.Attr("calendar")) {
	case "", "standard", "gregorian", "proleptic_gregorian":
		c.time(v.Attr("units"))
	}
	return c
}

// time takes units as "days since 1970-01-01 00:00:00".
func (c *conventions) time(units string) {
	unit, since, ok := strings.Cut(units, " since ")
	if !ok {
		return
	}
	step := map[string]time.Duration{
		"d": 24 * time.Hour, "day": 24 * time.Hour, "days": 24 * time.Hour, "h": time.Hour, "hr": time.Hour, "hour": time.Hour,
		"hours": time.Hour,
		"min":   time.Minute, "minute": time.Minute, "minutes": time.Minute, "s": time.Second, "sec": time.Second, "second": time.Second,
		"seconds":      time.Second,
		"milliseconds": time.Millisecond, "msec": time.Millisecond,
	}[strings.ToLower(strings.TrimSpace(unit))]
	since = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSpace(since), "UTC"), "Z")
	since = strings.TrimSpace(strings.Replace(since, "T", " ", 1))
	for _, layout := range []string{"2006-1-2 15:4:5.999999999", "2006-1-2 15:4:5", "2006-1-2 15:4", "2006-1-2 15", "2006-1-2",
		"2006-1-2 15:4:5 +00:00"} {
		if at, err := time.Parse(layout, since); err == nil && at.Year() > 1582 { // before, calendars differ
			c.since, c.unit = at, step
			return
		}
	}
}

// text returns the text of a number as the conventions mean it.
func (c *conventions) text(x float64, s string) string {
	if c.missing[s] {
		return ""
	}
	if c.packed {
		x = x*c.scale + c.offset
		s = strconv.FormatFloat(x, 'g', 12, 64)
		if !strings.ContainsAny(s, "e") && strings.Contains(s, ".") {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
	}
	if c.unit == 0 || s == "" || math.Abs(x) > 1e15 {
		return s
	}
	days := math.Floor(x * float64(c.unit) / float64(24*time.Hour))
	if math.Abs(days) > 1e6 {
		return s
	}
	rest := math.Round((x - days*float64(24*time.Hour)/float64(c.unit)) * float64(c.unit) / float64(time.Millisecond))
	at := c.since.AddDate(0, 0, int(days)).Add(time.Duration(rest) * time.Millisecond)
	if at.Year() < 1583 || at.Year() > 9999 {
		return s
	}
	return at.Format("2006-01-02T15:04:05.999")
}
