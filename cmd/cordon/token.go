package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/newfile"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

func newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Create tokens for callers of the service",
		Args:  cli.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	cmd.AddCommand(newTokenNewCommand())
	return cmd
}

func newTokenNewCommand() *cobra.Command {
	var opts tokenNewOptions
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Create a token for cordon serve --tokens",
		Long: `Create a token: a secret for a caller of the service, and an entry for the token
file of the service, which holds only the hash of the secret.

The secret is printed on standard output, once: it cannot be recovered. The entry
is printed on standard error, or added to the file that --tokens names, which is
created if it does not exist. A running service picks it up without a restart.

Exit codes:
  0  the token is created
  2  bad usage, or an invalid token file: nothing was changed`,
		Example: "  cordon token new ci --tokens tokens.yaml\n  cordon token new ci > secret",
		Args: cobra.MatchAll(cli.Arguments(1, 1), func(_ *cobra.Command, args []string) error {
			if args[0] == "" {
				return run.Errorf(run.Invalid, "the name of the token is empty: the audit log shows it")
			}
			return nil
		}),
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			return runTokenNew(cmd.Context(), opts, args[0])
		}),
	}
	cmd.Flags().StringVar(&opts.tokens, "tokens", "", "add the entry to the token `FILE`")
	cli.Alias(cmd.Flags(), "tokens", "file")
	return cmd
}

type tokenNewOptions struct{ tokens string }

func runTokenNew(ctx context.Context, opts tokenNewOptions, name string) error {
	secret, hash := token.New()
	quoted, err := json.Marshal(name) // valid YAML too, whatever the name contains
	if err != nil {
		return err
	}
	entry := fmt.Sprintf("- name: %s\n  sha256: %s\n", quoted, hash)
	if opts.tokens == "" {
		if _, err := token.Check("the new token", tokensWith(nil, entry)); err != nil {
			return run.Wrap(run.Invalid, err)
		}
		fmt.Fprint(os.Stderr, entry)
	} else if err := addToken(opts.tokens, entry); err != nil {
		return err
	}
	return (&tap{ctx: ctx, to: os.Stdout}).line(secret)
}

// addToken adds an entry to a token file, which must be valid before and after.
func addToken(path, entry string) error {
	mode, before := fs.FileMode(0o600), 0
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return run.Errorf(run.Invalid, "--tokens: %w", err)
	default:
		tokens, err := token.Open(path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return run.Errorf(run.Invalid, "--tokens: %w", err)
		}
		mode, before = info.Mode().Perm(), tokens.Len()
		if path, err = filepath.EvalSymlinks(path); err != nil { // keep a link to the file
			return run.Errorf(run.Invalid, "--tokens: %w", err)
		}
	}
	text := tokensWith(old, entry)
	count, err := token.Check(path, text)
	if err == nil && count != before+1 {
		err = errors.New("the entry would not be part of the list")
	}
	if err != nil {
		return run.Errorf(run.Invalid, "%s is unchanged: its list of tokens is not at its end, or the name is invalid; "+
			"add the entry by hand:\n%s%w", path, entry, err)
	}
	f, err := newfile.Create(path, mode)
	if err != nil {
		return run.Errorf(run.Invalid, "--tokens: %w", err)
	}
	defer f.Discard()
	if _, err := f.Write(text); err != nil {
		return run.Errorf(run.Internal, "--tokens: %w", err)
	}
	if err := keepOwner(f.Name(), path); err != nil {
		return run.Errorf(run.Invalid, "--tokens: %w (the service might not be able to read a file of yours: nothing was changed)", err)
	}
	if err := f.Commit(); err != nil {
		return run.Errorf(run.Invalid, "--tokens: %w", err)
	}
	return nil
}

// tokensWith returns a token file with one more entry, in the form that the file has.
func tokensWith(old []byte, entry string) []byte {
	noTokens := regexp.MustCompile(`(?m)^tokens:[ \t]*\[[ \t]*\][ \t]*$`)
	tokenItem := regexp.MustCompile(`(?m)^([ \t]*)- `)
	if len(bytes.TrimSpace(old)) == 0 {
		old = []byte("tokens: []")
	}
	text := bytes.TrimRight(noTokens.ReplaceAll(old, []byte("tokens:")), " \t\r\n")
	indent := []byte("  ")
	if m := tokenItem.FindSubmatch(text); m != nil {
		indent = m[1]
	}
	text = append(text, '\n')
	for line := range bytes.Lines([]byte(entry)) {
		text = append(append(text, indent...), line...)
	}
	return text
}
