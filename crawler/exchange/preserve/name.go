package preserve

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxName bounds a file name in bytes, so that it fits all file systems, with room for a number before it.
const maxName = 120

// FileName returns a name for a version's bytes that every system can store: without separators, control characters,
// what Windows forbids, and dots or blanks at its ends. It is never empty.
func FileName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), strings.ContainsRune(`<>:"/\|?*%`, r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	name = strings.Trim(name, ". ")
	if len(name) > maxName {
		name = shorten(name)
	}
	if name == "" {
		return "file"
	}
	if isDevice(name) || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "~") {
		return "_" + name
	}
	return name
}

// shorten cuts the end off a name, but not its extension. A hash keeps different names different.
func shorten(name string) string {
	ext := path.Ext(name)
	if len(ext) > 12 {
		ext = ""
	}
	sum := sha256.Sum256([]byte(name))
	cut := maxName - len(ext) - 9
	for cut > 0 && !utf8.RuneStart(name[cut]) {
		cut--
	}
	return strings.TrimRight(name[:cut], ". ") + "~" + hex.EncodeToString(sum[:4]) + ext
}

// isDevice reports whether Windows takes a name for a device.
func isDevice(name string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(name), ".")
	base = strings.TrimRight(base, " ")
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	return len(base) == 4 && (base[:3] == "COM" || base[:3] == "LPT") && base[3] >= '0' && base[3] <= '9'
}

// Address returns the address under which a file of others is archived. id is the name of the package that holds it,
// such as the id of an OCFL object, and p its path there. If id is an address of the web, the file is below it, or at
// it if the package has only that file. Otherwise it is below base, in a folder that is named by the id. Without a
// base, the result begins with Imported: the receiver puts its own base before it.
func Address(base, id, p string, only bool) string {
	escaped := (&url.URL{Path: "/" + p}).EscapedPath()[1:]
	if u, err := url.Parse(id); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "ftp") {
		if only {
			return id
		}
		u.RawQuery, u.Fragment, u.RawFragment = "", "", ""
		return strings.TrimSuffix(u.String(), "/") + "/" + escaped
	}
	if base == "" {
		base = Imported
	}
	return strings.TrimSuffix(base, "/") + "/" + url.PathEscape(id) + "/" + escaped
}

// Imported begins the addresses of files without one, relative to the base of the archive that imports them.
const Imported = "imported/"
