package hdt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Magic is the beginning of every HDT file.
const Magic = "$HDT"

// MediaType is the media type of HDT files, Extension the usual ending of their names.
const (
	MediaType = "application/vnd.hdt"
	Extension = ".hdt"
)

// Kinds of control blocks.
const (
	controlGlobal     = 1
	controlHeader     = 2
	controlDictionary = 3
	controlTriples    = 4
)

// Formats that control blocks name.
const (
	formatGlobal     = "<http://purl.org/HDT/hdt#HDTv1>"
	formatHeader     = "ntriples"
	formatDictionary = "<http://purl.org/HDT/hdt#dictionaryFour>"
	formatTriples    = "<http://purl.org/HDT/hdt#triplesBitmap>"
)

var (
	// ErrDamaged is wrapped by errors about damaged or malformed files, such as one with a wrong checksum.
	ErrDamaged = errors.New("not a sound HDT file")
	// ErrUnsupported is wrapped by errors about forms of HDT that this package cannot read.
	ErrUnsupported = errors.New("this form of HDT is not supported")
)

func damaged(format string, args ...any) error {
	return fmt.Errorf("hdt: %w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("hdt: %w: %s", ErrUnsupported, fmt.Sprintf(format, args...))
}

// control is a control block. It introduces the next part of the file.
type control struct {
	kind       byte   // of the part
	format     string // of the part
	properties map[string]string
}

// encode returns the block with its checksum.
func (c control) encode() []byte {
	b := append([]byte(Magic), c.kind)
	b = append(append(b, c.format...), 0)
	keys := make([]string, 0, len(c.properties))
	for k := range c.properties {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		b = append(b, k+"="+c.properties[k]+";"...)
	}
	b = append(b, 0)
	return binary.LittleEndian.AppendUint16(b, crc16(b))
}

// maxControl is the maximum length of a control block in bytes. Usual ones have about 100.
const maxControl = 64 << 10

// control reads a control block, which must have a kind and a format. what names the part for errors.
func (in *input) control(kind byte, format, what string) (control, error) {
	c := control{properties: map[string]string{}}
	head, err := in.bytes(len(Magic) + 1)
	if err != nil {
		return c, err
	}
	if !bytes.HasPrefix(head, []byte(Magic)) {
		return c, damaged("no control block of the %s at byte %d", what, in.at-int64(len(head)))
	}
	all := slices.Clone(head)
	c.kind = head[len(Magic)]
	if c.format, err = in.text(&all); err != nil {
		return c, err
	}
	properties, err := in.text(&all)
	if err != nil {
		return c, err
	}
	sum, err := in.bytes(2)
	if err != nil {
		return c, err
	}
	if binary.LittleEndian.Uint16(sum) != crc16(all) {
		return c, damaged("wrong checksum of the control block of the %s", what)
	}
	for p := range strings.SplitSeq(properties, ";") {
		if k, v, ok := strings.Cut(p, "="); ok {
			c.properties[k] = v
		}
	}
	switch {
	case c.kind != kind:
		return c, damaged("a control block of kind %d where that of the %s belongs", c.kind, what)
	case c.format != format:
		return c, unsupported("the %s is %s, not %s", what, quoted(c.format), format)
	}
	return c, nil
}

// quoted returns a text of a file, shortened and quoted, for an error.
func quoted(s string) string {
	if len(s) > 100 {
		s = s[:100] + "..."
	}
	return strconv.QuoteToASCII(s)
}

// text reads a text that ends with NUL. It appends the bytes, including the NUL, to all.
func (in *input) text(all *[]byte) (string, error) {
	from := len(*all)
	for {
		c, err := in.byte()
		if err != nil {
			return "", err
		}
		*all = append(*all, c)
		if c == 0 {
			return string((*all)[from : len(*all)-1]), nil
		}
		if len(*all) > maxControl {
			return "", damaged("a control block of more than %d bytes", maxControl)
		}
	}
}

// number returns a property of a control block that must be a number.
func (c control) number(name string) (uint64, error) {
	n, err := strconv.ParseUint(c.properties[name], 10, 64)
	if err != nil {
		return 0, damaged("property %s is %s, not a number", name, quoted(c.properties[name]))
	}
	return n, nil
}
