package manual

import (
	"fmt"
	"strings"
)

// page is the text of a page that is being written.
type page struct{ strings.Builder }

var roffSpecials = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`)

// escape makes text safe inside a line: characters that roff would set as others stay what they are.
func escape(text string) string { return roffSpecials.Replace(text) }

// line writes a line of text. One that begins like a request of roff is no request.
func (p *page) line(text string) {
	text = escape(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, `\(aq`) {
		text = `\&` + text
	}
	p.WriteString(text + "\n")
}

// macro writes a request with arguments.
func (p *page) macro(name string, args ...string) {
	p.WriteString("." + name)
	for _, arg := range args {
		arg = strings.ReplaceAll(escape(arg), `"`, `\(dq`)
		if arg == "" || strings.Contains(arg, " ") {
			arg = `"` + arg + `"`
		}
		p.WriteString(" " + arg)
	}
	p.WriteString("\n")
}

// section begins a section.
func (p *page) section(title string) { p.macro("SH", title) }

// term writes a term, in bold and, for what stands for a value, in italics, and its explanation.
func (p *page) term(bold, italic, text string) {
	fmt.Fprintf(p, ".TP\n\\fB%s\\fR", escape(bold))
	if italic != "" {
		fmt.Fprintf(p, "\\fI%s\\fR", escape(italic))
	}
	p.WriteString("\n")
	p.line(strings.Join(strings.Fields(text), " "))
}

// literal writes lines as they are, without the indentation that they have in common.
func (p *page) literal(lines []string) {
	p.macro("PP")
	p.macro("RS", "2n")
	p.macro("nf")
	for _, line := range lines {
		p.line(strings.TrimPrefix(line, "  "))
	}
	p.macro("fi")
	p.macro("RE")
}

// prose writes the text of a help message: paragraphs, whose lines are filled anew, and below them indented lines,
// which are terms with explanations if all of them have two spaces inside, and else literal.
func (p *page) prose(text string) {
	for block := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n\n") {
		lines := strings.Split(strings.Trim(block, "\n"), "\n")
		for len(lines) > 0 {
			n := 0
			for n < len(lines) && strings.HasPrefix(lines[n], "  ") == strings.HasPrefix(lines[0], "  ") {
				n++
			}
			part := lines[:n]
			lines = lines[n:]
			if !strings.HasPrefix(part[0], "  ") {
				p.macro("PP")
				p.line(strings.Join(part, " "))
			} else if terms := termsOf(part); terms != nil {
				for _, t := range terms {
					p.term(t[0], "", t[1])
				}
			} else {
				p.literal(part)
			}
		}
	}
}

// termsOf reads lines of terms and explanations. Lines that are indented further continue the explanation before. It
// returns nil if the lines are anything else.
func termsOf(lines []string) (terms [][2]string) {
	for _, line := range lines {
		if strings.HasPrefix(line, "    ") && len(terms) > 0 {
			terms[len(terms)-1][1] += " " + strings.TrimSpace(line)
			continue
		}
		term, text, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			return nil
		}
		terms = append(terms, [2]string{term, strings.TrimSpace(text)})
	}
	return terms
}
