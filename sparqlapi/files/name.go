package files

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
)

// Limits of names that can be unpacked everywhere.
const (
	maxSegment = 96  // bytes of one part of a name
	maxDepth   = 12  // parts; the middle of a longer path is replaced by a hash
	maxName    = 230 // bytes
)

// nameOf returns a safe name for an entry. It may not be unique.
func nameOf(e *Entry) string {
	name := versionName(e.URL, e.N, e.FileName)
	if e.Member != nil {
		return memberName(name, e.Member.Path)
	}
	return name
}

// versionName returns the name of version n of a resource: host/path-of-url/N-filename.
func versionName(resource string, n int, fileName string) string {
	if name, ok := plainName(resource, n, fileName); ok {
		return name
	}
	return slowName(resource, n, fileName)
}

func slowName(resource string, n int, fileName string) string {
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
	// A file name must not be a path: only its last part is used.
	fileName = fileName[strings.LastIndexAny(fileName, `/\`)+1:]
	return safe(append(parts, strconv.Itoa(n)+"-"+fileName))
}

// memberName returns the name of a file inside a version, in a folder next to the version with the given name.
func memberName(version, path string) string {
	return safe(strings.Split(version+"_/"+strings.Trim(path, "/"), "/"))
}

// safe joins parts to a name that can be unpacked on every system, and only into the target folder.
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
	for i := 1; length(out) > maxName && i < len(out)-1; i++ { // shorten folders only, not host and file name
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

// isReserved reports whether s is the name of an entry that New adds.
func isReserved(s string) bool {
	return strings.EqualFold(s, manifestName) || strings.EqualFold(s, metadataName) || strings.EqualFold(s, crateName)
}

// safePart replaces what some system rejects in a file name: separators, control and format characters, the characters
// Windows forbids, dots and spaces at the ends, device names, and invalid UTF-8.
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

// shorten cuts the middle out of a name. A hash keeps different names different.
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

// isDevice reports whether Windows takes the name for a device, with any extension.
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

// plainName is the fast path of versionName, for addresses and file names in which nothing has to be replaced. It takes
// a tenth of the time.
func plainName(resource string, n int, fileName string) (string, bool) {
	scheme, rest, _ := strings.Cut(resource, "://")
	rest, query, _ := strings.Cut(rest, "?")
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }
	if scheme != "http" && scheme != "https" || fileName == "" || strings.Contains(fileName, "/") || strings.ContainsFunc(query, odd) {
		return "", false
	}
	var buf [maxName]byte
	b := append(buf[:0], strings.TrimSuffix(rest, "/")...)
	b = append(b, '/')
	b = strconv.AppendInt(b, int64(n), 10)
	b = append(b, '-')
	b = append(b, fileName...)
	if len(b) > maxName {
		return "", false
	}
	name := string(b)
	return name, isPlain(name)
}

// isPlain reports whether safe would not change a name. It returns false if that takes a closer look.
func isPlain(name string) bool {
	if len(name) > maxName {
		return false
	}
	depth, from := 1, 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '/':
			if !isPlainPart(name[from:i]) || depth == 1 && isReserved(name[:i]) {
				return false
			}
			depth, from = depth+1, i+1
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_' || c >= 'A' && c <= 'Z':
		default:
			return false
		}
	}
	return depth > 1 && depth <= maxDepth && isPlainPart(name[from:])
}

// isPlainPart is isPlain for one part, whose characters are already checked.
func isPlainPart(p string) bool {
	if p == "" || len(p) > maxSegment || p[0] == '-' || p[0] == '.' || p[len(p)-1] == '.' {
		return false
	}
	switch p[0] | 0x20 { // first letters of device names
	case 'c', 'p', 'a', 'n', 'l':
		return !isDevice(p)
	}
	return true
}

// nameAll makes the names of the entries safe and unique, on file systems that ignore case, too, and different from the
// folders in other names. It compares hashes: a collision gives an entry a longer name than it needs.
func nameAll(entries []Entry, iri func(*Entry) string) {
	folders := make(map[uint64]struct{})
	taken := make([]uint64, len(entries))
	for i := range entries {
		e := &entries[i]
		switch {
		case e.Name == "":
			e.Name = nameOf(e)
		case !isPlain(e.Name):
			e.Name = safe(strings.Split(e.Name, "/"))
		}
		taken[i] = folded(e.Name)
		for dir := e.Name; ; {
			end := strings.LastIndexByte(dir, '/')
			if end < 0 {
				break
			}
			dir = dir[:end]
			h := folded(dir)
			if _, there := folders[h]; there {
				break
			}
			folders[h] = struct{}{}
		}
	}
	if !areDifferent(taken, folders) {
		rename(entries, iri, folders)
	}
}

// areDifferent reports whether no two names are the same and none is a folder. It sorts names.
func areDifferent(names []uint64, folders map[uint64]struct{}) bool {
	for _, h := range names {
		if _, isFolder := folders[h]; isFolder {
			return false
		}
	}
	slices.Sort(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return false
		}
	}
	return true
}

// rename gives a new name to every entry whose name belongs to a folder or to an earlier entry.
func rename(entries []Entry, iri func(*Entry) string, folders map[uint64]struct{}) {
	files := make(map[uint64]struct{}, len(entries))
	for i := range entries {
		e := &entries[i]
		for n := 0; ; n++ {
			h := folded(e.Name)
			_, isFile := files[h]
			_, isFolder := folders[h]
			if !isFile && !isFolder {
				files[h] = struct{}{}
				break
			}
			e.Name = distinct(e.Name, iri(e), n)
		}
	}
}

// folded returns a hash of a name that ignores case. It must never change, since it affects the names in zips.
func folded(s string) uint64 {
	var buf [2 * maxName]byte
	b := append(buf[:0], s...)
	for i, c := range b {
		if c >= 0x80 {
			return xxhash.Sum64String(strings.ToLower(s))
		}
		if c >= 'A' && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return xxhash.Sum64(b)
}

// distinct inserts a few digits of a hash of the IRI before the extension.
func distinct(name, iri string, n int) string {
	dir, file := path.Split(name)
	ext := path.Ext(file)
	return dir + strings.TrimSuffix(file, ext) + "~" + shortHash(iri + strings.Repeat("+", n))[:6] + ext
}
