package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/mcpclient"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

const clientsExitHelp = `Exit codes:
  0    done, or already so
  2    bad usage, or a configuration that cannot be read: it is unchanged
  125  it cannot be written, or the client has no such configuration`

func newMCPInstallCommand() *cobra.Command {
	return newClientCommand("install", "Add cordon to a client's configuration",
		`Add cordon to the configuration of an MCP client, or replace the entry of the same
name. Everything else in the file stays as it is, and a copy of the file is kept
beside it.`, runMCPInstall)
}

func newMCPConfigCommand() *cobra.Command {
	return newClientCommand("config", "Print the entry for a client's configuration",
		`Print the entry for the configuration of an MCP client, to add it by hand. Standard
error names the file.`, runMCPConfig)
}

func newClientCommand(name, short, long string, work func(stdout, stderr io.Writer, client string, how mcpclient.How) error) *cobra.Command {
	var how mcpclient.How
	clients := strings.Join(mcpclient.Clients, ", ")
	cmd := &cobra.Command{
		Use:   name + " CLIENT [-- FLAGS OF CORDON MCP]",
		Short: short,
		Long: long + `

` + text.Wrap("The clients: "+clients, 80, " ") + `

` + clientsExitHelp,
		Example: fmt.Sprintf("  cordon mcp %[1]s %[2]s\n  cordon mcp %[1]s %[2]s -- --policy strict\n  cordon mcp %[1]s %[2]s --url http://127.0.0.1:8734/mcp", name, mcpclient.Clients[0]),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return run.Errorf(run.Invalid, "name a client: one of %s", clients)
			}
			return nil
		},
		ValidArgs: mcpclient.Clients,
		RunE: cli.Action(func(cmd *cobra.Command, args []string) error {
			at := cmd.ArgsLenAtDash()
			if at < 0 {
				at = len(args)
			}
			if at != 1 {
				return run.Errorf(run.Invalid, "name one client, and put flags of cordon mcp after --")
			}
			secret, err := cli.Text("--token", how.Token, cmd.InOrStdin())
			if err != nil {
				return err
			}
			how.Token = secret
			switch more := args[1:]; {
			case how.URL != "" && len(more) > 0:
				return run.Errorf(run.Invalid, "--url and flags of cordon mcp exclude each other: the service at the URL has its own")
			case how.URL == "":
				self, err := cordonPath()
				if err != nil {
					return err
				}
				how.Command = append([]string{self, "mcp"}, more...)
			}
			return work(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], how)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&how.Name, "name", "cordon", "the `NAME` of the server in the client")
	f.StringVar(&how.URL, "url", "", "the `URL` of a running service, instead of a program to start")
	f.StringVar(&how.Token, "token", "", "the `SECRET` for the URL: itself, @FILE, or - for standard input; others on this machine can see what a command line has")
	f.StringVar(&how.Project, "project", "", "a `DIRECTORY` whose configuration to change, instead of the user's")
	return cmd
}

// cordonPath is the program that clients start: cordon, which executes this one, or this
// one if cordon is missing.
func cordonPath() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", run.Errorf(run.Internal, "cannot find the path of this program: %w", err)
	}
	name := "cordon"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if beside := filepath.Join(filepath.Dir(self), name); isFile(beside) {
		return beside, nil
	}
	return self, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func runMCPConfig(stdout, stderr io.Writer, client string, how mcpclient.How) error {
	file, err := mcpclient.Config(client, how)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "cordon: add this to %s\n", file.Path)
	_, err = stdout.Write(file.Content)
	return err
}

func runMCPInstall(_, stderr io.Writer, client string, how mcpclient.How) error {
	done, err := mcpclient.Install(client, how)
	if err != nil {
		return err
	}
	say := func(format string, args ...any) { fmt.Fprintf(stderr, "cordon: "+format+"\n", args...) }
	switch {
	case !done.Changed:
		say("%s already has it", done.Path)
	case done.Backup != "":
		say("changed %s; the previous content is in %s", done.Path, done.Backup)
	default:
		say("wrote %s", done.Path)
	}
	if done.Note != "" {
		say("%s", done.Note)
	}
	return nil
}
