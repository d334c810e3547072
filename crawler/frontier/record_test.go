package frontier

import (
	"reflect"
	"testing"
	"time"

	"odarchive/crawler/catalog"
	"odarchive/crawler/schedule"
)

func sampleURL() *URL {
	return &URL{Key: "k", Group: "a.example", Added: noon, Due: noon.Add(time.Hour), Priority: -1.5, Blacklisted: true, Liar: true,
		URL: "http://a.example/ü", Format: "CSV", MediaType: "text/csv", Period: time.Hour,
		History: []schedule.Visit{
			{At: noon.Add(-48 * time.Hour), Outcome: catalog.Archived, Changed: true, LastModified: noon.Add(-50 * time.Hour)},
			{At: noon.Add(-24 * time.Hour), Outcome: catalog.RetryLater},
			{At: noon, Outcome: catalog.Unchanged, LastModified: noon.Add(-50 * time.Hour)}},
		Fetches: 9, Errors: 1, Changes: 4, ETag: `"e"`, LastModified: "yesterday", Why: "because"}
}

func TestARecordComesBackAsItWas(t *testing.T) {
	t.Parallel()
	for _, want := range []*URL{sampleURL(), {Key: "k", History: []schedule.Visit{}}} {
		got := &URL{Key: "k"}
		if err := got.decode(want.encode(nil)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
}

func TestARecordOfALaterFormatIsNotMisread(t *testing.T) {
	t.Parallel()
	b := sampleURL().encode(nil)
	b[0]++
	if err := new(URL).decode(b); err == nil {
		t.Error("it was read")
	}
}

func FuzzRecord(f *testing.F) {
	f.Add(sampleURL().encode(nil))
	f.Add([]byte{recordVersion, 0})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 0 {
			_ = (&host{}).decode(0, append([]byte{hostVersion}, b...)) // must not panic
			_ = (&host{}).decode1(append([]byte{1}, b...))
		}
		var u URL
		if u.decode(b) != nil {
			return
		}
		var again URL
		if err := again.decode(u.encode(nil)); err != nil {
			t.Fatalf("what was read cannot be written and read: %v", err)
		}
	})
}
