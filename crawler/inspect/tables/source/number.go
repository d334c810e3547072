package source

import (
	"math"
	"strconv"
	"strings"
)

// Number formats a number of 32 or 64 bits: whole ones without a point, others with the fewest digits that tell them
// apart. What is not a number is "".
func Number(v float64, bits int) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v):
		return ""
	case math.IsInf(v, 1):
		return "INF"
	case math.IsInf(v, -1):
		return "-INF"
	case v == 0:
		return "0"
	case a < 1e15 && v == math.Trunc(v):
		return strconv.FormatInt(int64(v), 10)
	case a < 1e15 && a >= 1e-5:
		return strconv.FormatFloat(v, 'f', -1, bits)
	}
	return strings.Replace(strconv.FormatFloat(v, 'E', -1, bits), "E+", "E", 1)
}
