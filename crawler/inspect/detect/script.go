package detect

import (
	"bytes"
	"path"
	"strings"
)

// interpreted returns the type of a program whose first line names its interpreter, as in "#!/usr/bin/env python3"; ""
// if there is no such line or the interpreter is not known.
func interpreted(b []byte) string {
	line, ok := bytes.CutPrefix(firstLine(b), []byte("#!"))
	fields := strings.Fields(string(line[:min(len(line), 256)]))
	if !ok || len(fields) == 0 {
		return ""
	}
	name := path.Base(fields[0])
	for i := 1; name == "env" && i < len(fields); i++ {
		if !strings.HasPrefix(fields[i], "-") && !strings.Contains(fields[i], "=") {
			name = path.Base(fields[i])
		}
	}
	switch strings.TrimRight(name, "0123456789.") {
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "csh", "tcsh":
		return "text/x-shellscript"
	case "python", "pypy":
		return "text/x-python"
	case "perl":
		return "text/x-perl"
	case "ruby":
		return "text/x-ruby"
	case "php":
		return "text/x-php"
	case "node", "nodejs", "deno", "bun":
		return "text/javascript"
	case "Rscript":
		return "text/x-r"
	case "lua":
		return "text/x-lua"
	}
	return ""
}

// manual recognises a manual page or another text for troff: it begins with a comment in its syntax, or with the title
// of a manual page (groff_man(7), mdoc(7)).
func manual(b []byte) bool {
	line := firstLine(b)
	for _, start := range []string{`.\" `, `'\" `, ".TH ", ".Dd ", ".Dt "} {
		if bytes.HasPrefix(line, []byte(start)) {
			return true
		}
	}
	return false
}

// program reports whether a type is that of a programming language.
func program(t string) bool {
	return strings.HasPrefix(t, "text/x-") && t != "text/x-log" && t != "text/x-diff" && t != "text/x-pcaxis" && t != "text/x-arcgrid" ||
		t == "text/javascript"
}

// records reports whether a text consists of many lines of one length, as data in columns of fixed width do and
// programs do not.
func records(text []byte) bool {
	lines, width := 0, -1
	for line := range bytes.Lines(text) {
		if line[len(line)-1] != '\n' {
			break // cut off by the end of the sample
		}
		if width < 0 {
			width = len(line)
		}
		if len(line) != width {
			return false
		}
		lines++
	}
	return lines >= 20 && width > 20
}
