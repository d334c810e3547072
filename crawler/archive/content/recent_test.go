package content

import (
	"encoding/binary"
	"testing"
	"time"
)

func TestAFileIsSparedForAnHourAndNotForTwo(t *testing.T) {
	t.Parallel()
	var r recent
	start := time.Now()
	for minute := range 300 {
		var sha Digest
		binary.BigEndian.PutUint64(sha[:], uint64(minute))
		r.add(sha, start.Add(time.Duration(minute)*time.Minute))
	}
	now := start.Add(300 * time.Minute)
	for minute := range 300 {
		var sha Digest
		binary.BigEndian.PutUint64(sha[:], uint64(minute))
		spared := r.has(sha, now)
		if age := 300 - minute; age < 60 && !spared || age > 120 && spared {
			t.Errorf("a file given out %d minutes ago is spared: %v", age, spared)
		}
	}
	if r.forget(Digest{}); r.has(Digest{}, start) {
		t.Error("a forgotten file is spared")
	}
}

// The cost of sparing a file does not grow with the number of files of the last hour.
func TestSparingManyFilesIsNotQuadratic(t *testing.T) {
	t.Parallel()
	var r recent
	now := time.Now()
	for i := range 400_000 { // would take minutes if each call looked at all files
		var sha Digest
		binary.BigEndian.PutUint64(sha[:], uint64(i))
		r.add(sha, now)
	}
	if len(r.young) != 400_000 {
		t.Errorf("%d are spared", len(r.young))
	}
}
