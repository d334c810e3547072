package config

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"odarchive/crawler/catalog"

	"github.com/spf13/pflag"
)

// environmentPrefix begins the names of environment variables with settings.
const environmentPrefix = "ODARCHIVE_"

// Load sets every flag that was not given from the environment, or else from the file, if that is not nil. A setting in
// the file whose name is not in known is an error, so that misspelt settings are noticed.
func Load(flags *pflag.FlagSet, file *File, known []string) error {
	settings := map[string]any{}
	if file != nil {
		if _, err := file.decode(&settings); err != nil {
			return err
		}
		tables := openTables(settings)
		delete(settings, hostTable) // HostRules reads it
		if _, isList := settings[harvestTable].([]map[string]any); isList {
			delete(settings, harvestTable) // HarvestPlans reads it
		}
		if _, isList := settings[tokenTable].([]map[string]any); isList {
			delete(settings, tokenTable) // Tokens reads it
		}
		if _, isList := settings[retentionTable].([]map[string]any); isList {
			delete(settings, retentionTable) // RetentionRules reads it
		}
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			if !slices.Contains(known, name) {
				return file.errorf("%s", unknown(name, tables[name], known))
			}
		}
	}
	var first error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || first != nil {
			return
		}
		if v, ok := os.LookupEnv(variable(f.Name)); ok {
			if err := flags.Set(f.Name, v); err != nil {
				first = fmt.Errorf("environment: --%s: %w", f.Name, err)
			}
		} else if v, ok := settings[f.Name]; ok {
			first = file.set(flags, f.Name, v)
		}
	})
	return first
}

// variable returns the name of the environment variable with a setting.
func variable(name string) string {
	return environmentPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Misspelt returns a sentence for each variable of an environment, as of os.Environ, that looks like a misspelt
// setting. Variables that look like no setting are nobody's mistake: other programs have some, too.
func Misspelt(environ, known []string) []string {
	variables := make([]string, len(known))
	for i, name := range known {
		variables[i] = variable(name)
	}
	var list []string
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, environmentPrefix)
		if !ours || slices.Contains(variables, name) {
			continue
		}
		if near := catalog.Nearest(rest, known); near != "" {
			list = append(list, fmt.Sprintf("the environment variable %s is not a setting; did you mean %s?", name, variable(near)))
		}
	}
	return list
}

// unknown says that a setting does not exist, which is in a table of the file, or in none if that is "".
func unknown(name, table string, known []string) string {
	near := catalog.Nearest(name, known)
	text := fmt.Sprintf("no setting %q exists", name)
	if table != "" {
		text += fmt.Sprintf(" (%q in the table [%s])", strings.TrimPrefix(name, table+"-"), table)
		near = strings.TrimPrefix(near, table+"-")
	}
	if near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return text
}

// openTables makes settings of the entries of tables: deny in the table [scope] is scope-deny. It returns the table of
// each of these settings.
func openTables(settings map[string]any) (tables map[string]string) {
	tables = map[string]string{}
	for _, name := range slices.Collect(maps.Keys(settings)) {
		table, ok := settings[name].(map[string]any)
		if !ok {
			continue
		}
		delete(settings, name)
		for key, value := range table {
			settings[name+"-"+key] = value
			tables[name+"-"+key] = name
		}
	}
	return tables
}
