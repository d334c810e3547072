package discover

import (
	"path"
	"strings"

	"odarchive/crawler/follow/software"
)

// link is a link that could be followed.
type link struct {
	url     string
	text    string // of the anchor, or of what stands around it
	key     uint64 // of the URL
	from    int32  // page that it is on; noPage for a list
	path    string // of tags
	context string // heading or row that it stands under
	seq     int32  // order of discovery
	level   software.Level
	format  string
	file    float32 // confidence that it is a data file
	words   float32 // keyword score
	traits  []int32
	place   float32 // what its branch brought when last looked at
	mean    float32 // worth when last looked at
	rank    float32 // by which it is chosen
	done    bool    // followed, or dropped
	vain    bool    // the software says that it leads to no data
	list    bool    // a sitemap or feed
	hops    uint8   // steps of the same path that led here
}

// page is a page that was read, or is on the way to one.
type page struct {
	url      string
	text     string // of the link to it
	key      uint64
	from     int32 // page of that link
	path     string
	template uint64
	hops     uint8
	depth    uint8
	files    int32 // new ones found on it
	level    software.Level
	score    float32
	why      string
	below    branch
}

// branch is what was found by way of a page.
type branch struct{ sum, n float32 }

const noPage = -1

// A priori worth of what links show, and its variance.
const (
	priorBias     = 0.10
	priorWord     = 0.45 // a data word in the anchor
	priorWordURL  = 0.20 // in the address
	priorFollow   = 0.30
	priorBoost    = 0.50 // times the helper's boost
	priorFile     = 0.60 // times the confidence that it is a file
	priorDepth    = 0.02 // for each page on the way, against the link
	varianceData  = 0.08 // of words for data
	varianceAll   = 0.80 // of what all links share: where nothing is found, nothing is expected, until something is
	varianceDepth = 0.02
	varianceKind  = 0.25 // of traits that many links share
	varianceWord  = 0.10
	varianceShape = 0.20
	variancePlace = 0.15 // of traits of one page or branch
)

// describe fills in the traits of a link on a page.
func (w *walk) describe(l *link, hint software.Hint) {
	m := w.model
	add := func(h uint64, mean, variance float32) { l.traits = append(l.traits, m.trait(h, mean, variance)) }
	l.vain = hint.Boost <= -1
	var from page
	if l.from != noPage {
		from = w.pages[l.from]
	}
	var wordAnchor, wordURL bool
	l.words, wordAnchor, wordURL = w.words(l)
	add(hash("all"), priorBias, varianceAll)
	add(hash("depth", num(uint64(from.depth))), -priorDepth*float32(from.depth), varianceDepth)
	if wordAnchor {
		add(hash("word"), priorWord, varianceData)
	}
	if wordURL {
		add(hash("word in address"), priorWordURL, varianceData)
	}
	if hint.Follow {
		add(hash("follow"), priorFollow, varianceKind)
	}
	if hint.Boost != 0 {
		add(hash("boost", hint.Why), float32(priorBoost*hint.Boost), varianceKind)
	}
	if hint.File > 0 {
		add(hash("file", string(rune('0'+int(hint.File*10)))), float32(priorFile*hint.File), varianceKind)
	}
	if hint.Document {
		add(hash("document"), -0.3, varianceKind)
	}
	if hint.Level != software.Unknown {
		add(hash("level", string(hint.Level), string(from.level)), 0, varianceKind)
	}
	word := "plain"
	if wordAnchor {
		word = "word"
	}
	// Where on the page it stands.
	add(hash("path", l.path), 0, varianceKind)
	add(hash("path and word", l.path, word), 0, varianceWord)
	add(hash("group", l.path, num(from.template), word), 0, varianceKind)
	add(hash("hops", l.path, string(rune('0'+l.hops))), 0, varianceWord)
	add(hash("paths", l.path, from.path), 0, varianceWord)
	// What its address looks like.
	shape, dir, first := shapeOf(l.url)
	add(hash("shape", shape), 0, varianceShape)
	add(hash("directory", dir), 0, varianceShape)
	if first != dir {
		add(hash("first", first), 0, varianceWord)
	}
	// What its anchor says.
	n := 0
	for t := range strings.FieldsSeq(strings.ToLower(l.text)) {
		if t = strings.Trim(digits(t), ".,:;()[]|"); len(t) > 1 && n < 6 {
			add(hash("text", t), 0, varianceWord)
			n++
		}
	}
	if l.from == noPage {
		return
	}
	// Which branch of the site it is in: the page itself, and the pages that led there.
	add(hash("on", num(from.key), l.path), 0, variancePlace)
	add(hash("yield", l.path, bucket(from.files)), 0, varianceWord)
	at := from
	for up := 0; up < 3 && at.from != noPage; up++ {
		at = w.pages[at.from]
		add(hash("below", num(at.key), string(rune('0'+up)), l.path), 0, variancePlace/float32(up+2))
	}
	for at, depth := from, from.depth; ; depth-- { // the branches near the first page
		if depth >= 1 && depth <= 2 {
			add(hash("branch", num(at.key)), 0, variancePlace)
		}
		if at.from == noPage || depth == 0 {
			break
		}
		at = w.pages[at.from]
	}
}

func bucket(files int32) string {
	switch {
	case files <= 0:
		return "0"
	case files == 1:
		return "1"
	case files < 5:
		return "few"
	}
	return "many"
}

func num(n uint64) string {
	var b [8]byte
	for i := range b {
		b[i] = byte(n >> (8 * i))
	}
	return string(b[:])
}

// digits returns a text with '#' for each run of digits.
func digits(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= '0' && c <= '9' {
			if n := b.Len(); n > 0 && b.String()[n-1] == '#' {
				continue
			}
			c = '#'
		}
		b.WriteByte(c)
	}
	return b.String()
}

// shapeOf returns what addresses of one kind have in common: the address with '#' for numbers and codes and without
// the last name; its directory; and the first part of its path.
func shapeOf(address string) (shape, dir, first string) {
	_, rest, _ := strings.Cut(address, "://")
	_, rest, _ = strings.Cut(rest, "/")
	p, query, _ := strings.Cut(rest, "?")
	var b strings.Builder
	segments := strings.Split(p, "/")
	for i, s := range segments {
		b.WriteByte('/')
		switch {
		case i == 0 || coded(s):
			b.WriteString(general(s))
		case i == len(segments)-1 || i == len(segments)-2 && segments[i+1] == "":
			b.WriteByte('*')
			if dot := strings.LastIndexByte(s, '.'); dot > 0 {
				b.WriteString(s[dot:])
			}
		default:
			b.WriteString(general(s))
		}
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name == "" {
			continue
		}
		b.WriteByte('&')
		b.WriteString(general(name))
		b.WriteByte('=')
		b.WriteString(parameter(value))
	}
	cut := strings.LastIndexByte(strings.TrimSuffix(p, "/"), '/')
	return b.String(), "/" + p[:max(cut, 0)], "/" + segments[0]
}

// parameter returns the value of a parameter in general. '*' stands for names of files, folders and layers, of which a
// site has many; a word, such as that of a view or a format, stays.
func parameter(value string) string {
	low := strings.ToLower(value)
	if strings.ContainsAny(value, "/:") || strings.Contains(low, "%2f") || strings.Contains(low, "%3a") || named(value) ||
		!coded(value) && strings.ContainsAny(value, "_-") && strings.ContainsAny(value, "0123456789") {
		return "*"
	}
	return general(value)
}

// named reports whether a value ends in an extension, as names of files do.
func named(value string) bool {
	ext := strings.TrimPrefix(path.Ext(value), ".")
	return len(ext) > 0 && len(ext) < 8 && len(ext)+1 < len(value) && strings.Trim(ext, "0123456789") != ""
}

// general returns a name as it is, or '#' for numbers, codes and long names.
func general(s string) string {
	if len(s) > 30 || coded(s) {
		return "#"
	}
	return digits(s)
}

// coded reports whether a name is a number or a code rather than words.
func coded(s string) bool {
	n, letters := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			n++
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
		default:
			letters++
		}
	}
	return n > 0 && (letters == 0 || n*2 > len(s))
}
