package document

import (
	"slices"
	"strings"
	"time"
)

// cut returns a text without control characters and surrounding blanks, at most n bytes of it, with an ellipsis if it
// was longer.
func cut(s string, n int) string {
	long := len(s) > n
	if long {
		s = s[:n]
	}
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if long && s != "" {
		s += "…"
	}
	return s
}

// xsdTime returns a time in a form of XSD: that of ISO 8601 is kept, that of PDF (D:20240131120000+01'00') converted;
// "" for others.
func xsdTime(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "D:"); ok || len(s) >= 14 && strings.Trim(s[:14], "0123456789") == "" {
		return pdfTime(rest)
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "20060102T150405Z"} {
		at, err := time.Parse(layout, s)
		if err == nil && plausible(at) {
			if strings.ContainsAny(layout, "Z") && at.Location() != time.UTC {
				return at.Format(time.RFC3339)
			}
			if strings.Contains(layout, "Z") {
				return at.Format("2006-01-02T15:04:05Z")
			}
			return at.Format("2006-01-02T15:04:05")
		}
	}
	for _, layout := range []string{"2006-01-02", "20060102"} {
		if at, err := time.Parse(layout, s); err == nil && plausible(at) {
			return at.Format("2006-01-02")
		}
	}
	return ""
}

func plausible(at time.Time) bool { return at.Year() > 1000 && at.Year() < 3000 }

// pdfTime converts a date of PDF (ISO 32000-1, 7.9.4) without its "D:".
func pdfTime(s string) string {
	s = strings.ReplaceAll(s, "'", "")
	zone := ""
	if i := strings.IndexAny(s, "Z+-"); i >= 0 {
		zone = s[i:]
		s = s[:i]
	}
	for _, layout := range []string{"20060102150405", "200601021504", "20060102"} {
		at, err := time.Parse(layout, s)
		switch {
		case err != nil || !plausible(at):
			continue
		case layout == "20060102":
			return at.Format("2006-01-02")
		case strings.HasPrefix(zone, "Z") || zone == "+0000":
			return at.Format("2006-01-02T15:04:05Z")
		case len(zone) == 5:
			if at, err = time.Parse("20060102150405-0700", at.Format("20060102150405")+zone); err == nil {
				return at.Format(time.RFC3339)
			}
			return ""
		}
		return at.Format("2006-01-02T15:04:05")
	}
	return ""
}

// languages returns well-formed language tags without repetitions (RFC 5646), in their usual case.
func languages(all []string) (tags []string) {
	for _, s := range all {
		s = strings.ReplaceAll(strings.TrimSpace(s), "_", "-")
		parts := strings.Split(s, "-")
		if len(s) > 35 || len(parts[0]) < 2 || len(parts[0]) > 3 ||
			strings.Trim(strings.ToLower(parts[0]), "abcdefghijklmnopqrstuvwxyz") != "" {
			continue
		}
		good := true
		for i, p := range parts {
			good = good && p != "" && len(p) <= 8 && strings.Trim(strings.ToLower(p), "abcdefghijklmnopqrstuvwxyz0123456789") == ""
			switch {
			case i > 0 && len(p) == 2:
				parts[i] = strings.ToUpper(p)
			case i > 0 && len(p) == 4:
				parts[i] = strings.ToUpper(p[:1]) + strings.ToLower(p[1:])
			default:
				parts[i] = strings.ToLower(p)
			}
		}
		if tag := strings.Join(parts, "-"); good && !slices.Contains(tags, tag) && len(tags) < maxLanguages {
			tags = append(tags, tag)
		}
	}
	return tags
}
