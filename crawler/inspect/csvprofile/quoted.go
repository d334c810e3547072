package csvprofile

import "bytes"

// quotation reads a cell whose opening quote is at p. It returns the text, the offset of what ends the cell and the
// number of line ends inside. ok is false if the quotation does not close within buf.
func (r *Rows) quotation(buf []byte, p int, atEnd bool) (cell []byte, end, lines int, ok bool) {
	begin := p + 1
	p = begin
	mark := -1 // start of the text in scratch once it is copied
	for {
		i := r.indexQuote(buf[p:])
		if i < 0 {
			return nil, 0, 0, false
		}
		if mark >= 0 {
			r.scratch = append(r.scratch, buf[p:p+i]...)
		}
		p += i
		if buf[p] != r.quote { // an escape character
			if p+1 >= len(buf) {
				return nil, 0, 0, false
			}
			if mark < 0 {
				mark = len(r.scratch)
				r.scratch = append(r.scratch, buf[begin:p]...)
			}
			r.scratch = append(r.scratch, buf[p+1])
			p += 2
			continue
		}
		if p+1 >= len(buf) {
			if !atEnd {
				return nil, 0, 0, false
			}
		} else if buf[p+1] == r.quote {
			if mark < 0 {
				mark = len(r.scratch)
				r.scratch = append(r.scratch, buf[begin:p]...)
			}
			r.scratch = append(r.scratch, r.quote)
			p += 2
			continue
		}
		break
	}
	close := p
	p++
	end = r.scan(buf, p)
	if r.esc != 0 {
		for end < len(buf) && buf[end] == r.esc {
			end = r.scan(buf, min(end+2, len(buf)))
		}
	}
	if mark < 0 && end == p {
		cell = buf[begin:close]
	} else {
		if mark < 0 {
			mark = len(r.scratch)
			r.scratch = append(r.scratch, buf[begin:close]...)
		}
		r.scratch = append(r.scratch, buf[p:end]...)
		cell = r.scratch[mark:]
	}
	lines = lineEnds(buf[begin:close])
	return cell, end, lines, true
}

// indexQuote returns the offset of the next quote or escape character, or -1.
func (r *Rows) indexQuote(b []byte) int {
	if r.esc == 0 {
		return bytes.IndexByte(b, r.quote)
	}
	for i, c := range b {
		if c == r.quote || c == r.esc {
			return i
		}
	}
	return -1
}

// escaped reads an unquoted cell from begin whose first escape character is at p.
func (r *Rows) escaped(buf []byte, begin, p int) (cell []byte, end int) {
	mark := len(r.scratch)
	r.scratch = append(r.scratch, buf[begin:p]...)
	for p < len(buf) && buf[p] == r.esc {
		if p+1 >= len(buf) {
			return r.scratch[mark:], len(buf)
		}
		r.scratch = append(r.scratch, buf[p+1])
		q := r.scan(buf, p+2)
		r.scratch = append(r.scratch, buf[p+2:q]...)
		p = q
	}
	return r.scratch[mark:], p
}

func lineEnds(b []byte) int {
	n := bytes.Count(b, []byte{'\n'})
	if n == 0 && bytes.IndexByte(b, '\r') >= 0 {
		n = bytes.Count(b, []byte{'\r'})
	}
	return n
}
