package charset

import "golang.org/x/text/encoding/charmap"

// SingleByte reports whether every byte in an encoding is one character, so that a place in the text is the same in the
// file.
func SingleByte(name string) bool {
	_, ok := lookup(canonical(name)).(*charmap.Charmap)
	return ok && !isUTF8Name(canonical(name))
}

func isUTF8Name(n string) bool { return n == "utf-8" || n == "ascii" || n == "" }
