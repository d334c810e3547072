// Package loosejson reads the JSON that portals give: as RFC 8259 where they keep to it, and as far as it makes sense
// where they do not.
//
// Parse reads one document in memory, Reader goes through a stream of any length and hands out one value at a time. Both
// take trailing and doubled commas, control characters and wrong escapes inside of strings, NaN and None, bytes that are
// no UTF-8, and whatever follows a complete document. What breaks off in the middle gives its good beginning and an error:
// an element of an array that is not complete is left out.
//
// A Value is asked for what the caller wants, not for what it is: Text of a number is its digits, List of one object is
// that object, Get of something that is no object is nothing. No input panics; depth and number of values are limited, size
// is the caller's to limit (Parse) or limited per value (Reader).
package loosejson

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

const (
	maxDepth  = 128
	maxValues = 2 << 20 // in one Parse: about 100 MB of memory at the most
)

// Value is a JSON value; the zero Value is null, and what is not there.
type Value struct{ v any }

type number string

type object struct {
	keys   []string
	values []Value
}

// String makes a Value of a string.
func String(s string) Value { return Value{s} }

// IsNull tells whether there is nothing: null, or no value at all.
func (v Value) IsNull() bool { return v.v == nil }

// IsObject tells whether v has members.
func (v Value) IsObject() bool { _, ok := v.v.(*object); return ok }

// IsArray tells whether v has elements.
func (v Value) IsArray() bool { _, ok := v.v.([]Value); return ok }

// IsString tells whether v was written as a string.
func (v Value) IsString() bool { _, ok := v.v.(string); return ok }

// Get follows a path of member names; nothing where it leads nowhere. An array of one is passed through.
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

// First is the first of some members that is neither null nor empty.
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

// Empty tells whether v is null, a blank string, or an array or an object with nothing in it.
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

// Members are those of an object in their order.
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

// List are the elements of an array; of null none; of anything else itself.
func (v Value) List() []Value {
	switch x := v.v.(type) {
	case nil:
		return nil
	case []Value:
		return x
	}
	return []Value{v}
}

// Text is a scalar as it was written, without space around it; that of an array of one, its element's; else "".
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

// Texts are the scalars of an array, or the one that v is; the empty ones are left out.
func (v Value) Texts() []string {
	var texts []string
	for _, e := range v.List() {
		if t := e.Text(); t != "" {
			texts = append(texts, t)
		}
	}
	return texts
}

// Float is a number, or a string that reads as one and is finite.
func (v Value) Float() (float64, bool) {
	f, err := strconv.ParseFloat(v.Text(), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// Int is a whole number between 0 and 2^53; other numbers are cut, all else is 0.
func (v Value) Int() int64 {
	f, ok := v.Float()
	if !ok || f < 0 {
		return 0
	}
	return int64(min(f, 1<<53))
}

// Bool is true for true, 1, "true", "yes".
func (v Value) Bool() bool {
	switch strings.ToLower(v.Text()) {
	case "true", "1", "yes":
		return true
	}
	return false
}

// JSON writes v again, without insignificant space.
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

// Object makes a Value of members.
func Object(names []string, values []Value) Value { return Value{&object{names, values}} }
