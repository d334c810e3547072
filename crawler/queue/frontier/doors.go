package frontier

import (
	"slices"
	"strings"
)

// A group is the URLs of one host and port, which share one connection. Behind it are doors, one for each scheme: port
// 21 says nothing about port 80. A door that is closed holds up its own URLs, and not those of the others.

// doorWait says until when a door of a group is closed, and why.
type doorWait struct {
	door      byte
	notBefore int64
	wait      string
}

// schemes are those that a URL may have.
var schemes = []string{"ftp", "http", "https"}

// doorOf returns the door of the URL with a key, as a byte in keys and records: f, h or s; 0 for a key that is not one.
func doorOf(key string) byte {
	switch scheme, _, _ := strings.Cut(key, "://"); scheme {
	case "ftp":
		return 'f'
	case "http":
		return 'h'
	case "https":
		return 's'
	}
	return 0
}

// doorName returns scheme, host and port of a door of a group.
func doorName(group string, door byte) string {
	for _, scheme := range schemes {
		if doorOf(scheme+"://") == door {
			return scheme + "://" + group
		}
	}
	return group
}

// door returns the wait of a door; the zero value if it is open.
func (h *host) door(door byte) doorWait {
	for _, d := range h.doors {
		if d.door == door {
			return d
		}
	}
	return doorWait{door: door}
}

// opens returns when a URL behind a door may be asked for.
func (h *host) opens(door byte) int64 { return max(h.notBefore, h.door(door).notBefore) }

// setDoor closes a door until a time, or opens it if that is 0. It reports whether a closed door was opened.
func (h *host) setDoor(door byte, notBefore int64, wait string) (opened bool) {
	n := len(h.doors)
	h.doors = slices.DeleteFunc(h.doors, func(d doorWait) bool { return d.door == door })
	if notBefore == 0 {
		return len(h.doors) < n
	}
	h.doors = append(h.doors, doorWait{door, notBefore, wait})
	return false
}
