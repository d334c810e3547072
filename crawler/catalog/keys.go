package catalog

import (
	"reflect"
	"strings"
)

// KeyHint returns what Hint does for a key of a TOML file that the type of its document does not have: each part of the
// key is looked for in the table that it is in.
func KeyHint(document reflect.Type, key []string) string {
	t := document
	for _, part := range key {
		t = element(t)
		if t.Kind() == reflect.Map {
			t = t.Elem()
			continue
		}
		fields := map[string]reflect.Type{}
		addFields(t, fields)
		next, ok := fields[fold(part)]
		if !ok {
			names := make([]string, 0, len(fields))
			for name := range fields {
				names = append(names, name)
			}
			return Hint(part, names)
		}
		t = next
	}
	return ""
}

// element returns the type behind pointers and lists.
func element(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	return t
}

// addFields adds the keys of a table whose type is a struct; other types have none.
func addFields(t reflect.Type, into map[string]reflect.Type) {
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name == "" && f.Anonymous:
			addFields(element(f.Type), into)
		case name == "":
			into[fold(f.Name)] = f.Type
		default:
			into[fold(name)] = f.Type
		}
	}
}
