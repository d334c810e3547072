package loose

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWhatPortalsWriteIsReadAsTheyMeantIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ about, in, want string }{
		{"plain", `{"a":[1,-2.5e3,"x",true,null,{}]}`, `{"a":[1,-2.5e3,"x",true,null,{}]}`},
		{"a mark, and commas too many", "\xef\xbb\xbf[1,,2,]", `[1,2]`},
		{"a trailing comma in an object", `{"a":1,}`, `{"a":1}`},
		{"raw line ends in a string", "{\"a\":\"x\ny\"}", `{"a":"x\u000ay"}`},
		{"wrong escapes", `["\'","\x41","\u12"]`, `["'","x41","u12"]`},
		{"surrogates", `["\ud83d\ude00","\ud83d","\ud83dx"]`, `["😀","�","�x"]`},
		{"bytes that are no UTF-8", "[\"a\xffb\"]", `["a�b"]`},
		{"Python's words", `[None, True, False, NaN]`, `[null,true,false,null]`},
		{"numbers as they were written", `[007,1.50,12345678901234567890]`, `[007,1.50,12345678901234567890]`},
		{"something after the end", `{"a":1}<!-- 0.2 s -->`, `{"a":1}`},
	} {
		v, err := Parse([]byte(c.in))
		if err != nil || v.JSON() != c.want {
			t.Errorf("%s: %s reads as %s, %v; want %s", c.about, c.in, v.JSON(), err, c.want)
		}
	}
}

func TestOfWhatBreaksOffTheCompleteElementsStay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want, why string }{
		{`{"result":{"count":9,"results":[{"id":"a"},{"id":"b"},{"id":"c","ti`, `{"result":{"count":9,"results":[{"id":"a"},{"id":"b"}]}}`,
			"breaks off after 67 bytes"},
		{`[1, 2`, `[1,2]`, "breaks off"},
		{``, `null`, "breaks off after 0 bytes"},
		{`<html>`, `null`, `byte 0: "<html>" is no value`},
		{`{"a" 1}`, `{}`, "where a colon should be"},
		{`{a: 1}`, `{}`, "where a member's name should be"},
		{strings.Repeat("[", 500), strings.Repeat("[", 129) + strings.Repeat("]", 129), "nested too deeply"},
	} {
		v, err := Parse([]byte(c.in))
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%.40s: error %v, want %s", c.in, err, c.why)
		}
		if c.why != "nested too deeply" && v.JSON() != c.want {
			t.Errorf("%.40s: %s, want %s", c.in, v.JSON(), c.want)
		}
	}
}

func TestAValueIsAskedForWhatIsWanted(t *testing.T) {
	t.Parallel()
	v, err := Parse([]byte(`{"n":"12","list":[" a ",3,"",null,{"x":1}],"one":[{"x":{"y":"deep"}}],"yes":"True","big":1e300,"neg":-4}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		about     string
		got, want any
	}{
		{"a number in a string", v.Get("n").Int(), int64(12)},
		{"texts of a mixed list", v.Get("list").Texts(), []string{"a", "3"}},
		{"through an array of one", v.Get("one", "x", "y").Text(), "deep"},
		{"a path that leads nowhere", v.Get("n", "x", "y").IsNull(), true},
		{"a word for true", v.Get("yes").Bool(), true},
		{"a number out of range", v.Get("big").Int(), int64(1 << 53)},
		{"a negative number", v.Get("neg").Int(), int64(0)},
		{"a list of what is none", len(v.Get("n").List()), 1},
		{"a list of nothing", len(v.Get("none").List()), 0},
		{"the first that is there", v.First("x", "n", "list").Text(), "12"},
	} {
		if !equal(c.got, c.want) {
			t.Errorf("%s: got %v, want %v", c.about, c.got, c.want)
		}
	}
}

func equal(a, b any) bool {
	if x, ok := a.([]string); ok {
		return slices.Equal(x, b.([]string))
	}
	return a == b
}

func TestAStreamGoesOnBehindAnElementThatIsBad(t *testing.T) {
	t.Parallel()
	in := `{"title":"T","dataset":[{"a":1},{"b" 2},{"long":"` + strings.Repeat("x", 100) + `"},{"c":3}],"after":{"d":[4]}}`
	r := NewJSONReader(strings.NewReader(in), 80)
	var got []string
	err := r.Object(func(name string) error {
		if name != "dataset" {
			v, err := r.Value()
			got = append(got, name+"="+v.JSON())
			return err
		}
		return r.Array(func() error {
			v, err := r.Value()
			var bad *Bad
			if errors.As(err, &bad) {
				got = append(got, bad.Why)
				return nil
			}
			got = append(got, v.JSON())
			return err
		})
	})
	want := []string{`title="T"`, `{"a":1}`, `the value at byte 32 is no JSON at byte 5: '2' where a colon should be`,
		`the value at byte 40 is longer than 80 bytes`, `{"c":3}`, `after={"d":[4]}`}
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v, got\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAStreamThatEndsInTheMiddleSaysWhere(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`[{"a":1},{"b":`, `[{"a":1},`, `[{"a":1}`} {
		r := NewJSONReader(strings.NewReader(in), 0)
		n := 0
		err := r.Array(func() error {
			_, err := r.Value()
			if err == nil {
				n++
			}
			return err
		})
		var cut *Error
		if !errors.As(err, &cut) || !cut.Cut || n != 1 || cut.Offset != int64(len(in)) {
			t.Errorf("%s: %d elements, %v", in, n, err)
		}
	}
}

// Whatever encoding/json accepts is read as the same value.
func TestRealPortalFilesReadAsTheStandardLibraryReadsThem(t *testing.T) {
	t.Parallel()
	root := os.Getenv("ODARCHIVE_SHARED")
	if root == "" {
		t.Skip("ODARCHIVE_SHARED is not set: no real portal files here")
	}
	read := 0
	err := filepath.WalkDir(filepath.Join(root, "data", "portals"), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.Ext(name), ".json") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		v, err := Parse(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var want any
		if json.Unmarshal(text, &want) == nil && !same(v, want) {
			t.Errorf("%s reads differently", name)
		}
		read++
		return nil
	})
	if err != nil || read < 20 {
		t.Fatalf("%d files, %v", read, err)
	}
}

// same reports whether v equals want, which has no duplicate names.
func same(v Value, want any) bool {
	var got any
	if json.Unmarshal([]byte(v.JSON()), &got) != nil {
		return false
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	return string(a) == string(b)
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5e3,"x\n\u00e9\ud83d\ude00",true,null,{}]}`, `{"a":[{"b":1},{"c`, "[1,,2,]", "\xef\xbb\xbf{}",
		`[NaN`, `"\`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := Parse(text)
		again, err2 := Parse([]byte(v.JSON()))
		if err2 != nil || again.JSON() != v.JSON() {
			t.Fatalf("%q reads as %s, and that as %s, %v", text, v.JSON(), again.JSON(), err2)
		}
		var want any
		if json.Unmarshal(text, &want) == nil && err != nil {
			t.Fatalf("%q is JSON, but %v", text, err)
		}
		r := NewJSONReader(strings.NewReader(string(text)), 1000)
		steps := 0
		var walk func() error
		walk = func() error {
			steps++
			switch b, err := r.Peek(); {
			case err != nil:
				return err
			case b == '{':
				return r.Object(func(string) error { return walk() })
			case b == '[':
				return r.Array(walk)
			default:
				_, err := r.Value()
				var bad *Bad
				if errors.As(err, &bad) {
					return nil
				}
				return err
			}
		}
		walk() // must end, with or without an error
		if steps > len(text)+1 {
			t.Fatalf("%d steps through %d bytes", steps, len(text))
		}
	})
}
