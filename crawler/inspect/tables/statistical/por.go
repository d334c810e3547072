package statistical

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"math/big"
	"strings"

	"odarchive/crawler/inspect/csvprofile"
	"odarchive/crawler/inspect/tables/cursor"
	"odarchive/crawler/inspect/tables/source"
)

// porFile is a portable file of SPSS (PSPP's developers' guide, "Portable File Format"): text in lines of 80 characters,
// with numbers to the base 30.
type porFile struct {
	src     *cursor.Reader
	column  int       // in the line
	pad     int       // blanks that still fill up a short line
	ahead   byte      // a character that has been read too early
	held    bool      // there is one
	chars   [256]byte // characters of the file as ASCII
	foreign bool      // they differ
	texts   texts
	columns []variable
	fields  []porField
	index   map[string]int
	row     int64
	cells   []string
}

// porField is a variable.
type porField struct {
	text    bool
	format  byte
	numbers []float64 // that mean no value
	words   []string  // texts that do
	low     float64
	high    float64
	ranged  bool
}

// Maximum lengths in a portable file: of a text, and of a number in digits.
const (
	porText   = 40_000
	porDigits = 200
)

// errPor is what reading characters of a damaged portable file returns.
var errPor = errors.New("it is damaged")

// por reads a portable file.
func por(ctx context.Context, in source.Input, o source.Options) ([]*csvprofile.Profile, error) {
	f := &porFile{src: open(in, binary.LittleEndian), index: map[string]int{}}
	if err := f.header(); err != nil {
		return nil, malformed("the header of a portable file: %v", err)
	}
	if err := f.dictionary(); err != nil {
		return nil, malformed("the dictionary of a portable file: %v", err)
	}
	return one(profiled(ctx, "", f.columns, f.next, o.Reading(0)))
}

// char returns the next character. Line ends do not count; short lines are filled up with blanks.
func (f *porFile) char() (byte, error) {
	if f.held {
		f.held = false
		return f.ahead, nil
	}
	for f.pad == 0 {
		c := f.src.U8()
		if err := f.src.Err(); err != nil {
			return 0, err
		}
		switch {
		case c == '\r' || c == '\n':
			if c == '\n' && f.column > 0 && f.column < 80 {
				f.pad = 80 - f.column
			}
			if c == '\n' {
				f.column = 0
			}
			continue
		}
		f.column++
		if f.column > 80 { // lines may be longer where they are not broken at all
			f.column = 1
		}
		return c, nil
	}
	f.pad--
	return f.blank(), nil
}

// blank returns the file's character for a blank.
func (f *porFile) blank() byte {
	if f.foreign {
		for c, ascii := range f.chars {
			if ascii == ' ' {
				return byte(c)
			}
		}
	}
	return ' '
}

// ascii returns the next character in ASCII.
func (f *porFile) ascii() (byte, error) {
	c, err := f.char()
	return f.chars[c], err
}

// back makes char return c again.
func (f *porFile) back(c byte) { f.ahead, f.held = c, true }

// take reads the next character if it is c.
func (f *porFile) take(c byte) bool {
	b, err := f.char()
	if err != nil {
		return false
	}
	if f.chars[b] == c {
		return true
	}
	f.back(b)
	return false
}

// porSet are the characters that the file's own table of characters lists from place 64 on.
const porSet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz .<(+|&[]!$*);^-/|,%_>?`:#@'=\""

// header reads what stands before the dictionary.
func (f *porFile) header() error {
	var head [464]byte
	for i := range head {
		c, err := f.char()
		if err != nil {
			return err
		}
		head[i] = c
	}
	for i := range f.chars {
		f.chars[i] = byte(i)
	}
	table := head[200:456]
	if f.foreign = string(table[64:126]) != porSet[:62]; f.foreign {
		for i := len(porSet) - 1; i >= 0; i-- {
			f.chars[table[64+i]] = porSet[i]
		}
	}
	tag := make([]byte, 8)
	for i, c := range head[456:] {
		tag[i] = f.chars[c]
	}
	if string(tag) != "SPSSPORT" {
		return errPor
	}
	if _, err := f.ascii(); err != nil { // version
		return err
	}
	for range 2 { // date and time
		if _, err := f.raw(); err != nil {
			return err
		}
	}
	f.texts = textsIn("", nil)
	return nil
}

// raw reads a text after its length.
func (f *porFile) raw() ([]byte, error) {
	n, ok, err := f.number()
	if err != nil {
		return nil, err
	}
	if !ok || n < 0 || n > porText || n != math.Trunc(n) {
		return nil, errPor
	}
	b := make([]byte, 0, int(n))
	for range int(n) {
		c, err := f.char()
		if err != nil {
			return nil, err
		}
		b = append(b, f.chars[c])
	}
	return b, nil
}

// text reads a text and decodes it.
func (f *porFile) text() (string, error) {
	b, err := f.raw()
	return f.texts.text(b), err
}

// integer reads a whole number from 0 to most.
func (f *porFile) integer(most float64) (int, error) {
	n, ok, err := f.number()
	if err == nil && (!ok || n < 0 || n > most || n != math.Trunc(n)) {
		err = errPor
	}
	return int(n), err
}

// number reads a number to the base 30, which ends with a slash; false if it is missing.
func (f *porFile) number() (float64, bool, error) {
	c, err := f.ascii()
	for err == nil && c == ' ' {
		c, err = f.ascii()
	}
	if err != nil {
		return 0, false, err
	}
	if c == '*' {
		_, err = f.ascii() // a point follows
		return 0, false, err
	}
	var digits []byte
	negative, point, exponent := false, -1, 0
	if c == '-' {
		negative = true
		c, err = f.ascii()
	}
	for ; err == nil && c != '/'; c, err = f.ascii() {
		switch {
		case c == '.' && point < 0:
			point = len(digits)
		case porDigit(c) >= 0 && len(digits) < porDigits:
			digits = append(digits, c)
		case (c == '+' || c == '-') && len(digits) > 0:
			sign := c
			for c, err = f.ascii(); err == nil && c != '/'; c, err = f.ascii() {
				if porDigit(c) < 0 || exponent > 1000 {
					return 0, false, errPor
				}
				exponent = exponent*30 + porDigit(c)
			}
			if sign == '-' {
				exponent = -exponent
			}
			f.back(byte(max(0, bytes.IndexByte(f.chars[:], '/'))))
		default:
			return 0, false, errPor
		}
	}
	if err != nil || len(digits) == 0 {
		return 0, false, errors.Join(err, errPor)
	}
	if point >= 0 {
		exponent -= len(digits) - point
	}
	v := fromBase30(digits, exponent)
	if negative {
		v = -v
	}
	return v, true, nil
}

// porDigit returns the value of a digit, -1 if c is none.
func porDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'T':
		return int(c-'A') + 10
	}
	return -1
}

// fromBase30 returns the number nearest to digits times 30 to the power of exponent.
func fromBase30(digits []byte, exponent int) float64 {
	if len(digits) <= 10 && exponent == 0 {
		v := 0.0
		for _, d := range digits {
			v = v*30 + float64(porDigit(d))
		}
		return v
	}
	n, ok := new(big.Int).SetString(strings.ToLower(string(digits)), 30)
	if !ok || exponent < -1000 || exponent > 1000 {
		return math.NaN()
	}
	power := new(big.Int).Exp(big.NewInt(30), big.NewInt(int64(max(exponent, -exponent))), nil)
	v := new(big.Float).SetPrec(200).SetInt(n)
	if exponent < 0 {
		v.Quo(v, new(big.Float).SetPrec(200).SetInt(power))
	} else {
		v.Mul(v, new(big.Float).SetPrec(200).SetInt(power))
	}
	out, _ := v.Float64()
	return out
}

// next returns the next row.
func (f *porFile) next() ([]string, error) {
	if len(f.fields) == 0 || f.take('Z') {
		return nil, io.EOF
	}
	f.cells = f.cells[:0]
	for i := range f.fields {
		cell, err := f.cell(&f.fields[i])
		if err != nil {
			return nil, malformed("the file ends or is damaged in row %d", f.row+1)
		}
		f.cells = append(f.cells, cell)
	}
	f.row++
	return f.cells, nil
}

// cell reads the value of a variable, "" if it is missing.
func (f *porFile) cell(v *porField) (string, error) {
	if v.text {
		text, err := f.text()
		for _, m := range v.words {
			if m == text {
				return "", err
			}
		}
		return text, err
	}
	n, ok, err := f.number()
	if !ok || err != nil || v.ranged && n >= v.low && n <= v.high {
		return "", err
	}
	for _, m := range v.numbers {
		if m == n {
			return "", nil
		}
	}
	return spssNumber(n, v.format), nil
}
