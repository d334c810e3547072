// Package series keeps what was fetched over time, for a year: visits by outcome, errors by class, bytes, and how long
// the fetches took, in slots of five minutes for two days and in slots of an hour for the time before.
//
// A visit is counted by the transaction that records it, so the series survives a crash and misses nothing. A slot
// takes some tens of bytes. The first visit of a slot folds older slots into hours, and drops what is older than Kept,
// so there are never more than some ten thousand slots. FORMAT.md explains the records.
package series

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/triplestore/kv"
)

const (
	// Fine is the length of a slot of the last FineFor, Coarse that of the slots before.
	Fine   = 5 * time.Minute
	Coarse = time.Hour
	// FineFor is how long fine slots are kept, Kept how long coarse ones are.
	FineFor = 48 * time.Hour
	Kept    = 400 * 24 * time.Hour
)

// Visit is one visit to count.
type Visit struct {
	Outcome catalog.Outcome
	Class   catalog.ErrorClass // "" for none
	Bytes   int64              // of the body
	Took    time.Duration      // of the fetch
}

// Slot is what was counted in a stretch of time.
type Slot struct {
	At       time.Time                    `json:"at"` // its beginning
	Visits   int64                        `json:"visits"`
	Outcomes map[catalog.Outcome]int64    `json:"outcomes"`
	Errors   map[catalog.ErrorClass]int64 `json:"errors"`
	Bytes    int64                        `json:"bytes"`
	Seconds  float64                      `json:"seconds"` // that the fetches took, together
}

// Numbers of what is counted. A number is never given to something else.
const (
	countBytes   = 1
	countMillis  = 2
	firstOutcome = 10
	firstClass   = 40
)

// outcomes and classes are numbered by their index, from firstOutcome and firstClass. Others count as the first, "".
var (
	outcomes = []catalog.Outcome{"", catalog.Archived, catalog.Unchanged, catalog.NoVersion, catalog.Blocked, catalog.RobotsDenied,
		catalog.RetryLater}
	classes = []catalog.ErrorClass{"", catalog.ErrProtocol, catalog.ErrTruncated, catalog.ErrNetwork, catalog.ErrTimeout,
		catalog.ErrTooLarge, catalog.ErrDecode,
		catalog.ErrHeaderTooLarge, catalog.ErrHTTPStatus, catalog.ErrTooManyRedirect, catalog.ErrBadURL, catalog.ErrForbiddenTarget,
		catalog.ErrEmptyBody,
		catalog.ErrTLS, catalog.ErrDNS, catalog.ErrSoft404, catalog.ErrDiskFull, catalog.ErrInternal}
)

// counts are the counts of a slot, by number.
type counts map[uint64]uint64

const recordVersion = 1

var errDamaged = errors.New("a record of the series is damaged")

func (c counts) encode() []byte {
	b := []byte{recordVersion}
	numbers := make([]uint64, 0, len(c))
	for n := range c {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		b = binary.AppendUvarint(binary.AppendUvarint(b, n), c[n])
	}
	return b
}

// maxCounts bounds the numbers of a record.
const maxCounts = 200

func decode(b []byte) (counts, error) {
	if len(b) == 0 || b[0] != recordVersion {
		return nil, errDamaged
	}
	c := counts{}
	for b = b[1:]; len(b) > 0; {
		n, i := binary.Uvarint(b)
		if i <= 0 {
			return nil, errDamaged
		}
		v, j := binary.Uvarint(b[i:])
		if j <= 0 || len(c) >= maxCounts {
			return nil, errDamaged
		}
		c[n] += v
		b = b[i+j:]
	}
	return c, nil
}

func (c counts) add(others counts) {
	for n, v := range others {
		c[n] += v
	}
}

// into adds the counts to a slot.
func (c counts) into(s *Slot) {
	for n, v := range c {
		switch {
		case n == countBytes:
			s.Bytes += int64(v)
		case n == countMillis:
			s.Seconds += float64(v) / 1000
		case n >= firstOutcome && n < firstOutcome+uint64(len(outcomes)):
			s.Outcomes[outcomes[n-firstOutcome]] += int64(v)
			s.Visits += int64(v)
		case n >= firstClass && n < firstClass+uint64(len(classes)):
			s.Errors[classes[n-firstClass]] += int64(v)
		}
	}
}

// Keys of kv.SpaceSeries: the length of the slot, and its number since 1970.
const (
	keyFine   = 'm'
	keyCoarse = 'h'
)

func slotKey(kind byte, at time.Time) []byte {
	length := Fine
	if kind == keyCoarse {
		length = Coarse
	}
	return binary.BigEndian.AppendUint64([]byte{kind}, uint64(max(0, at.Unix()))/uint64(length/time.Second))
}

// timeOf returns the beginning of a slot. ok is false if k is not a key of a slot.
func timeOf(k []byte) (at time.Time, ok bool) {
	if len(k) != 9 || k[0] != keyFine && k[0] != keyCoarse {
		return at, false
	}
	length := Fine
	if k[0] == keyCoarse {
		length = Coarse
	}
	n := binary.BigEndian.Uint64(k[1:])
	if n > 1<<40 {
		return at, false
	}
	return time.Unix(int64(n)*int64(length/time.Second), 0).UTC(), true
}

// get returns the counts of a slot, empty ones if there are none or they are damaged.
func get(txn *kv.Txn, key []byte) (c counts, known bool, err error) {
	_, err = txn.Read(kv.SpaceSeries, key, func(b []byte) error {
		if read, err := decode(b); err == nil {
			c, known = read, true
		}
		return nil
	})
	if c == nil {
		c = counts{}
	}
	return c, known, err
}

// Add counts a visit that ended at a time by the archive's clock, in the transaction that records it.
func Add(txn *kv.Txn, at time.Time, v Visit) error {
	key := slotKey(keyFine, at)
	c, known, err := get(txn, key)
	if err == nil && !known {
		err = fold(txn, at)
	}
	if err != nil {
		return fmt.Errorf("series: %w", err)
	}
	c[firstOutcome+uint64(max(0, slices.Index(outcomes, v.Outcome)))]++
	if v.Class != "" {
		c[firstClass+uint64(max(0, slices.Index(classes, v.Class)))]++
	}
	if v.Bytes > 0 {
		c[countBytes] += uint64(v.Bytes)
	}
	if ms := v.Took.Milliseconds(); ms > 0 {
		c[countMillis] += uint64(ms)
	}
	return txn.Set(kv.SpaceSeries, key, c.encode())
}

// perFold is how many slots one transaction folds or drops at most.
const perFold = 200

// fold adds fine slots that are too far from now to the slots of their hours, and drops coarse slots that are. Slots in
// the future are of a clock that was ahead.
func fold(txn *kv.Txn, now time.Time) error {
	far := func(kind byte, within time.Duration) (keys [][]byte, err error) {
		first, last := slotKey(kind, now.Add(-within)), slotKey(kind, now.Add(within))
		err = txn.Scan(kv.SpaceSeries, []byte{kind}, nil, func(k, _ []byte) (bool, error) {
			if bytes.Compare(k, first) >= 0 {
				return false, nil
			}
			keys = append(keys, slices.Clone(k))
			return len(keys) < perFold, nil
		})
		if err != nil {
			return nil, err
		}
		err = txn.Scan(kv.SpaceSeries, []byte{kind}, last, func(k, _ []byte) (bool, error) {
			if bytes.Compare(k, last) > 0 {
				keys = append(keys, slices.Clone(k))
			}
			return len(keys) < perFold, nil
		})
		return keys, err
	}
	fine, err := far(keyFine, FineFor)
	if err != nil {
		return err
	}
	hours := map[string]counts{}
	for _, k := range fine {
		at, ok := timeOf(k)
		if ok {
			c, _, err := get(txn, k)
			if err != nil {
				return err
			}
			hour := slotKey(keyCoarse, at)
			if hours[string(hour)] == nil {
				if hours[string(hour)], _, err = get(txn, hour); err != nil {
					return err
				}
			}
			hours[string(hour)].add(c)
		}
		if err := txn.Delete(kv.SpaceSeries, k); err != nil {
			return err
		}
	}
	for hour, c := range hours {
		if err := txn.Set(kv.SpaceSeries, []byte(hour), c.encode()); err != nil {
			return err
		}
	}
	coarse, err := far(keyCoarse, Kept)
	for _, k := range coarse {
		if err := txn.Delete(kv.SpaceSeries, k); err != nil {
			return err
		}
	}
	return err
}

// MaxSlots is the maximum number of slots that Read returns.
const MaxSlots = 2000

// Read returns the slots from from until before to, each step long, a multiple of Fine, also those in which nothing was
// counted. It returns at most MaxSlots: the last ones. What was counted more than FineFor ago is in the slot in which
// its hour begins.
func Read(db *kv.DB, from, to time.Time, step time.Duration) ([]Slot, error) {
	step = max(Fine, step.Truncate(Fine))
	from, to = from.UTC().Truncate(step), to.UTC()
	if limit := to.Add(-(MaxSlots - 1) * step).Truncate(step); from.Before(limit) {
		from = limit
	}
	var all []Slot
	for at := from; at.Before(to); at = at.Add(step) {
		all = append(all, Slot{At: at, Outcomes: map[catalog.Outcome]int64{}, Errors: map[catalog.ErrorClass]int64{}})
	}
	if len(all) == 0 {
		return nil, nil
	}
	err := db.View(func(txn *kv.Txn) error {
		for _, kind := range []byte{keyFine, keyCoarse} {
			err := txn.Scan(kv.SpaceSeries, []byte{kind}, slotKey(kind, from), func(k, v []byte) (bool, error) {
				at, ok := timeOf(k)
				if !ok || at.Before(from) {
					return true, nil
				}
				if !at.Before(to) {
					return false, nil
				}
				if c, err := decode(v); err == nil { // else it is lost, and the others are still worth showing
					c.into(&all[at.Sub(from)/step])
				}
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("series: %w", err)
	}
	return all, nil
}
