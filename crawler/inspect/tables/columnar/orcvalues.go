package columnar

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"time"
)

// moment reads a time: seconds since the beginning of 2015, and parts of a second.
func (c *orcColumn) moment() (string, error) {
	seconds, err := c.ints.next()
	if err != nil {
		return "", err
	}
	nanos, err := c.second.next()
	if err != nil {
		return "", err
	}
	zeros := nanos & 7
	if nanos = nanos >> 3; zeros != 0 {
		for range zeros + 1 {
			nanos *= 10
		}
	}
	zone := c.zone
	if c.kind == orcInstant {
		zone = time.UTC
	}
	from := time.Date(2015, 1, 1, 0, 0, 0, 0, zone).Unix()
	if seconds > math.MaxInt64/4 || seconds < math.MinInt64/4 || nanos < 0 || nanos >= 1e9 {
		return "", errRun
	}
	seconds += from
	if seconds < 0 && nanos > 999_999 { // as ORC's own programs write times before 1970
		seconds--
	}
	at := time.Unix(seconds, nanos).In(zone)
	if y := at.Year(); y < 1 || y > 9999 {
		return "", nil
	}
	if c.kind == orcInstant {
		return at.Format("2006-01-02T15:04:05.999999999Z"), nil
	}
	return at.Format("2006-01-02T15:04:05.999999999"), nil
}

// decimal reads a decimal number: its digits in variable length, and its scale.
func (c *orcColumn) decimal() (string, error) {
	if c.ints != nil {
		v, err := c.ints.next()
		return decimal(strconv.FormatInt(v, 10), c.scale), err
	}
	n, shift := new(big.Int), uint(0)
	for {
		b, err := c.raw.ReadByte()
		if err != nil || shift > 200 {
			return "", errors.Join(err, errRun)
		}
		n.Or(n, new(big.Int).Lsh(big.NewInt(int64(b&0x7f)), shift))
		shift += 7
		if b&0x80 == 0 {
			break
		}
	}
	odd := n.Bit(0) == 1
	if n.Rsh(n, 1); odd {
		n.Not(n)
	}
	scale, err := c.second.next()
	return decimal(n.String(), int(max(0, min(scale, 100)))), err
}
