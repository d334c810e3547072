package pattern

import (
	"errors"
	"strings"
	"testing"
)

func TestPatternsMatchAsXPathSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, flags string
		match, not     []string
	}{
		{"", "", []string{"", "x"}, nil},
		{"^a.c$", "", []string{"abc", "a-c"}, []string{"a\nc", "a\rc", "abc\n"}},
		{"^a.c$", "s", []string{"a\nc", "a\rc"}, []string{"ac"}},
		{"^b$", "m", []string{"a\nb\nc", "b"}, []string{"ab"}},
		{"[a-z-[aeiou]]", "", []string{"b", "aeb"}, []string{"aeiou", "B", ""}},
		{"^[a-z-[m-p-[n]]]+$", "", []string{"an"}, []string{"m", "o"}},
		{"^[^a-c-[x]]$", "", []string{"d"}, []string{"a", "x"}},
		{"^[A-Z-[IO]]$", "i", []string{"A", "b"}, []string{"i", "I", "o"}},
		{"^[^k]$", "i", []string{"l"}, []string{"k", "K", "\u212A"}},
		{`^\p{Lu}$`, "i", []string{"A", "Ä"}, []string{"a"}},
		{`^\p{IsBasicLatin}+$`, "", []string{"abc 1"}, []string{"é"}},
		{`^\p{IsLatin-1Supplement}$`, "", []string{"é"}, []string{"e"}},
		{`^\P{IsGreek}$`, "", []string{"a"}, []string{"α"}},
		{`^\p{Cn}$`, "", []string{"\u0378"}, []string{"a"}},
		{`^\d+$`, "", []string{"12", "٣"}, []string{"x"}},
		{`^\w+$`, "", []string{"añ1", "+"}, []string{"a b", "_"}},
		{`^\s$`, "", []string{" ", "\t"}, []string{"\f", "\u00a0"}},
		{`^\i\c*$`, "", []string{"a-b.c", "_x", ":y"}, []string{"-a", "1"}},
		{`^[\i-[:]][\c-[:]]*$`, "", []string{"a-b"}, []string{"a:b"}},
		{`(.)\1`, "", []string{"aa", "xyyz"}, []string{"aba"}},
		{`^(a)?(b)?\2\1$`, "", []string{"", "aa", "abba"}, []string{"abab"}},
		{`(.)\1`, "i", []string{"aA"}, []string{"ab"}},
		{`^(a)\10$`, "", []string{"aa0"}, []string{"aa"}},
		{`([a-z])([a-z])\2\1`, "i", []string{"Otto"}, []string{"anna1"[2:]}},
		{"^(a{1,100}){1,100}$", "", []string{"a", strings.Repeat("a", 10_000)}, []string{"", "b"}},
		{"^a{1,1001}$", "", []string{strings.Repeat("a", 1001)}, []string{strings.Repeat("a", 1002)}},
		{"^Straße{2,1500}$", "i", []string{"STRASSE"[:4] + "ßEE"}, []string{"StraßE"}},
		{strings.Repeat("(a|b)?", 1000) + "c", "", []string{"c", "abc"}, []string{"ab"}},
		{"a.b", "q", []string{"xa.by"}, []string{"axb"}},
		{"A B", "xi", []string{"ab"}, []string{"a b"}},
		{"[ ]b", "x", []string{" b"}, []string{"b"}},
		{"(?i)wien", "", []string{"WIEN"}, []string{"wie"}},
		{"^(?:ab|c)+?$", "", []string{"abc"}, []string{"a"}},
		{`^[\-x\]]+$`, "", []string{"-]x"}, []string{"y"}},
		{`^[-a]+[a-]+$`, "", []string{"-a", "--"}, []string{"b"}},
		{`^a||b$`, "", []string{""}, nil},
		{`^*a`, "", []string{"ba"}, nil},
		{`[\s\S]`, "", []string{"x", "\n"}, []string{""}},
		{`a[b-[b]]`, "", nil, []string{"ab", "a"}},
		{`(a[b-[b]]|c)\1`, "", []string{"cc"}, []string{"ab", "c"}},
	} {
		p, err := Compile(c.pattern, c.flags)
		if err != nil {
			t.Errorf("%q, flags %q: %v", c.pattern, c.flags, err)
			continue
		}
		check := func(text string, want bool) {
			if got, err := p.Match(text); got != want || err != nil {
				t.Errorf("%.60q, flags %q, over %.60q: %v, %v, want %v", c.pattern, c.flags, text, got, err, want)
			}
		}
		for _, s := range c.match {
			check(s, true)
		}
		for _, s := range c.not {
			check(s, false)
		}
	}
}

func TestWhatIsNoPatternIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"(a", "", "without its"}, {"a)", "", "without its"}, {"[a", "", "without its"}, {"a]", "", "must be written"},
		{"[]", "", "empty"}, {"*a", "", "nothing to repeat"}, {"a**", "", "follows a quantifier"}, {"a{2,1}", "", "wrong order"},
		{"[z-a]", "", "wrong order"}, {`\q`, "", "unknown escape"}, {`a\`, "", "backslash"}, {`\p{Lx}`, "", "neither"},
		{`\p{IsKlingon}`, "", "neither"},
		{`\pL`, "", "braces"}, {`\1(a)`, "", "no complete group"}, {`(a\1)`, "", "no complete group"}, {"(?=a)", "", "unknown group"},
		{"a{,3}", "", "a quantifier is"},
		{"a{", "", "a quantifier is"}, {"a", "w", "unknown flag"}, {"[a-z-b]", "", "middle"}, {`[a-\d]`, "", "range ends"},
		{"a{1,10000000}", "", "beyond"},
		{"[a[b]]", "", "must be written"}, {strings.Repeat("(", 1000) + strings.Repeat(")", 1000), "", "deeper"},
		{strings.Repeat("a", maxBytes+1), "", "longer"},
		{"[a-[b]c]", "", "subtraction ends"}, {strings.Repeat(`\w`, 1000), "", "ranges"}, {"\xff", "", "UTF-8"},
	} {
		_, err := Compile(c[0], c[1])
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%.60q, flags %q: %v, want an error with %q", c[0], c[1], err, c[2])
		}
	}
}

func TestReplaceInsertsGroups(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, pattern, with string
		literal             bool
		want                string
		err                 error
	}{
		{"abracadabra", "bra", "*", false, "a*cada*", nil},
		{"abracadabra", "a.*?a", "*", false, "*c*bra", nil},
		{"abcd", "(ab)|(a)", "[1=$1][2=$2]", false, "[1=ab][2=]cd", nil},
		{"darted", "^(.*?)d(.*)$", "$1c$2", false, "carted", nil},
		{"aäbböc", `(.)\1`, "<$1>", false, "aä<b>öc", nil},
		{"ööxßß", `(.)\1`, "$0$0$12", false, "ööööö2xßßßßß2", nil},
		{"a.b", ".", "$", true, "$$$", nil},
		{"a", "a", `\$\\`, false, `$\`, nil},
		{"a", "a*", "x", false, "", ErrMatchesEmpty},
		{"a", `(a)?\1`, "x", false, "", ErrMatchesEmpty},
		{"a", "a", "$", false, "", ErrReplacement},
		{"a", "a", `\x`, false, "", ErrReplacement},
		{strings.Repeat("a", 100), "a", strings.Repeat("b", 100), false, "", ErrTooLong},
	} {
		p, err := Compile(c.pattern, "")
		if err != nil {
			t.Fatalf("%q: %v", c.pattern, err)
		}
		if got, err := p.Replace(c.text, c.with, c.literal, 1000); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("replace %q by %q in %q: %q, %v, want %q, %v", c.pattern, c.with, c.text, got, err, c.want, c.err)
		}
	}
}

func TestEndlessBacktrackingEnds(t *testing.T) {
	t.Parallel()
	p, err := Compile(`^((a*)*)*\1$`, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Match(strings.Repeat("a", 5000) + "b"); !errors.Is(err, ErrTime) {
		t.Errorf("the match ended with %v, want %v", err, ErrTime)
	}
}

func TestLongLinearMatchesAreSound(t *testing.T) {
	t.Parallel()
	p, err := Compile(strings.Repeat("(a|b)?", 1000)+"c", "")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("d", 200_000)
	if p.steps*len(text) <= maxSteps {
		t.Fatal("the text is too short for this test")
	}
	if found, err := p.Match(text + "c"); err == nil && !found {
		t.Error("the pattern is not found")
	}
}

// compileBack compiles a pattern for the backtracking engine, whatever it needs.
func compileBack(pattern, flags string) (*Pattern, error) {
	tree, o, groups, err := parse(pattern, flags)
	if err != nil {
		return nil, err
	}
	return newBacktracking(tree, o, groups)
}

// Both engines, and Go's with and without the prefilter, must agree.
func FuzzEnginesAgree(f *testing.F) {
	for _, s := range [][3]string{{"^wasser.*2019|budget", "i", "Wasser im Jahr 2019"}, {"haus(halt|rat)", "i", "HAUSRAT"},
		{"a+b{2}c?", "", "aabbc"},
		{"straße", "i", "STRASSE straße"}, {"k", "i", "\u212A"}, {"(ab|cd)+", "", "xcdx"}, {"abc$", "m", "abc\nx"},
		{"[a-z-[x]]", "i", "X\u017F"}, {`\w\D`, "s", "1\r"}} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, text, flags, in string) {
		if len(text) > 200 || len(flags) > 4 || len(in) > 200 {
			return
		}
		p, err := Compile(text, flags)
		if err != nil || p.linear == nil {
			return
		}
		got, err := p.Match(in)
		if err != nil {
			t.Fatal(err)
		}
		if want := p.linear.MatchString(in); got != want {
			t.Fatalf("%q with %q over %q: %v, without the prefilter %v", text, flags, in, got, want)
		}
		other, err := compileBack(text, flags)
		if err != nil {
			t.Fatal(err)
		}
		if want, err := other.Match(in); err == nil && want != got && !strings.HasSuffix(in, "\n") {
			t.Fatalf("%q with %q over %q: %v, backtracking %v", text, flags, in, got, want)
		}
	})
}
