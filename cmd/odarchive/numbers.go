package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/spf13/pflag"
)

// bounded is a flag whose number must be from min to max: another one is wrong usage before the command begins.
type bounded[T int | int64] struct {
	to       *T
	min, max T
}

// number defines a flag for a number from min to max. Its default is what to points to, which may be outside.
func number[T int | int64](f *pflag.FlagSet, to *T, name string, min, max T, usage string) {
	f.Var(&bounded[T]{to, min, max}, name, usage)
}

// unbounded is the max of a number that has none.
const unbounded = math.MaxInt

func (b *bounded[T]) String() string {
	if b.to == nil { // of no flag, as package pflag makes one
		return "0"
	}
	return fmt.Sprint(*b.to)
}

func (b *bounded[T]) Type() string { return "int" }

func (b *bounded[T]) Set(text string) error {
	n, err := strconv.ParseInt(text, 0, 64)
	switch {
	case err == nil && T(n) >= b.min && T(n) <= b.max && int64(T(n)) == n:
		*b.to = T(n)
		return nil
	case b.max == unbounded:
		return fmt.Errorf("expected a whole number, %d or more", b.min)
	}
	return fmt.Errorf("expected a whole number from %d to %d", b.min, b.max)
}

// timeSpan is a flag whose time is not negative.
type timeSpan struct{ to *time.Duration }

// span defines a flag for a time that is not negative. Its default is what to points to.
func span(f *pflag.FlagSet, to *time.Duration, name, usage string) { f.Var(timeSpan{to}, name, usage) }

func (s timeSpan) String() string {
	if s.to == nil || *s.to == 0 {
		return "0"
	}
	return s.to.String()
}

func (s timeSpan) Type() string { return "duration" }

func (s timeSpan) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return errors.New("expected a time such as 90m or 24h, and not a negative one")
	}
	*s.to = d
	return nil
}
