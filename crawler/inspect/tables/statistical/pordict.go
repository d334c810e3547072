package statistical

import (
	"math"

	"odarchive/crawler/inspect/csvprofile"
)

// dictionary reads the records before the data.
func (f *porFile) dictionary() error {
	var last *porField
	for {
		tag, err := f.ascii()
		if err != nil {
			return err
		}
		switch tag {
		case '1', '2', '3', '6': // product, author, its extension, weight
			_, err = f.raw()
		case '4', '5': // number of variables, precision
			_, err = f.integer(math.MaxInt32)
		case '7':
			last, err = f.field()
		case '8', '9', 'A', 'B':
			if last == nil {
				return errPor
			}
			err = f.missing(tag, last)
		case 'C':
			if last == nil {
				return errPor
			}
			f.columns[len(f.columns)-1].label, err = f.text()
		case 'D':
			err = f.labels()
		case 'E':
			n := 0
			for n, err = f.integer(100_000); n > 0 && err == nil; n-- {
				_, err = f.raw()
			}
		case 'F':
			return nil
		default:
			return errPor
		}
		if err != nil {
			return err
		}
	}
}

// field reads a variable.
func (f *porFile) field() (*porField, error) {
	width, err := f.integer(porText)
	if err != nil {
		return nil, err
	}
	name, err := f.text()
	if err != nil {
		return nil, err
	}
	v := porField{text: width > 0}
	for i := range 6 { // type, width and decimals of two formats
		n, err := f.integer(math.MaxInt32)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			v.format = byte(n)
		}
	}
	if len(f.fields) >= maxVariables {
		return nil, errPor
	}
	f.index[name] = len(f.fields)
	f.fields, f.columns = append(f.fields, v), append(f.columns, variable{name: name})
	return &f.fields[len(f.fields)-1], nil
}

// missing reads a value, or one or both ends of a range of values, that mean no value.
func (f *porFile) missing(tag byte, v *porField) error {
	if tag == '8' && v.text {
		text, err := f.text()
		v.words = append(v.words, text)
		return err
	}
	a, ok, err := f.number()
	if !ok || err != nil || len(v.numbers) > 3 {
		return errPor
	}
	switch tag {
	case '8':
		v.numbers = append(v.numbers, a)
	case '9':
		v.ranged, v.low, v.high = true, math.Inf(-1), a
	case 'A':
		v.ranged, v.low, v.high = true, a, math.Inf(1)
	case 'B':
		v.ranged, v.low = true, a
		if v.high, ok, err = f.number(); !ok || err != nil {
			return errPor
		}
	}
	return nil
}

// labels reads what the codes of some variables stand for.
func (f *porFile) labels() error {
	n, err := f.integer(maxVariables)
	if err != nil {
		return err
	}
	var of []int
	for range n {
		name, err := f.text()
		if err != nil {
			return err
		}
		if i, ok := f.index[name]; ok {
			of = append(of, i)
		}
	}
	if n, err = f.integer(1_000_000); err != nil {
		return err
	}
	var set []csvprofile.Label
	for range n {
		plain := porField{}
		if len(of) > 0 {
			plain = porField{text: f.fields[of[0]].text, format: f.fields[of[0]].format}
		}
		value, err := f.cell(&plain)
		if err != nil {
			return err
		}
		label, err := f.text()
		if err != nil {
			return err
		}
		if len(set) < maxLabels {
			set = append(set, labelled(value, label))
		}
	}
	for _, i := range of {
		f.columns[i].values = set
	}
	return nil
}
