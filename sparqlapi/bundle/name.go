package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of names: what unpacks everywhere.
const (
	maxSegment = 96  // bytes of one part of a name
	maxDepth   = 12  // parts; longer paths are folded into one
	maxName    = 230 // bytes
)

// Name of version n of a resource: host/path-of-url/N-filename.
func Name(resource string, n int, fileName string) string {
	host, dir := "unknown", ""
	if u, err := url.Parse(resource); err == nil && u.Host != "" {
		host, dir = u.Host, u.Path
	}
	parts := []string{host}
	for part := range strings.SplitSeq(dir, "/") {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if fileName == "" {
		fileName = parts[len(parts)-1]
	}
	// A file's name may hold no path; one that comes with one is cut to its last part.
	fileName = fileName[strings.LastIndexAny(fileName, `/\`)+1:]
	return safe(append(parts, strconv.Itoa(n)+"-"+fileName))
}

// safe makes a name of parts that can be unpacked on every system, into the folder and not beside it.
func safe(parts []string) string {
	if len(parts) > maxDepth {
		middle := strings.Join(parts[maxDepth/2:len(parts)-maxDepth/2], "/")
		parts = append(append(append([]string(nil), parts[:maxDepth/2]...), shortHash(middle)), parts[len(parts)-maxDepth/2:]...)
	}
	out := make([]string, 0, len(parts))
	for _, p := range parts {
		out = append(out, safePart(p))
	}
	if len(out) == 1 || isReserved(out[0]) {
		out[0] = "_" + out[0]
	}
	for i := 1; length(out) > maxName && i < len(out)-1; i++ { // shorten folders, host and file name last
		if h := shortHash(out[i]); len(h) < len(out[i]) {
			out[i] = h
		}
	}
	return strings.Join(out, "/")
}

func length(parts []string) (n int) {
	for _, p := range parts {
		n += len(p) + 1
	}
	return n
}

// isReserved are the names of the entries that Plan makes itself.
func isReserved(s string) bool {
	return strings.EqualFold(s, manifestName) || strings.EqualFold(s, metadataName)
}

// safePart replaces what some system does not take in a file name: separators, control and format characters, the
// characters Windows forbids, dots and spaces at an end, its device names; and what is no UTF-8.
func safePart(p string) string {
	p = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError, unicode.IsControl(r), unicode.Is(unicode.Cf, r), strings.ContainsRune(`<>:"/\|?*`, r):
			return '_'
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, validText(p))
	p = strings.Trim(p, ". ")
	if p == "" {
		return "_"
	}
	if strings.HasPrefix(p, "-") || strings.HasPrefix(p, "~") || isDevice(p) {
		p = "_" + p
	}
	if len(p) > maxSegment {
		p = shorten(p)
	}
	return p
}

// shorten cuts the middle out of a name and leaves beginning and extension; a hash keeps different names different.
func shorten(p string) string {
	ext := path.Ext(p)
	if len(ext) > 12 {
		ext = ""
	}
	cut := maxSegment - len(ext) - 9
	for cut > 0 && !utf8.RuneStart(p[cut]) {
		cut--
	}
	return strings.TrimRight(p[:cut], ". ") + "~" + shortHash(p) + ext
}

func shortHash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}

// isDevice tells names that Windows takes for devices, with any extension.
func isDevice(p string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(p), ".")
	switch base = strings.TrimRight(base, " "); base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	if len(base) < 4 || (base[:3] != "COM" && base[:3] != "LPT") {
		return false
	}
	n := base[3:]
	return len(n) == 1 && n >= "0" && n <= "9" || n == "¹" || n == "²" || n == "³"
}

// nameAll makes the names of the entries safe and different from each other, also for file systems that do not tell
// upper from lower case, and from the folders in other names.
func nameAll(entries []Entry) {
	folders := make(map[string]struct{})
	for i := range entries {
		e := &entries[i]
		if e.Name == "" {
			e.Name = Name(e.URL, 0, "")
		} else {
			e.Name = safe(strings.Split(e.Name, "/"))
		}
		for dir := path.Dir(fold(e.Name)); dir != "."; dir = path.Dir(dir) {
			if _, there := folders[dir]; there {
				break
			}
			folders[dir] = struct{}{}
		}
	}
	files := make(map[string]struct{}, len(entries))
	taken := func(name string) bool {
		_, isFile := files[fold(name)]
		_, isFolder := folders[fold(name)]
		return isFile || isFolder
	}
	for i := range entries {
		e := &entries[i]
		for n := 0; taken(e.Name); n++ {
			e.Name = distinct(e.Name, e.VersionIRI, n)
		}
		files[fold(e.Name)] = struct{}{}
	}
}

// distinct puts a word made of the version's IRI before the extension.
func distinct(name, iri string, n int) string {
	dir, file := path.Split(name)
	ext := path.Ext(file)
	return dir + strings.TrimSuffix(file, ext) + "~" + shortHash(iri + strings.Repeat("+", n))[:6] + ext
}

func fold(s string) string { return strings.ToLower(s) }
