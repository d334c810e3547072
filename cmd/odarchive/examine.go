package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"odarchive/crawler/csvprofile"
	"odarchive/crawler/detect"

	"github.com/spf13/cobra"
)

// eachFile opens the files one after the other; the first one that fails ends the command.
func eachFile(names []string, f func(name string, file *os.File, size int64) error) error {
	for _, name := range names {
		if err := oneFile(name, f); err != nil {
			return err
		}
	}
	return nil
}

func oneFile(name string, f func(string, *os.File, int64) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.IsDir() {
		return usagef("%s is a directory; expected files", name)
	}
	if err := f(name, file, info.Size()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (c *cli) detect() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "detect FILE...",
		Short:   "Say what kind of file each is",
		Example: "  odarchive detect *.csv\n  odarchive detect --json data.bin",
		Args:    atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return eachFile(args, func(name string, file *os.File, size int64) error {
				found, err := detect.File(cmd.Context(), detect.Input{Name: name, Size: size, Body: file})
				if err != nil {
					return err
				}
				if c.json {
					return c.line(found.Line(name))
				}
				kind := found.Type
				for _, more := range []string{found.Charset, found.Compression} {
					if more != "" {
						kind += ", " + more
					}
				}
				_, err = fmt.Fprintf(c.stdout, "%s: %s (%s)\n", name, kind, found.Because)
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "one JSON object a file")
	return cmd
}

func (c *cli) line(raw []byte, err error) error {
	if err == nil {
		_, err = fmt.Fprintf(c.stdout, "%s\n", raw)
	}
	return err
}

func (c *cli) profile() *cobra.Command {
	var asCSVW bool
	cmd := &cobra.Command{
		Use:     "profile FILE...",
		Short:   "Describe local tables: dialect, header, columns",
		Example: "  odarchive profile data.csv\n  odarchive profile --csvw data.csv > data.csv-metadata.json",
		Args:    atLeast(1, "FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return eachFile(args, func(name string, file *os.File, _ int64) error {
				p, err := csvprofile.Read(cmd.Context(), io.Reader(file), csvprofile.Options{})
				switch {
				case err != nil:
					return err
				case asCSVW:
					return c.line(p.CSVW(name))
				case c.json:
					return c.line(p.Line(name))
				}
				return c.profileTable(cmd.Context(), name, p)
			})
		},
	}
	cmd.Flags().BoolVar(&c.json, "json", false, "one JSON object a file")
	cmd.Flags().BoolVar(&asCSVW, "csvw", false, "CSVW metadata as JSON")
	return cmd
}

func (c *cli) profileTable(_ context.Context, name string, p *csvprofile.Profile) error {
	quoted := func(s string) string {
		raw, err := json.Marshal(s)
		if err != nil {
			return s
		}
		return string(raw)
	}
	fmt.Fprintf(c.stdout, "%s: %d rows, %d columns; %s, delimiter %s, quote %s, header %v\n", name, p.Rows, len(p.Columns),
		p.Dialect.Encoding, quoted(p.Dialect.Delimiter), quoted(p.Dialect.QuoteChar), p.Dialect.Header)
	for i, column := range p.Columns {
		facts := []string{column.Datatype, fmt.Sprintf("%d distinct", column.Distinct)}
		if column.Nulls > 0 {
			facts = append(facts, fmt.Sprintf("%d empty", column.Nulls))
		}
		if column.Min != "" {
			facts = append(facts, column.Min+" to "+column.Max)
		}
		if _, err := fmt.Fprintf(c.stdout, "  %d. %s: %s\n", i+1, column.Name, strings.Join(facts, ", ")); err != nil {
			return err
		}
	}
	return nil
}
