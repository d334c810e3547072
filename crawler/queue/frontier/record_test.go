package frontier

import (
	"reflect"
	"testing"
	"time"

	"odarchive/crawler/address"
	"odarchive/crawler/catalog"
	"odarchive/crawler/queue/schedule"
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
	spelledAsKey := sampleURL()
	spelledAsKey.Key, spelledAsKey.URL = "https://(example,a,)/x", "https://a.example/x"
	resembling := sampleURL()
	resembling.Key, resembling.URL, resembling.Group = "https://(example,a,:81)/x?a=1&b=2", "HTTPS://A.example:81/x?b=2&a=1", "a.example:81"
	fresh := &URL{Key: "http://(example,a,)/", URL: "http://a.example/", Group: "a.example", Added: noon, Due: noon,
		History: []schedule.Visit{}}
	for _, want := range []*URL{sampleURL(), spelledAsKey, resembling, fresh, {Key: "k", History: []schedule.Visit{}}} {
		want.stored = ms(want.Due)
		got := &URL{Key: want.Key, stored: want.stored}
		if err := got.decode(want.encode(nil)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
		}
	}
}

func TestARecordOfANewURLTakesAFewBytes(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"http://a.example/", "https://a.b.example:8080/path/x.csv?id=7&lang=de", "http://192.0.2.1/x",
		"http://[2001:db8::1]:81/", "ftp://me@a.example/x"} {
		parsed, err := address.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		u := &URL{Key: keyOf(parsed), URL: raw, Group: parsed.Group(), Added: noon, Due: noon}
		if b := u.encode(nil); len(b) > 4 {
			t.Errorf("%s: the record takes %d bytes: %q", raw, len(b), b)
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
	f.Add("k", sampleURL().encode(nil))
	f.Add("http://(example,a,)/x", []byte{recordVersion, hasURL, 2, 0})
	f.Add("http://(a@b,,:)", []byte{2, 0})
	f.Add("", []byte{})
	f.Fuzz(func(t *testing.T, key string, b []byte) {
		if len(b) > 0 {
			_ = (&host{}).decode(0, append([]byte{hostVersion}, b...)) // must not panic
		}
		if len(b) > 1 && b[0] == recordVersion {
			b = append(b, checksum(key, 7, b)...)
		}
		u := URL{Key: key, stored: 7}
		if u.decode(b) != nil {
			return
		}
		again := URL{Key: key, stored: ms(u.Due)}
		if err := again.decode(u.encode(nil)); err != nil || again.URL != u.URL || again.Group != u.Group || !again.Added.Equal(u.Added) {
			t.Fatalf("what was read cannot be written and read: %+v, %v; want %+v", again, err, u)
		}
	})
}
