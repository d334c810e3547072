package fetch

import (
	"bytes"

	"odarchive/crawler/address"
)

// clean removes secrets from requests. It reports whether the responses are free of them.
func clean(h address.Secrets, hops []Hop) bool {
	if len(h) == 0 {
		return true
	}
	for i := range hops {
		hops[i].Request = []byte(h.Replace(string(hops[i].Request)))
		coded := bytes.Contains(bytes.ToLower(hops[i].Head), []byte("\ncontent-encoding:")) // what it says cannot be seen
		if coded || hops[i].Wire != nil && h.Within(hops[i].Wire.File.Open()) {
			return false
		}
	}
	return true
}
