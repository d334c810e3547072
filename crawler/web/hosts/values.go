package hosts

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// Duration is a time such as 10s or 1m30s.
type Duration time.Duration

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%.100q is not a time such as 10s", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText formats a duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d Duration) String() string { return time.Duration(d).String() }

// Size is a number of bytes, such as 100MiB.
type Size int64

// UnmarshalText parses a size.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n == 0 || n > 1<<62 {
		return fmt.Errorf("%.100q is not a size such as 100MiB", text)
	}
	*s = Size(n)
	return nil
}

// MarshalText formats a size. It is exact.
func (s Size) MarshalText() ([]byte, error) {
	for _, unit := range []struct {
		name string
		size Size
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s >= unit.size && s%unit.size == 0 {
			return []byte(strconv.FormatInt(int64(s/unit.size), 10) + unit.name), nil
		}
	}
	return []byte(strconv.FormatInt(int64(s), 10)), nil
}

// Daily is how many requests a day (of UTC) a host gets at most: a number, or a share of its known files. The zero value
// is no limit.
type Daily struct {
	Requests int
	Percent  float64 // of the files, but at least MinShare requests; used if Requests is 0
}

// MinShare is the least number of requests a day that a share of a host's files allows.
const MinShare = 100

// UnmarshalText parses "5000", "20%", or "0" for no limit.
func (d *Daily) UnmarshalText(text []byte) error {
	t := strings.TrimSpace(string(text))
	if share, ok := strings.CutSuffix(t, "%"); ok {
		p, err := strconv.ParseFloat(share, 64)
		if err != nil || !(p > 0 && p <= 10_000) {
			return errDaily(t)
		}
		*d = Daily{Percent: p}
		return nil
	}
	n, err := strconv.Atoi(t)
	if err != nil || n < 0 || n > 1e9 {
		return errDaily(t)
	}
	*d = Daily{Requests: n}
	return nil
}

func errDaily(t string) error {
	return fmt.Errorf("%.100q is neither a number of requests a day nor a share of the files such as 20%%", t)
}

// MarshalText formats a limit as UnmarshalText reads it.
func (d Daily) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d Daily) String() string {
	if d.Percent > 0 {
		return strconv.FormatFloat(d.Percent, 'f', -1, 64) + "%"
	}
	return strconv.Itoa(d.Requests)
}

// Limit returns the number of requests a day for a host with so many files, 0 for no limit.
func (d Daily) Limit(files int) int {
	if d.Percent > 0 {
		return max(MinShare, int(float64(files)*d.Percent/100))
	}
	return d.Requests
}
