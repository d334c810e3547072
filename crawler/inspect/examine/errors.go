package examine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"odarchive/crawler/inspect"
	"odarchive/crawler/inspect/apart"
	"odarchive/crawler/inspect/diff"
	"odarchive/crawler/inspect/unpack"
	"odarchive/crawler/queue/supervise"
)

// The errors that callers tell apart, by the names under which they leave a child.
var codes = map[string]error{
	"not found": unpack.ErrNotFound, "bomb": unpack.ErrBomb, "too many": unpack.ErrTooMany, "encrypted": unpack.ErrEncrypted,
	"format":    unpack.ErrFormat,
	"too large": inspect.ErrTooLarge, "other tables": inspect.ErrOtherTables, "late": context.DeadlineExceeded, "ended": context.Canceled,
}

const keyCode = "key" // a *diff.KeyError, which is the Failure's Data

// failing is an error with a code.
type failing struct {
	error
	code string
	data []byte
}

func (f failing) Failure() apart.Failure { return apart.Failure{Code: f.code, Data: f.data} }

// coded gives an error its code, for apart.Failing.
func coded(err error) error {
	if key, ok := errors.AsType[*diff.KeyError](err); ok {
		data, _ := json.Marshal(key)
		return failing{key, keyCode, data}
	}
	for code, known := range codes {
		if errors.Is(err, known) {
			return failing{err, code, nil}
		}
	}
	return err
}

// distant is an error that was met in a child.
type distant struct {
	text string
	is   error
}

func (d *distant) Error() string { return d.text }
func (d *distant) Unwrap() error { return d.is }

// uncoded returns the error that a Failure stands for.
func uncoded(f *apart.Failure) error {
	if f.Panic {
		return &supervise.Panic{Value: strings.TrimPrefix(f.Text, "a fault of this program: panic: "), Stack: f.Stack}
	}
	if f.Code == keyCode {
		key := &diff.KeyError{}
		if err := json.Unmarshal(f.Data, key); err != nil {
			return nonsense(err)
		}
		return key
	}
	return &distant{f.Text, codes[f.Code]}
}
