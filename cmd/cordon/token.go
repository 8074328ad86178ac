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
	"strings"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/newfile"
	"github.com/cordon-sandbox/cordon/internal/token"
	"github.com/cordon-sandbox/cordon/run"
)

func newTokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make tokens: who may ask the service",
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
		Short: "Make a token for cordon serve --tokens",
		Long: `Make a token: a secret for whoever asks the service, and an entry for its token
file, which has the secret's hash alone.

The secret is printed on standard output, once: nobody can find it out again. The
entry is printed on standard error, or added to the file that --file names, which
is made if it is not there. A service that runs takes it from there by itself.

Exit codes:
  0  the token is made
  2  bad usage, or a token file with something wrong in it: nothing was changed`,
		Example: "  cordon token new ci --file tokens.yaml\n  cordon token new ci > secret",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return run.Errorf(run.Invalid, "give the token one name: the audit log shows it")
			}
			return nil
		},
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			return runTokenNew(cmd.Context(), opts, args[0])
		}),
	}
	cmd.Flags().StringVar(&opts.tokens, "file", "", "add the entry to this token `FILE` (CORDON_TOKENS)")
	cli.NameVariable(cmd, "file", "CORDON_TOKENS")
	return cmd
}

type tokenNewOptions struct{ tokens string }

func runTokenNew(ctx context.Context, opts tokenNewOptions, name string) error {
	secret, hash := token.New()
	quoted, err := json.Marshal(name) // which is YAML too, whatever the name has in it
	if err != nil {
		return err
	}
	entry := fmt.Sprintf("- name: %s\n  sha256: %s\n", quoted, hash)
	if opts.tokens == "" {
		if err := tryTokens(tokensWith(nil, entry)); err != nil {
			return err
		}
		fmt.Fprint(os.Stderr, entry)
	} else if err := addToken(opts.tokens, entry); err != nil {
		return err
	}
	return (&tap{ctx: ctx, to: os.Stdout}).line(secret)
}

// addToken adds an entry to a token file, all of which must be right before and after.
func addToken(path, entry string) error {
	mode, before := fs.FileMode(0o600), 0
	old, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return run.Errorf(run.Invalid, "--file: %w", err)
	default:
		tokens, err := token.Open(path)
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		if err != nil {
			return run.Errorf(run.Invalid, "--file: %w", err)
		}
		mode, before = info.Mode().Perm(), tokens.Len()
		if path, err = filepath.EvalSymlinks(path); err != nil { // a link to it stays one
			return run.Errorf(run.Invalid, "--file: %w", err)
		}
	}
	f, err := newfile.Create(path, mode)
	if err != nil {
		return run.Errorf(run.Invalid, "--file: %w", err)
	}
	defer f.Discard()
	made := f.Name()
	if _, err := f.Write(tokensWith(old, entry)); err != nil {
		return run.Errorf(run.Internal, "--file: %w", err)
	}
	if err := keepOwner(made, path); err != nil {
		return run.Errorf(run.Invalid, "--file: %w (the service might not be able to read a file of yours: nothing was changed)", err)
	}
	tokens, err := token.Open(made)
	if err != nil || tokens.Len() != before+1 {
		return run.Errorf(run.Invalid, "%s is left as it is: its list of tokens does not go on at its end, or the name is no good; "+
			"a new token would be\n%s%w", path, entry, explainTokens(err, made, path))
	}
	if err := f.Commit(); err != nil {
		return run.Errorf(run.Invalid, "--file: %w", err)
	}
	return nil
}

// explainTokens has an error speak of the file that was meant.
func explainTokens(err error, made, path string) error {
	if err == nil {
		return errors.New("it would not be the list's")
	}
	return errors.New(strings.ReplaceAll(err.Error(), made, path))
}

// tryTokens says what is wrong with a token file that is not there yet.
func tryTokens(text []byte) error {
	directory, err := os.MkdirTemp("", "cordon-")
	if err != nil {
		return run.Errorf(run.Internal, "%w", err)
	}
	defer os.RemoveAll(directory)
	path := filepath.Join(directory, "tokens.yaml")
	if err := newfile.Write(path, text, 0o600); err != nil {
		return run.Errorf(run.Internal, "%w", err)
	}
	if _, err := token.Open(path); err != nil {
		return run.Errorf(run.Invalid, "%w", explainTokens(err, path, "the new token"))
	}
	return nil
}

var (
	noTokens  = regexp.MustCompile(`(?m)^tokens:[ \t]*\[[ \t]*\][ \t]*$`)
	tokenItem = regexp.MustCompile(`(?m)^([ \t]*)- `)
)

// tokensWith gives a token file with an entry more, in the form that it has.
func tokensWith(old []byte, entry string) []byte {
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
