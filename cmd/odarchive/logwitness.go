package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"odarchive/crawler/archive/transparency"
	"odarchive/triplestore/disk"

	"github.com/spf13/cobra"
)

// requestTime is how long a request to another archive may take.
const requestTime = time.Minute

func (c *cli) logWitness() *cobra.Command {
	var keys []string
	var secret, state, out string
	var submit bool
	cmd := &cobra.Command{
		Use:   "witness URL",
		Short: "Check that another archive's log only grows, and cosign it",
		Long: `Read the checkpoint of another archive, compare it with the one that was seen before, and cosign it if it contains that one
(C2SP tlog-cosignature). The file of --state has what was seen; run the command as often as you like, for example daily.
With --submit the cosignature is sent to the archive, which takes it if its --log-witness names your key. 'witness new' makes
a key of your own and prints it; its public part is printed by 'witness show'. 'witness serve' waits until logs send their
checkpoints instead.

Exit status: 0 cosigned, 1 not cosigned. If the log has changed what it had, its checkpoint is printed nevertheless: with
the file of --state it proves that.`,
		Example: `  odarchive log witness new witness.example/w1 > witness.key
  odarchive log witness show --witness-key witness.key
  odarchive log witness serve --key keys.txt --witness-key witness.key --state seen
  odarchive log witness https://archive.example.org/ --key archive.example.org/log+1a2b3c4d+AQ… --witness-key witness.key --state seen.txt --submit`,
		Args: exactly("URL"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(keys) == 0 || secret == "" || state == "" {
				return usagef("log witness needs --key, --witness-key and --state")
			}
			trusted, err := c.trustedKeys(keys)
			if err != nil {
				return err
			}
			by, err := readCosigner(secret)
			if err != nil {
				return err
			}
			log, err := transparency.OfWeb(&http.Client{Timeout: requestTime}, args[0])
			if err != nil {
				return usageError{err}
			}
			note, tree, err := transparency.Witness(cmd.Context(), log, trusted, by, state)
			if err != nil {
				if len(note) > 0 { // the evidence
					err = errors.Join(explained(cmd.Context(), err), c.writeBytes(out, note))
				}
				return err
			}
			if submit {
				if err := submitCosignature(cmd.Context(), args[0], note); err != nil {
					return err
				}
			}
			fmt.Fprintf(c.stderr, "cosigned: %d versions\n", tree.N)
			return c.writeBytes(out, note)
		},
	}
	f := cmd.Flags()
	witnessFlags(cmd, &keys, &secret, &state)
	f.StringVarP(&out, "output", "o", "-", "file for the cosigned checkpoint, - for standard output")
	f.BoolVar(&submit, "submit", false, "send the cosignature to the archive")
	cmd.AddCommand(c.witnessNew(), c.witnessShow(), c.witnessServe())
	return cmd
}

func (c *cli) witnessNew() *cobra.Command {
	return &cobra.Command{
		Use: "new NAME", Short: "Print a new key for a witness", Args: exactly("NAME"),
		Long:    "Print a new key for a witness with a name such as witness.example/w1. Keep it in a file that only you can read.",
		Example: "  (umask 077; odarchive log witness new witness.example/w1 > witness.key)",
		RunE: func(_ *cobra.Command, args []string) error {
			secret, err := transparency.NewCosigner(args[0])
			if err != nil {
				return usageError{err}
			}
			_, err = fmt.Fprintln(c.stdout, secret)
			return err
		},
	}
}

func (c *cli) witnessShow() *cobra.Command {
	var secret string
	cmd := &cobra.Command{
		Use: "show", Short: "Print the public part of a witness's key, for --log-witness", Args: exactly(),
		Example: "  odarchive log witness show --witness-key witness.key",
		RunE: func(*cobra.Command, []string) error {
			if secret == "" {
				return usagef("log witness show needs --witness-key")
			}
			by, err := readCosigner(secret)
			if err == nil {
				_, err = fmt.Fprintln(c.stdout, by.Public)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&secret, "witness-key", "", "file with the key")
	return cmd
}

const maxKeyText = 64 << 10

func readCosigner(file string) (*transparency.Cosigner, error) {
	text, err := disk.ReadFile(disk.OS{}, file, maxKeyText)
	if err != nil {
		return nil, err
	}
	by, err := transparency.ParseCosigner(string(text), time.Now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return by, nil
}

// trustedKeys parses the values of --key: keys, or files with a key a line.
func (c *cli) trustedKeys(values []string) ([]transparency.Verifier, error) {
	var keys []string
	for _, value := range values {
		if _, err := os.Stat(value); err != nil {
			keys = append(keys, value)
			continue
		}
		text, err := disk.ReadFile(disk.OS{}, value, maxKeyText)
		if err != nil {
			return nil, err
		}
		keys = append(keys, strings.Fields(string(text))...)
	}
	list, err := transparency.Verifiers(keys)
	if err != nil {
		return nil, usageError{fmt.Errorf("--key: %w", err)}
	}
	return list, nil
}

// submitCosignature sends a cosigned checkpoint to the archive whose log it is.
func submitCosignature(ctx context.Context, address string, note []byte) error {
	u, err := transparency.LogAddress(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.JoinPath("cosignatures").String(), bytes.NewReader(note))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "text/plain; charset=utf-8")
	r.Header.Set("Accept", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("submit the cosignature: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	why, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	return errors.Join(fmt.Errorf("submit the cosignature: the archive answered %s: %.500s", resp.Status, strings.TrimSpace(string(why))),
		err)
}
