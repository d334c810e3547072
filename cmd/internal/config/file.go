package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"odarchive/crawler/catalog"

	"github.com/BurntSushi/toml"
	"github.com/spf13/pflag"
)

// maxFile limits a settings file, in bytes. One with ten thousand hosts has one million.
const maxFile = 64 << 20

// File is a settings file that was read. It is read once, so that what comes out of a pipe is taken whole: the file of
// a shell's <(...) is empty when it is opened again.
type File struct{ name, text string }

// ReadFile reads a settings file. It returns nil if name is "".
func ReadFile(name string) (*File, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("config file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("config file: %w", err)
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("config file %s: it has more than %d bytes", name, maxFile)
	}
	return &File{name, string(text)}, nil
}

// errorf returns an error that names the file.
func (f *File) errorf(format string, args ...any) error {
	return fmt.Errorf("config file %s: %w", f.name, fmt.Errorf(format, args...))
}

// decode reads what v has fields for.
func (f *File) decode(v any) (toml.MetaData, error) {
	meta, err := toml.Decode(f.text, v)
	if err == nil {
		return meta, nil
	}
	bad, ok := errors.AsType[toml.ParseError](err)
	if ok && strings.HasPrefix(bad.Message, "Key '"+tokenTable+"' ") && strings.Contains(f.text, "[["+tokenTable+"]]") {
		return meta, f.errorf(
			"line %d: it has both token = and [[token]] tables, which TOML does not allow; put that token into a file of its own, and "+
				"name it with token-file =", bad.Position.Line)
	}
	return meta, f.errorf("%w", err)
}

// set sets a flag to a value of the file. A flag that takes a list is set to each of a list.
func (f *File) set(flags *pflag.FlagSet, name string, value any) error {
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	} else if _, takesList := flags.Lookup(name).Value.(pflag.SliceValue); !takesList {
		return f.errorf("%s: the setting takes one value, not a list", name)
	}
	for _, v := range values {
		if err := flags.Set(name, fmt.Sprint(v)); err != nil {
			return f.errorf("%s: %w", name, err)
		}
	}
	return nil
}

// check returns an error if a table of this name has a setting that its type in the document does not have.
func (f *File) check(table string, document reflect.Type, undecoded []toml.Key) error {
	for _, key := range undecoded {
		if len(key) < 2 || key[0] != table {
			continue
		}
		hint := catalog.KeyHint(document, key)
		if hint == "" { // as when settings were appended to a file that ends with a table
			hint = "; what stands below a table belongs to it, so settings of the program stand above all tables"
		}
		return f.errorf("a [[%s]] table has no setting %q%s", table, key[1:].String(), hint)
	}
	return nil
}
