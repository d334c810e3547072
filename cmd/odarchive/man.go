package main

import (
	"fmt"
	"io"
	"strings"

	"odarchive/cmd/internal/manual"

	"github.com/spf13/cobra"
)

func (c *cli) man() *cobra.Command {
	var settings bool
	var data string
	cmd := &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages, or a settings file with all settings",
		Long: `Write the manual pages of all commands and of the settings file to a directory, below man1 and man5, as man(1) looks for
them there. Without a directory, print the page of the program. Packages install the same pages.

With --settings, print a settings file in which every setting of a server is explained and commented out.`,
		Example: `  odarchive man | man -l -
  odarchive man ~/.local/share/man && man odarchive-serve
  odarchive man --settings > odarchive.toml`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return usagef("man takes at most one directory, got %d arguments", len(args))
			case settings && len(args) > 0:
				return usagef("man --settings prints one file, and takes no directory")
			case data != "" && !settings:
				return usagef("--settings-data is for --settings only")
			}
			return nil
		},
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // also where the settings are faulty
		RunE: func(cmd *cobra.Command, args []string) error {
			b := readBuild()
			date, _, _ := strings.Cut(b.Time, "T")
			m := manual.Manual{Root: cmd.Root(), Version: b.Version, Date: date}
			switch {
			case settings:
				_, err := io.WriteString(c.stdout, m.Settings(data))
				return err
			case len(args) == 0:
				_, err := io.WriteString(c.stdout, m.Pages()[0].Text)
				return err
			}
			if err := m.Write(args[0]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(c.stdout, "%d pages written below %s\n", len(m.Pages()), args[0])
			return err
		},
	}
	cmd.Flags().BoolVar(&settings, "settings", false, "print a settings file instead")
	cmd.Flags().StringVar(&data, "settings-data", "", "directory of the archive that the settings file names")
	return cmd
}
