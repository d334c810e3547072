package frontier

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"time"
)

// Times on disk are Unix milliseconds, as 8 bytes that sort (sign bit flipped).
const (
	minTime = math.MinInt64
	maxTime = math.MaxInt64
)

func ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMS(v int64) time.Time {
	if v == 0 {
		return time.Time{}
	}
	return time.UnixMilli(v).UTC()
}

func appendTime(b []byte, t int64) []byte { return binary.BigEndian.AppendUint64(b, uint64(t)^1<<63) }

func readTime(b []byte) int64 { return int64(binary.BigEndian.Uint64(b) ^ 1<<63) }

// Keys of kv.SpaceHosts: single ones, groups by name, and their records by the time they may be leased.
const (
	keyFormat     = "!format"
	keyGeneration = "!generation"
	keyPaused     = "!paused"
	keyTotals     = "!totals"
	prefixHost    = "h"
	prefixReady   = "t"
)

func hostKey(group string) []byte { return []byte(prefixHost + group) }

func readyKey(at int64, group string) []byte {
	return append(appendTime(append(make([]byte, 0, 9+len(group)), prefixReady...), at), group...)
}

// placeOf splits a key of the index of ready groups. ok is false if k is not such a key.
func placeOf(k []byte) (p place, ok bool) {
	if len(k) < len(prefixReady)+8 {
		return place{}, false
	}
	group := string(k[len(prefixReady)+8:])
	return place{readTime(k[len(prefixReady):]), group}, isGroup(group)
}

// isGroup reports whether name can be that of a group. A zero byte separates parts of keys.
func isGroup(name string) bool { return name != "" && !strings.Contains(name, "\x00") }

// recordKey in kv.SpaceDue: due time, 0 for none, and URL key.
func recordKey(due int64, key string) []byte {
	return append(appendTime(make([]byte, 0, 8+len(key)), due), key...)
}

// Keys of kv.SpaceQueue: group, 0, band, door, due time, URL key. A lower band is more urgent.
func queuePrefix(group string, lane laneID) []byte {
	return append(append(append(make([]byte, 0, len(group)+3), group...), 0), lane.band, lane.door)
}

func queueKey(group string, lane laneID, due int64, key string) []byte {
	b := append(make([]byte, 0, len(group)+11+len(key)), group...)
	return append(appendTime(append(b, 0, lane.band, lane.door), due), key...)
}

// cutQueueKey splits what follows group and lane in a queue key. ok is false if the key is too short.
func cutQueueKey(k []byte, group string) (due int64, key string, ok bool) {
	rest := k[min(len(k), len(group)+3):]
	if len(rest) < 8 {
		return 0, "", false
	}
	return readTime(rest), string(rest[8:]), true
}

// band returns the band of a priority: 128 for 0, and sixteen steps for each doubling of 1+|priority|. Higher
// priorities have lower bands.
func band(priority float64) byte {
	if math.IsNaN(priority) {
		return 128
	}
	step := min(127, 16*math.Log2(1+math.Abs(priority)))
	if priority < 0 {
		return byte(128 + math.Round(step))
	}
	return byte(128 - math.Round(step))
}

// splitQueueKey splits a queue key of any group. ok is false if k is not a queue key.
func splitQueueKey(k []byte) (group string, lane laneID, e entry, ok bool) {
	i := bytes.IndexByte(k, 0)
	if i < 1 || i+2 >= len(k) {
		return "", laneID{}, entry{}, false
	}
	group, lane = string(k[:i]), laneID{k[i+1], k[i+2]}
	e.due, e.key, ok = cutQueueKey(k, group)
	return group, lane, e, ok
}
