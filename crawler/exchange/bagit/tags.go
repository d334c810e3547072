package bagit

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

var bagVersion = regexp.MustCompile(`^BagIt-Version: ([0-9]+\.[0-9]+)$`)

// declaration reads bagit.txt (RFC 8493 §2.1.1).
func (r *reading) declaration() error {
	if _, there := r.sizes[declaration]; !there {
		return errNoBag
	}
	text, err := r.text(declaration)
	if err != nil {
		return err
	}
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' || c == '\r' })
	if len(lines) != 2 {
		return fmt.Errorf("%s has %d lines, expected 2", declaration, len(lines))
	}
	m := bagVersion.FindStringSubmatch(strings.TrimSpace(lines[0]))
	if m == nil {
		return fmt.Errorf("%s does not state the version", declaration)
	}
	r.version = m[1]
	label, name, _ := strings.Cut(lines[1], ":")
	name = strings.TrimSpace(name)
	switch {
	case label != "Tag-File-Character-Encoding":
		return fmt.Errorf("%s does not state the encoding of tag files", declaration)
	case strings.EqualFold(name, "UTF-8"):
	case strings.EqualFold(name, "ISO-8859-1"):
		r.encoding = charmap.ISO8859_1
	case strings.EqualFold(name, "UTF-16"):
		r.encoding = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	default:
		return fmt.Errorf("the encoding of its tag files is %.50q; this program reads UTF-8, UTF-16 and ISO-8859-1", name)
	}
	return nil
}

var manifestName = regexp.MustCompile(`^(tag)?manifest-([a-z0-9]+)\.txt$`)

// manifests reads the manifests (§2.1.3, §2.2.1).
func (r *reading) manifests() error {
	r.payload, r.tags = map[string]digests{}, map[string]digests{}
	known, others := 0, []string{}
	for _, name := range r.names() {
		m := manifestName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		if newHash(m[2]) == nil {
			others = append(others, m[2])
			continue
		}
		all := r.tags
		if m[1] == "" {
			known++
			all = r.payload
		}
		if err := r.manifest(name, m[2], all); err != nil {
			return err
		}
	}
	switch {
	case known == 0 && len(others) > 0:
		return fmt.Errorf("its manifests have digests that this program cannot compute: %s", strings.Join(others, ", "))
	case known == 0:
		return errors.New("it has no manifest")
	}
	for p, d := range r.payload {
		if r.version >= "1.0" && len(d) != known {
			r.bad(fmt.Errorf("%.200q is not in every manifest", p))
			r.damage(p)
		}
	}
	return nil
}

func (r *reading) names() []string {
	names := make([]string, 0, len(r.sizes))
	for name := range r.sizes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *reading) damage(p string) {
	if r.damaged == nil {
		r.damaged = map[string]bool{}
	}
	r.damaged[p] = true
}

func (r *reading) manifest(name, algorithm string, all map[string]digests) error {
	text, err := r.decoded(name)
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		number++
		sum, p, ok := strings.Cut(strings.Replace(line, "\t", " ", 1), " ")
		p = unescapePath(strings.TrimPrefix(strings.TrimLeft(p, " \t"), "*"))
		p = strings.TrimPrefix(p, "./")
		if !ok || len(sum) != newHash(algorithm).Size()*2 || !isPath(p) || isPayload(p) == strings.HasPrefix(name, "tag") {
			return fmt.Errorf("%s: line %d is not a digest and a path in the bag", name, number)
		}
		if all[p] == nil {
			if len(all) == maxFiles {
				return fmt.Errorf("%s has more than %d files", name, maxFiles)
			}
			all[p] = digests{}
		}
		if before, twice := all[p][algorithm]; twice && before != strings.ToLower(sum) {
			return fmt.Errorf("%s: line %d: %.200q is there twice, with different digests", name, number, p)
		}
		all[p][algorithm] = strings.ToLower(sum)
	}
	return nil
}

// decoded returns a tag file in UTF-8.
func (r *reading) decoded(name string) (string, error) {
	text, err := r.text(name)
	if err == nil && r.encoding != nil {
		text, err = r.encoding.NewDecoder().String(text)
	}
	if err == nil && !utf8.ValidString(text) {
		err = fmt.Errorf("%s does not have the encoding that %s states", name, declaration)
	}
	return text, err
}

// checkFetch checks that fetch.txt names files of the payload (§2.2.3). Nothing is fetched.
func (r *reading) checkFetch() error {
	if _, there := r.sizes["fetch.txt"]; !there {
		return nil
	}
	text, err := r.decoded("fetch.txt")
	if err != nil {
		return err
	}
	number := 0
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		number++
		fields := strings.Fields(line)
		if len(fields) < 3 {
			return fmt.Errorf("fetch.txt: line %d is not an address, a length and a path", number)
		}
		p := line[strings.Index(line, fields[1])+len(fields[1]):]
		p = strings.TrimPrefix(unescapePath(strings.TrimLeft(p, " \t")), "./")
		if !isPath(p) || !isPayload(p) || r.payload[p] == nil {
			return fmt.Errorf("fetch.txt: line %d: %.200q is no file of the payload", number, p)
		}
	}
	return nil
}

func isPayload(p string) bool { return strings.HasPrefix(p, "data/") }

func isPath(p string) bool {
	return p != "" && path.Clean(p) == p && !strings.HasPrefix(p, "/") && p != ".." && !strings.HasPrefix(p, "../") &&
		!strings.ContainsRune(p, 0)
}

// unescapePath is the reverse of escapePath. Other percent signs stand for themselves.
func unescapePath(p string) string {
	return strings.NewReplacer("%0A", "\n", "%0a", "\n", "%0D", "\r", "%0d", "\r", "%25", "%").Replace(p)
}

// readInfo reads bag-info.txt (§2.2.2).
func (r *reading) readInfo() error {
	r.info = map[string]string{}
	if _, there := r.sizes["bag-info.txt"]; !there {
		return nil
	}
	text, err := r.decoded("bag-info.txt")
	if err != nil {
		return err
	}
	label := ""
	for line := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == '\n' || c == '\r' }) {
		if line[0] == ' ' || line[0] == '\t' { // continues the line before
			if label != "" {
				r.info[label] += " " + strings.TrimSpace(line)
			}
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			r.bad(fmt.Errorf("bag-info.txt: %.100q is not a label and a value", line))
			continue
		}
		label = strings.ToLower(strings.TrimSpace(name))
		if _, twice := r.info[label]; twice {
			label = ""
			continue
		}
		r.info[label] = strings.TrimSpace(value)
	}
	return nil
}
