package ui

import "bytes"

// withoutControls returns a page without the characters that override, embed or isolate the direction of text (U+202A
// to U+202E and U+2066 to U+2069): a title of strangers that has one would turn around what the page itself says behind
// it, or show the end of a file name as its beginning. HTML has elements and style sheets for that, and the directions
// of letters need neither. Tags keep them, since a value that a form sends back must be that which came, and so do the
// elements whose text is edited or run.
func withoutControls(page []byte) []byte {
	if !bytes.Contains(page, []byte("\u202a")[:2]) && !bytes.Contains(page, []byte("\u2066")[:2]) {
		return page
	}
	out := make([]byte, 0, len(page))
	for len(page) > 0 {
		at := bytes.IndexByte(page, '<')
		if at < 0 {
			at = len(page)
		}
		out = appendVisible(out, page[:at])
		page = page[at:]
		end := endOfTag(page)
		out = append(out, page[:end]...)
		page = page[end:]
	}
	return out
}

// appendVisible appends text without the controls.
func appendVisible(out, text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if isControl(text[i:]) {
			i += len("\u202a") - 1
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// isControl reports whether text begins with one of the controls, in UTF-8.
func isControl(text []byte) bool {
	if len(text) < 3 || text[0] != 0xe2 {
		return false
	}
	return text[1] == 0x80 && text[2] >= 0xaa && text[2] <= 0xae || text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9
}

// endOfTag returns the length of the tag that page begins with, with the text behind it if that is edited or run.
func endOfTag(page []byte) int {
	end := bytes.IndexByte(page, '>')
	if end < 0 {
		return len(page)
	}
	end++
	for _, name := range []string{"textarea", "script", "style"} {
		if !bytes.HasPrefix(page, []byte("<"+name)) {
			continue
		}
		if closing := bytes.Index(page[end:], []byte("</"+name)); closing >= 0 {
			return end + closing
		}
		return len(page)
	}
	return end
}
