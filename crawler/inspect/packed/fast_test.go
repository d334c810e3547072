package packed

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/csvprofile"
)

// fill gives every field of a value that JSON knows something that is not its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("ä <b>\"1\"\n")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(-12)
	case reflect.Uint32:
		v.SetUint(64)
	case reflect.Float64:
		v.SetFloat(-1.25e-30)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 11, 28, 1, 2, 3, 4, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if tag := v.Type().Field(i).Tag.Get("json"); tag != "" && tag != "-" {
				fill(v.Field(i))
			}
		}
	}
}

// complete returns an Inside with all fields.
func complete() *inspect.Inside {
	in := &inspect.Inside{}
	fill(reflect.ValueOf(in).Elem())
	for c := range Columns(in) {
		c.Sketch = csvprofile.Sketch{64, 1 << 20}
	}
	return in
}

func TestAllThatIsInsideAVersionIsParsedAsEncodingJSONParsesIt(t *testing.T) {
	t.Parallel()
	for _, in := range append(insides(t), complete(), &inspect.Inside{},
		&inspect.Inside{Tables: []*csvprofile.Profile{{Columns: []csvprofile.Column{}}}}) {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		want := &inspect.Inside{}
		if err := json.Unmarshal(text, want); err != nil {
			t.Fatal(err)
		}
		got, ok := parseInside(text)
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%.1000s:\n%+v, %v; want\n%+v", text, got, ok, want)
		}
		for i := range min(len(text), 3000) {
			if _, ok := parseInside(text[:i]); ok {
				t.Errorf("%d of %d bytes were parsed, too", i, len(text))
			}
		}
	}
}

func TestATextOfAnotherFormIsLeftToEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `null`, ` {}`, `{} `, `{"more":true,"more":true}`, `{"faults":[],"more":true}`, `{"More":true}`, `{"more":1}`, `{"other":1}`,
		`{"m\u006fre":true}`,
		`{"columnsOmitted":01}`, `{"columnsOmitted":1.0}`, `{"columnsOmitted":1e0}`, `{"columnsOmitted":1234567890123456789}`,
		`{"columnsOmitted":-}`, `{"columnsOmitted":}`,
		`{"tables":null}`, `{"tables":[null]}`, `{"faults":["` + "\xff" + `"]}`, `{"faults":["` + "\n" + `"]}`, `{"faults":[],}`,
		`{"faults":[1,]}`, `{"faults":["\x"]}`,
		`{"rdf":{"profile":1}}}`, `{"rdf":[}`, `{"tables":[{"columns":[{"mean":.5}]}]}`, `{"tables":[{"columns":[{"mean":0x1p-2}]}]}`,
		`{"tables":[{"columns":[{"mean":1e999}]}]}`,
	} {
		if in, ok := parseInside([]byte(text)); ok {
			t.Errorf("%s was parsed: %+v", text, in)
		}
	}
}

func FuzzParseInside(f *testing.F) {
	for _, in := range append(insides(f), complete()) {
		if len(in.Tables) > 0 {
			in.Tables = in.Tables[:1]
		}
		text, err := encodeInside(in)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add(
		[]byte(
			`{"tables":[{"profile":1,"dialect":{"header":false},"columns":[{"name":"\u003ca","mean":-0.5E+3,"top":[{"value":"","count":0}` +
				`]}]}],"rdf":null,"period":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := parseInside(text)
		if !ok {
			return
		}
		want := &inspect.Inside{}
		if err := json.Unmarshal(text, want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\n%+v; want\n%+v, %v", text, got, want, err)
		}
	})
}

// BenchmarkInside reads the description of a table with 8 columns, as it is stored.
func BenchmarkInside(b *testing.B) {
	text, err := encodeInside(wideInside(8, 100))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.Run("parser", func(b *testing.B) {
		for b.Loop() {
			if _, ok := parseInside(text); !ok {
				b.Fatal("it was not parsed")
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		for b.Loop() {
			if err := json.Unmarshal(text, &inspect.Inside{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
