package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"odarchive/crawler/catalog"
	"odarchive/crawler/inspect/packed"
	"odarchive/ns"
)

const someID = "0123456789abcdef01234567"

var at = time.Date(2026, 11, 22, 6, 0, 0, 123456789, time.UTC)

func fullResource() Resource {
	r := Resource{Latest: catalog.Digests{SHA256: [32]byte{1, 2}, MD5: [16]byte{3}}, Internal: true, Stretch: -7}
	r.Resource = catalog.Resource{
		ID: someID, URL: "http://data.example/a/ä.csv", Host: "data.example", Title: "a title", Format: "CSV", MediaType: "text/csv",
		FileName: "ä.csv",
		Sources: []catalog.Source{{Portal: "http://p.example/", Dataset: "http://p.example/d", DatasetTitle: "d"},
			{Portal: "http://p.example/", Delisted: at}},
		Portals: []string{"http://p.example/"}, Datasets: []string{"http://p.example/d"}, DatasetTitle: "d", SourcesOmitted: 3, Added: at,
		Versions: 4, ErrorPages: 1, OutOfOrder: true, NewestN: 2, Size: 1 << 40, FirstSeen: at.Add(time.Second), Changed: at.Add(time.Hour),
		Visits: 300, Errors: 5, LastVisit: at.Add(2 * time.Hour), NextVisit: at.Add(3 * time.Hour), Interval: time.Minute, Stopped: true,
		Outcome: catalog.NoVersion, ErrorClass: catalog.ErrTimeout, Why: "no answer",
	}
	return r
}

func fullVersion() catalog.Version {
	return catalog.Version{
		ID: ns.VersionID(someID, 3), URL: "http://data.example/a.csv", N: 3,
		Digests: catalog.Digests{SHA256: [32]byte{9}, MD5: [16]byte{8}}, Size: 77,
		Type: "text/csv", Charset: "UTF-8", Because: "commas", FileName: "a.csv", At: at, Activity: ns.ActivityID(someID, at),
		Previous:  ns.VersionID(someID, 2),
		ErrorPage: "an error page", Truncated: "length",
		Withdrawn:    &catalog.Withdrawal{At: at.Add(time.Hour), Reason: "it names people", Basis: "a law", By: "someone", Status: 451},
		LastModified: "yesterday", ETag: `"x"`, Headers: http.Header{"Etag": {`"x"`}, "A": {"1", "2"}},
		Request: http.Header{"Accept": {"*/*"}},
	}
}

// fataler is a test, of package testing or of rapid.
type fataler interface {
	Helper()
	Fatal(...any)
}

func resourceAgain(t fataler, r Resource) (got Resource) {
	t.Helper()
	k := key(tableResource, id(r.ID))
	raw, err := encode(k, r)
	if err == nil {
		err = decode(k, raw, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func versionAgain(t fataler, v catalog.Version) (got catalog.Version) {
	t.Helper()
	resource, n, _ := ns.SplitVersionID(v.ID)
	k := VersionKey(tableVersion, resource, n)
	raw, err := encode(k, v)
	if err == nil {
		err = decode(k, raw, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// forget calls f once for each field of the struct that p points to, with that field set to its zero value. All fields
// must be set.
func forget(t *testing.T, p any, skip map[string]bool, f func(field string)) {
	v := reflect.ValueOf(p).Elem()
	for _, field := range reflect.VisibleFields(v.Type()) {
		if field.Anonymous || skip[field.Name] {
			continue
		}
		of := v.FieldByIndex(field.Index)
		if of.IsZero() {
			t.Errorf("%s is not set: is it kept?", field.Name)
		}
		was := reflect.New(of.Type()).Elem()
		was.Set(of)
		of.SetZero()
		f(field.Name)
		of.Set(was)
	}
}

func TestEveryFieldOfAResourceAndOfAVersionIsKept(t *testing.T) {
	t.Parallel()
	r := fullResource()
	r.DatasetTitle = "of none of its sources"
	for _, r := range []Resource{r, fullResource(), {Resource: catalog.Resource{ID: someID}}} {
		if got := resourceAgain(t, r); !reflect.DeepEqual(got, r) {
			t.Errorf("got  %+v\nwant %+v", got, r)
		}
	}
	forget(t, &r, map[string]bool{"ID": true, "Versions": true}, func(field string) { // without versions, there is no latest one
		if got := resourceAgain(t, r); !reflect.DeepEqual(got, r) {
			t.Errorf("without %s: got  %+v\nwant %+v", field, got, r)
		}
	})
	v := fullVersion()
	forget(t, &v, map[string]bool{"ID": true, "N": true}, func(field string) {
		if got := versionAgain(t, v); !reflect.DeepEqual(got, v) {
			t.Errorf("without %s: got  %+v\nwant %+v", field, got, v)
		}
	})
	v.Previous, v.Activity, v.FileName = ns.VersionID(someID, 7), "another", "another.csv"
	if got := versionAgain(t, v); !reflect.DeepEqual(got, v) {
		t.Errorf("got  %+v\nwant %+v", got, v)
	}
}

func TestBinaryRecordsHoldWhatTheirJSONHeld(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{"", "a", "http://data.example/ä?x=1", "a.csv", "\x00\xff"})
		when := rapid.Custom(func(t *rapid.T) time.Time {
			if rapid.Bool().Draw(t, "zero") {
				return time.Time{}
			}
			return time.Unix(rapid.Int64Range(-1<<35, 1<<37).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds")).UTC()
		})
		r := Resource{}
		r.ID, r.URL, r.FileName, r.DatasetTitle = someID, text.Draw(t, "url"), text.Draw(t, "name"), text.Draw(t, "title")
		for range rapid.IntRange(0, 3).Draw(t, "sources") {
			r.Sources = append(r.Sources,
				catalog.Source{Portal: text.Draw(t, "portal"), Dataset: text.Draw(t, "dataset"), DatasetTitle: text.Draw(t, "title"),
					Delisted: when.Draw(t, "delisted")})
		}
		if rapid.Bool().Draw(t, "listed") {
			r.Portals, r.Datasets = listedBy(r.Sources)
		} else {
			r.Portals = rapid.SliceOfN(text, 1, 3).Draw(t, "portals")
		}
		r.Versions, r.Size, r.Changed, r.LastVisit = rapid.IntRange(0, 9).Draw(t, "versions"), rapid.Int64().Draw(t, "size"),
			when.Draw(t, "changed"), when.Draw(t, "visit")
		if got := resourceAgain(t, r); !reflect.DeepEqual(got, r) {
			t.Fatalf("got  %+v\nwant %+v", got, r)
		}
		n := rapid.IntRange(0, 3).Draw(t, "n")
		v := catalog.Version{ID: ns.VersionID(someID, n), N: n, URL: text.Draw(t, "url"), FileName: text.Draw(t, "name"),
			At: when.Draw(t, "at")}
		v.Activity = rapid.SampledFrom([]string{"", "other", ns.ActivityID(someID, v.At)}).Draw(t, "activity")
		v.Previous = rapid.SampledFrom([]string{"", ns.VersionID(someID, 0), ns.VersionID(someID, max(n-1, 0))}).Draw(t, "previous")
		if got := versionAgain(t, v); !reflect.DeepEqual(got, v) {
			t.Fatalf("got  %+v\nwant %+v", got, v)
		}
	})
}

func TestADamagedBinaryRecordIsABadRecord(t *testing.T) {
	t.Parallel()
	k := key(tableResource, id(someID))
	resource, version := encodeResource(fullResource()), encodeVersion(someID, 3, fullVersion())
	for n := 1; n < len(resource); n++ {
		if err := decode(k, resource[:n], &Resource{}); !errors.Is(err, ErrBadRecord) {
			t.Fatalf("a resource of %d bytes: %v", n, err)
		}
	}
	for n := 1; n < len(version); n++ {
		if err := decode(VersionKey(tableVersion, someID, 3), version[:n], &catalog.Version{}); !errors.Is(err, ErrBadRecord) {
			t.Fatalf("a version of %d bytes: %v", n, err)
		}
	}
	for _, k := range [][]byte{{tableResource}, k[:9], append(bytes.Clone(k), 1)} {
		if err := decode(k, resource, &Resource{}); !errors.Is(err, ErrBadRecord) {
			t.Errorf("key %q: %v", k, err)
		}
		if err := decode(k, version, &catalog.Version{}); !errors.Is(err, ErrBadRecord) {
			t.Errorf("key %q: %v", k, err)
		}
	}
}

func FuzzBinaryRecords(f *testing.F) {
	f.Add(encodeResource(fullResource())[1:])
	f.Add(encodeVersion(someID, 3, fullVersion())[1:])
	f.Fuzz(func(t *testing.T, raw []byte) {
		raw = append([]byte{binaryRecord}, raw...)
		var r Resource
		if decode(key(tableResource, id(someID)), raw, &r) == nil {
			encodeResource(r) // what was read can be written
		}
		var v catalog.Version
		if decode(VersionKey(tableVersion, someID, 1), raw, &v) == nil {
			encodeVersion(someID, 1, v)
		}
	})
}

// BenchmarkRecord compares reading and writing a resource's record with doing so as packed JSON.
func BenchmarkRecord(b *testing.B) {
	r := fullResource()
	k := key(tableResource, id(r.ID))
	text, err := json.Marshal(r)
	if err != nil {
		b.Fatal(err)
	}
	former, err := packed.JSON(text)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) { benchDecode(b, k, encodeResource(r)) })
	b.Run("read-JSON", func(b *testing.B) { benchDecode(b, k, former) })
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			encodeResource(r)
		}
	})
	b.Run("write-JSON", func(b *testing.B) {
		for b.Loop() {
			text, _ := json.Marshal(r)
			if _, err := packed.JSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func benchDecode(b *testing.B, k, raw []byte) {
	for b.Loop() {
		var r Resource
		if err := decode(k, raw, &r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(raw)), "bytes")
}
