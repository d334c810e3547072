package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odarchive/cmd/internal/config"
	"odarchive/ns"
	"odarchive/sparqlapi/openapi"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The reference of the documentation is made of the commands, the OpenAPI document, the vocabulary and its shapes:
// `make docs` writes it, and the test says when it is not what they are.

const referenceFolder = "../../ui/docs/reference"

// pageBytes is about what a page may have of Markdown, so that its HTML is not larger than 20 KB.
const pageBytes = 6 << 10

func TestTheReferenceIsMadeOfTheCode(t *testing.T) {
	t.Parallel()
	pages := map[string]string{} // by name, "commands/serve.md"
	c := testCLI()
	root := c.root()
	root.InitDefaultHelpFlag()
	commandPages(pages, c, root)
	settingPages(pages, root)
	routePages(t, pages)
	termPages(pages, ns.Vocabulary)
	shapePage(t, pages)
	for name, text := range pages {
		file := filepath.Join(referenceFolder, filepath.FromSlash(name))
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if old, err := os.ReadFile(file); err != nil || string(old) != text {
			t.Errorf("%s is not what the program says: run make docs (%v)", file, err)
		}
	}
	for _, folder := range []string{"commands", "settings", "routes", "terms"} {
		files, err := filepath.Glob(filepath.Join(referenceFolder, folder, "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if name := folder + "/" + filepath.Base(file); pages[name] == "" {
				if !*update {
					t.Errorf("%s is about something that is gone: run make docs", file)
				} else if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func testCLI() *cli {
	return &cli{cfg: config.Defaults(), stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard,
		log: slog.New(slog.DiscardHandler)}
}

// commandsOf returns the commands that help lists, in its order.
func commandsOf(cmd *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" && sub.Name() != "completion" {
			list = append(list, sub)
		}
	}
	return list
}

func commandPages(pages map[string]string, c *cli, root *cobra.Command) {
	var index strings.Builder
	index.WriteString(
		"# Commands\n\nEvery command explains itself with `-h`, and all its flags with `-h --all`. Its exit status is 0 for success, " +
			"1 for failure\nand 2 for wrong usage ([more](exit-status.md)). Settings are flags, variables or lines of a file: " +
			"[Settings](settings.md).\n")
	for _, g := range c.groups() {
		fmt.Fprintf(&index, "\n## %s\n\n| command | does |\n| --- | --- |\n", g.name)
		for _, cmd := range g.all() {
			below := commandPage(pages, mustFind(root, cmd.Name()))
			fmt.Fprintf(&index, "| [%s](commands/%s.md) | %s%s |\n", cmd.Name(), cmd.Name(), cell(cmd.Short), below)
		}
	}
	pages["commands.md"] = finish(index.String())
}

func mustFind(root *cobra.Command, name string) *cobra.Command {
	cmd, _, err := root.Find([]string{name})
	if err != nil {
		panic(err) // a bug of this test
	}
	return cmd
}

// commandPage writes the page of a command, with those below it, or one page each if that is too much for one. It
// returns links to such pages, for the index.
func commandPage(pages map[string]string, cmd *cobra.Command) (links string) {
	name := strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
	file := strings.ReplaceAll(name, " ", "-")
	head := func(b *strings.Builder) {
		fmt.Fprintf(b, "# %s\n\n%s.\n\n", name, cmd.Short)
		commandText(b, cmd)
	}
	var page strings.Builder
	head(&page)
	deep := false
	for _, sub := range commandsOf(cmd) {
		fmt.Fprintf(&page, "## %s %s\n\n%s.\n\n", name, sub.Name(), sub.Short)
		commandText(&page, sub)
		deep = deep || sub.HasAvailableSubCommands()
	}
	if cmd.HasAvailableSubCommands() && (deep || page.Len() > pageBytes) {
		page.Reset()
		head(&page)
		page.WriteString("## Its commands\n\n")
		before := ": "
		for _, sub := range commandsOf(cmd) {
			fmt.Fprintf(&page, "- [%s %s](%s-%s.md): %s\n", name, sub.Name(), file, sub.Name(), sub.Short)
			links += fmt.Sprintf("%s[%s](commands/%s-%s.md)", before, sub.Name(), file, sub.Name())
			before = ", "
			if nested := commandPage(pages, sub); nested != "" {
				links += " (" + strings.TrimPrefix(nested, ": ") + ")"
			}
		}
	}
	pages["commands/"+file+".md"] = finish(page.String())
	return links
}

// finish ends a generated page.
func finish(text string) string { return strings.TrimRight(text, "\n") + "\n" }

func commandText(b *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(b, "```text\n%s\n```\n\n", cmd.UseLine())
	if cmd.Long != "" {
		fmt.Fprintf(b, "```text\n%s\n```\n\n", strings.TrimSpace(cmd.Long))
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "Examples:\n\n```text\n%s\n```\n\n", strings.Trim(cmd.Example, "\n"))
	}
	shared := map[string]bool{} // flags that other pages are about
	local := cmd.LocalFlags()
	var others []string
	for _, group := range settingGroups() {
		if local.Lookup(group.mark) == nil {
			continue
		}
		group.flags.VisitAll(func(f *pflag.Flag) { shared[f.Name] = true })
		others = append(others, fmt.Sprintf("[the settings of %s](../settings/%s.md)", group.of, group.page))
	}
	others = append(others, "[the settings of all commands](../settings/all.md)")
	rows := 0
	local.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" || shared[f.Name] || cmd.Root().PersistentFlags().Lookup(f.Name) != nil &&
			cmd != cmd.Root() {
			return
		}
		if rows++; rows == 1 {
			b.WriteString("| flag | default | meaning |\n| --- | --- | --- |\n")
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		fmt.Fprintf(b, "| %s %s | %s | %s |\n", name, flagType(f), flagDefault(f), cell(f.Usage))
	})
	if rows > 0 {
		b.WriteString("\n")
	}
	last := len(others) - 1
	text := others[last]
	if last > 0 {
		text = strings.Join(others[:last], ", ") + " and " + text
	}
	fmt.Fprintf(b, "It also takes %s.\n\n", text)
}

// settingGroup is a page with settings that several commands have, or that are too many for the page of one.
type settingGroup struct {
	page, of string
	about    string
	mark     string // a flag that commands with these settings have
	flags    *pflag.FlagSet
}

func settingGroups() []settingGroup {
	cfg := config.Defaults()
	set := func(add func(*pflag.FlagSet)) *pflag.FlagSet {
		f := pflag.NewFlagSet("", pflag.ContinueOnError)
		add(f)
		return f
	}
	return []settingGroup{
		{"fetching", "everything that fetches",
			"Of `serve`, `crawl`, `harvest`, `follow`, `discover` and the others that ask hosts. What is right for one host only is " +
				"set\nwith [admin host](../commands/admin-host.md).", "user-agent", set(cfg.FetchFlags)},
		{"machines", "several machines",
			"Of `serve`, where workers, replicas or a bucket help it ([workers](../../howto/several-machines.md), " +
				"[replicas](../../howto/read-replicas.md),\n[backup](../../howto/continuous-backup.md)).", "nats-listen",
			set(cfg.MachinesFlags)},
	}
}

func flagType(f *pflag.Flag) string {
	switch t := f.Value.Type(); t {
	case "bool":
		return ""
	case "stringArray", "strings", "stringSlice":
		return "string"
	default:
		return t
	}
}

func flagDefault(f *pflag.Flag) string {
	if f.DefValue == "" || f.DefValue == "[]" || f.DefValue == "false" {
		return ""
	}
	return "`" + f.DefValue + "`"
}

// cell returns a text for a cell of a table.
func cell(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(text)
}

// settingPages lists the settings by what takes them.
func settingPages(pages map[string]string, root *cobra.Command) {
	write := func(page, title, about string, flags *pflag.FlagSet) {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n%s\n\n| setting | default | meaning |\n| --- | --- | --- |\n", title, about)
		flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				fmt.Fprintf(&b, "| `%s` %s | %s | %s |\n", f.Name, flagType(f), flagDefault(f), cell(f.Usage))
			}
		})
		pages["settings/"+page+".md"] = finish(b.String())
	}
	cfg, global := config.Defaults(), pflag.NewFlagSet("", pflag.ContinueOnError)
	cfg.GlobalFlags(global)
	global.AddFlag(root.PersistentFlags().Lookup("quiet"))
	write("all", "Settings of all commands",
		"Each is a flag with two hyphens, a variable, or a line of the file: [Settings](../settings.md).", global)
	elsewhere := map[string]bool{"help": true, "config": true} // settings that the page of the server leaves to others
	global.VisitAll(func(f *pflag.Flag) { elsewhere[f.Name] = true })
	for _, group := range settingGroups() {
		group.flags.VisitAll(func(f *pflag.Flag) { elsewhere[f.Name] = true })
		write(group.page, "Settings of "+group.of, group.about+" Notation: [Settings](../settings.md).", group.flags)
	}
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		panic(err) // a bug of this test
	}
	serving := pflag.NewFlagSet("", pflag.ContinueOnError)
	serve.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !elsewhere[f.Name] {
			serving.AddFlag(f)
		}
	})
	write("serving", "Settings of the server",
		"Of `serve` alone. It takes [those of fetching](fetching.md), [of several machines](machines.md) and [of all commands](all.md), "+
			"too. Notation: [Settings](../settings.md).", serving)
}

// apiDocument is what the reference shows of the OpenAPI document.
type apiDocument struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct{ Parameters map[string]apiParameter }
}

type apiParameter struct {
	Ref         string `json:"$ref"`
	Name        string
	In          string
	Description string
	Required    bool
}

type apiOperation struct {
	Tags        []string
	Summary     string
	Description string
	Parameters  []apiParameter
	Security    []map[string][]string
	Responses   map[string]struct{ Description string }
}

func routePages(t *testing.T, pages map[string]string) {
	t.Helper()
	var doc apiDocument
	if err := json.Unmarshal(openapi.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{} // by tag
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			if !slices.Contains([]string{"get", "post", "put", "patch", "delete"}, method) {
				continue // what all methods of a path have in common
			}
			var op apiOperation
			if err := json.Unmarshal(doc.Paths[path][method], &op); err != nil {
				t.Fatalf("%s %s: %v", method, path, err)
			}
			var b strings.Builder
			fmt.Fprintf(&b, "## %s %s\n\n%s.", strings.ToUpper(method), strings.NewReplacer("{", `\{`, "*", `\*`).Replace(path),
				markup(strings.TrimSuffix(op.Summary, ".")))
			if op.Description != "" {
				fmt.Fprintf(&b, " %s", markup(op.Description))
			}
			b.WriteString("\n\n")
			needs := slices.ContainsFunc(op.Security, func(s map[string][]string) bool { return len(s) > 0 })
			if needs && !slices.ContainsFunc(op.Security, func(s map[string][]string) bool { return len(s) == 0 }) {
				b.WriteString("Needs a token.\n\n")
			}
			for _, p := range op.Parameters {
				if p.Ref != "" {
					p = doc.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
				}
				required := ""
				if p.Required && p.In != "path" {
					required = ", required"
				}
				fmt.Fprintf(&b, "- `%s` (%s%s): %s\n", p.Name, p.In, required, markup(p.Description))
			}
			tag := cmp.Or(strings.Join(op.Tags, ", "), "Other")
			texts[tag] = append(texts[tag], strings.TrimRight(b.String(), "\n")+"\n\n")
		}
	}
	var index strings.Builder
	index.WriteString(
		"# Routes\n\nWhat programs call. The same, for machines, is the OpenAPI document at `/openapi.json`; the page `/api-doc` tries " +
			"calls. Routes of the\nREST API are there below `/` and `/api/v1/`. Errors are [problem " +
			"documents](https://www.rfc-editor.org/rfc/rfc9457).\n\n")
	for _, tag := range slices.Sorted(maps.Keys(texts)) {
		parts := chunks(texts[tag], pageBytes)
		for i, part := range parts {
			title, name := "Routes: "+tag, slugOf(tag)
			if len(parts) > 1 {
				title, name = fmt.Sprintf("%s, part %d", title, i+1), fmt.Sprintf("%s-%d", name, i+1)
			}
			pages["routes/"+name+".md"] = finish(fmt.Sprintf("# %s\n\n%s", title, strings.Join(part, "")))
			fmt.Fprintf(&index, "- [%s](routes/%s.md): ", strings.TrimPrefix(title, "Routes: "), name)
			for j, text := range part {
				heading, _, _ := strings.Cut(text, "\n")
				if j > 0 {
					index.WriteString(", ")
				}
				fmt.Fprintf(&index, "`%s`", strings.NewReplacer("## ", "", `\`, "").Replace(heading))
			}
			index.WriteString("\n")
		}
	}
	pages["routes.md"] = finish(index.String())
}

// markup returns a sentence of another document as Markdown that shows it as it is.
func markup(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "[", `\[`, "_", `\_`).Replace(strings.Join(strings.Fields(text), " "))
}

func slugOf(text string) string { return strings.ReplaceAll(strings.ToLower(text), " ", "-") }

// chunks distributes texts over pages of at most about size bytes.
func chunks(texts []string, size int) [][]string {
	var parts [][]string
	n := size
	for _, t := range texts {
		if n+len(t) > size {
			parts, n = append(parts, nil), 0
		}
		last := len(parts) - 1
		parts[last], n = append(parts[last], t), n+len(t)
	}
	return parts
}

var termOf = regexp.MustCompile(`(?ms)^arc:(\w+) a (?:owl|rdfs|rdf|skos|dqv):(\w+)(.*?)\.$\n`)
var commentOf = regexp.MustCompile(`(?s)rdfs:comment "((?:[^"\\]|\\.)*)"`)

func termPages(pages map[string]string, turtle string) {
	var rows []string
	for _, m := range termOf.FindAllStringSubmatch(turtle, -1) {
		kind := map[string]string{"ObjectProperty": "property, of things", "DatatypeProperty": "property, of values",
			"Class": "class"}[m[2]]
		comment := ""
		if c := commentOf.FindStringSubmatch(m[3]); c != nil {
			comment = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(c[1])
		}
		rows = append(rows, fmt.Sprintf("| `arc:%s` | %s | %s |\n", m[1], cmp.Or(kind, m[2]), cell(comment)))
	}
	slices.SortFunc(rows, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	var index bytes.Buffer
	index.WriteString(
		"# Terms\n\nThe archive's own terms, for what DCAT, CSVW, PROV, Dublin Core and SPDX do not say. The prefix `arc:` " +
			"is\n`https://archiver.ai.wu.ac.at/ns/csvw#`. The same as RDF is at `/ns/csvw`. What a subject has at least and at most: " +
			"[Shapes](shapes.md).\n\n")
	parts := chunks(rows, pageBytes)
	for i, part := range parts {
		first := func(row string) string { return strings.TrimPrefix(strings.Split(row, "`")[1], "arc:") }
		title := fmt.Sprintf("Terms: %s to %s", first(part[0]), first(part[len(part)-1]))
		name := fmt.Sprintf("%d", i+1)
		pages["terms/"+name+".md"] = finish(fmt.Sprintf("# %s\n\n| term | is a | meaning |\n| --- | --- | --- |\n%s", title,
			strings.Join(part, "")))
		fmt.Fprintf(&index, "- [%s](terms/%s.md)\n", title, name)
	}
	pages["terms.md"] = finish(index.String())
}

var shapeOf = regexp.MustCompile(`(?ms)^arc:(\w+)Shape a sh:NodeShape ;(.*?)\.$\n?`)
var propertyOf = regexp.MustCompile(`(?m)sh:property \[ (.*) \]`)
var labelOf = regexp.MustCompile(`rdfs:label "([^"]*)"`)
var valueOf = regexp.MustCompile(`sh:(\w+) (\((?:[^()"]|"[^"]*")*\)|"(?:[^"\\]|\\.)*"|[^ ;]+)`)

func shapePage(t *testing.T, pages map[string]string) {
	t.Helper()
	turtle, err := os.ReadFile("../../ns/shapes.ttl")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(
		"# Shapes\n\nWhat the archive's own triples promise, made of the SHACL shapes that the tests validate everything with. A " +
			"property without\na number may be absent or there several times.\n\n")
	for _, m := range shapeOf.FindAllStringSubmatch(string(turtle), -1) {
		fmt.Fprintf(&b, "## %s\n\n", m[1])
		if l := labelOf.FindStringSubmatch(m[2]); l != nil {
			fmt.Fprintf(&b, "%s.\n\n", l[1])
		}
		b.WriteString("| property | how many | value |\n| --- | --- | --- |\n")
		for _, p := range propertyOf.FindAllStringSubmatch(m[2], -1) {
			v := map[string]string{}
			for _, x := range valueOf.FindAllStringSubmatch(p[1], -1) {
				v[x[1]] = x[2]
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.Trim(v["path"], "() "), countOf(v), cell(rangeOf(v)))
		}
		b.WriteString("\n")
	}
	pages["shapes.md"] = finish(b.String())
}

func countOf(v map[string]string) string {
	switch {
	case v["minCount"] == v["maxCount"] && v["minCount"] != "":
		return v["minCount"]
	case v["minCount"] != "" && v["maxCount"] == "":
		return v["minCount"] + " or more"
	case v["maxCount"] != "":
		return cmp.Or(v["minCount"], "0") + " to " + v["maxCount"]
	}
	return ""
}

func rangeOf(v map[string]string) string {
	var parts []string
	if x := v["datatype"]; x != "" {
		parts = append(parts, "`"+x+"`")
	}
	if x := v["nodeKind"]; x != "" {
		parts = append(parts, "an "+strings.TrimPrefix(x, "sh:"))
	}
	if x := v["node"]; x != "" {
		parts = append(parts, "a "+strings.TrimSuffix(strings.TrimPrefix(x, "arc:"), "Shape"))
	}
	if x := v["hasValue"]; x != "" {
		parts = append(parts, "`"+x+"`")
	}
	if x := v["in"]; x != "" {
		parts = append(parts, "one of "+strings.ReplaceAll(strings.Trim(x, "() "), `"`, ""))
	}
	if x := v["minInclusive"]; x != "" {
		parts = append(parts, "at least "+x)
	}
	if x := v["maxInclusive"]; x != "" {
		parts = append(parts, "at most "+x)
	}
	if x := v["pattern"]; x != "" {
		parts = append(parts, "like "+strings.ReplaceAll(strings.Trim(x, `"`), `\\`, `\`))
	}
	return strings.Join(parts, ", ")
}
