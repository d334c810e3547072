// Reads JSON as portals write it: strictly by RFC 8259 if they follow it, and as far as it makes
// sense if they do not.
//
// Parse reads a document in memory; JSONReader reads a stream of any length, one value at a time. Both accept trailing
// and doubled commas, control characters and wrong escapes in strings, NaN and None, invalid UTF-8, and anything after
// a complete document. For a document that breaks off, they return the complete part with an error; an incomplete array
// element is omitted.
//
// Methods of Value convert to what the caller needs: Text of a number is its digits, List of an object is a list of
// that object, Get of anything but an object is null. No input panics. Depth and number of values are limited.
// JSONReader limits the size of each value; callers of Parse limit the size of the text.

package loose

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

const (
	maxDepth  = 128
	maxValues = 2 << 20 // per Parse: about 100 MB of memory
)

// Value is a JSON value. The zero Value is null, which also stands for missing values.
type Value struct{ v any }

type number string

type object struct {
	keys   []string
	values []Value
}

// String returns a string as a Value.
func String(s string) Value { return Value{s} }

// IsNull reports whether v is null or missing.
func (v Value) IsNull() bool { return v.v == nil }

// IsObject reports whether v is an object.
func (v Value) IsObject() bool { _, ok := v.v.(*object); return ok }

// IsArray reports whether v is an array.
func (v Value) IsArray() bool { _, ok := v.v.([]Value); return ok }

// IsString reports whether v is a string.
func (v Value) IsString() bool { _, ok := v.v.(string); return ok }

// Get follows a path of member names, also through arrays of one element. It returns null if there is no such path.
func (v Value) Get(path ...string) Value {
	for _, name := range path {
		o := v.object()
		if o == nil {
			return Value{}
		}
		v = Value{}
		for i := len(o.keys) - 1; i >= 0; i-- {
			if o.keys[i] == name {
				v = o.values[i]
				break
			}
		}
	}
	return v
}

func (v Value) object() *object {
	if list, ok := v.v.([]Value); ok && len(list) == 1 {
		v = list[0]
	}
	o, _ := v.v.(*object)
	return o
}

// First returns the first of some members that is not Empty.
func (v Value) First(names ...string) Value {
	for _, name := range names {
		if m := v.Get(name); !m.Empty() {
			return m
		}
	}
	return Value{}
}

// FirstOf returns the first of some values that is not Empty.
func FirstOf(values ...Value) Value {
	for _, v := range values {
		if !v.Empty() {
			return v
		}
	}
	return Value{}
}

// Empty reports whether v is null, a blank string, an empty array or an empty object.
func (v Value) Empty() bool {
	switch x := v.v.(type) {
	case string:
		return strings.TrimSpace(x) == ""
	case []Value:
		return len(x) == 0
	case *object:
		return len(x.keys) == 0
	}
	return v.v == nil
}

// Members returns the members of an object in their order.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		o := v.object()
		if o == nil {
			return
		}
		for i, k := range o.keys {
			if !yield(k, o.values[i]) {
				return
			}
		}
	}
}

// List returns the elements of an array, nothing for null, and a list of v for other values.
func (v Value) List() []Value {
	switch x := v.v.(type) {
	case nil:
		return nil
	case []Value:
		return x
	}
	return []Value{v}
}

// Text returns a scalar as it is written, trimmed, also if it is the only element of an array. It returns "" for other
// values.
func (v Value) Text() string {
	switch x := v.v.(type) {
	case string:
		return strings.TrimSpace(x)
	case number:
		return string(x)
	case bool:
		return strconv.FormatBool(x)
	case []Value:
		if len(x) == 1 {
			return x[0].Text()
		}
	}
	return ""
}

// Texts returns the Text of each element of List, without empty ones.
func (v Value) Texts() []string {
	var texts []string
	for _, e := range v.List() {
		if t := e.Text(); t != "" {
			texts = append(texts, t)
		}
	}
	return texts
}

// Float returns a number, or a string that is one, false if it is not finite.
func (v Value) Float() (float64, bool) {
	f, err := strconv.ParseFloat(v.Text(), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// Int returns Float as an integer between 0 and 2^53, rounded down, 0 if it is not a number.
func (v Value) Int() int64 {
	f, ok := v.Float()
	if !ok || f < 0 {
		return 0
	}
	return int64(min(f, 1<<53))
}

// Bool reports whether v is true, 1, "true" or "yes".
func (v Value) Bool() bool {
	switch strings.ToLower(v.Text()) {
	case "true", "1", "yes":
		return true
	}
	return false
}

// JSON returns v as JSON, without insignificant space.
func (v Value) JSON() string {
	var b strings.Builder
	v.write(&b)
	return b.String()
}

func (v Value) write(b *strings.Builder) {
	switch x := v.v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(x))
	case number:
		b.WriteString(string(x))
	case string:
		quote(b, x)
	case []Value:
		for i, e := range x {
			b.WriteByte("[,"[min(i, 1)])
			e.write(b)
		}
		if len(x) == 0 {
			b.WriteByte('[')
		}
		b.WriteByte(']')
	case *object:
		b.WriteByte('{')
		for i, k := range x.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			quote(b, k)
			b.WriteByte(':')
			x.values[i].write(b)
		}
		b.WriteByte('}')
	}
}

func quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ':
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}

// Object returns an object with these members.
func Object(names []string, values []Value) Value { return Value{&object{names, values}} }

// Array returns an array of these elements.
func Array(list []Value) Value { return Value{list} }
