package hosts

import (
	"fmt"
	"net"
	"net/netip"
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

// Daily is how many requests a day (of UTC) a host gets at most: a number, or a share of its known files. The zero
// value is no limit.
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

// Place is where the hosts of a rule are, whatever their names resolve to: ADDR, or ADDR:PORT, which replaces the port
// of each URL, too. The zero value is nowhere.
type Place struct {
	Addr netip.Addr
	Port uint16 // 0 for the port of the URL
}

// IsZero reports whether the place is not set.
func (p Place) IsZero() bool { return !p.Addr.IsValid() }

// UnmarshalText parses "127.0.0.2:8081", "127.0.0.2", "[::1]:8081" or "::1".
func (p *Place) UnmarshalText(text []byte) error {
	if a, err := netip.ParseAddr(strings.Trim(string(text), "[]")); err == nil {
		*p = Place{Addr: a.Unmap()}
		return nil
	}
	ap, err := netip.ParseAddrPort(string(text))
	if err != nil || ap.Port() == 0 {
		return fmt.Errorf("%.100q is not an address such as 192.0.2.7 or 192.0.2.7:8080", text)
	}
	*p = Place{ap.Addr().Unmap(), ap.Port()}
	return nil
}

// MarshalText formats a place as UnmarshalText reads it.
func (p Place) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

func (p Place) String() string {
	switch {
	case p.IsZero():
		return ""
	case p.Port == 0:
		return p.Addr.String()
	}
	return net.JoinHostPort(p.Addr.String(), strconv.Itoa(int(p.Port)))
}

// ParseResolve parses HOST=ADDR or HOST=ADDR:PORT and returns a rule that says where HOST is.
func ParseResolve(text string) (Rule, error) {
	name, where, ok := strings.Cut(text, "=")
	r := Rule{Match: name}
	err := r.Set("resolve", where)
	if !ok || where == "" || err != nil || r.Check() != nil {
		return Rule{}, fmt.Errorf("%.300q is not of the form HOST=ADDR:PORT, such as data.example.org=192.0.2.7:8080", text)
	}
	return r, nil
}
