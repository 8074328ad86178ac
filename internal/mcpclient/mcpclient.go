// Package mcpclient knows how the programs that use MCP servers are configured.
//
//	mcpclient.Clients                        // their names, for help texts
//	f, err := mcpclient.Config(name, how)    // the path of the file, and its content
//	d, err := mcpclient.Install(name, how)   // writes the file, and reports what changed
//
// Install merges: the other parts of a JSON file, comments included, stay the same byte for
// byte. It does not touch a file that it cannot parse, or a TOML file that exists. The error
// then has the client's own command that adds the server, and the text to paste. Install
// copies a file to NAME.cordon-backup before it changes it, and replaces the whole file.
package mcpclient

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// How describes how a client reaches cordon: by starting a command, or at a URL.
type How struct {
	// Name is the name of the server in the configuration; empty means "cordon".
	Name string
	// Command is the program with its arguments. The program must be an absolute path:
	// clients do not have the PATH of a shell.
	Command []string
	// Env is added to the environment of the command.
	Env map[string]string
	// URL is used instead of a command, such as http://127.0.0.1:8734/mcp.
	URL string
	// Token is the token that the client sends to the URL. The configuration of clients
	// that can read it from the environment has the name of a variable instead
	// (CORDON_TOKEN).
	Token string
	// Project is the directory whose configuration is used; empty means the user's
	// configuration.
	Project string
	// Home is the user's home directory; empty means that of the current user.
	Home string
	// System is the operating system, as in runtime.GOOS; empty means this one.
	System string
}

// File is a configuration file: its path, and its content if the file is new.
type File struct {
	Path    string
	Content []byte
}

// Done reports what Install did.
type Done struct {
	Path string
	// Backup is the path of the copy of the old file; empty if there was none, or nothing
	// changed.
	Backup string
	// Changed is false if the file already had the entry.
	Changed bool
	// Note is what the user still has to do or know, if anything.
	Note string
}

// Clients lists the names that Config and Install take.
var Clients = func() (names []string) {
	for _, c := range clients {
		names = append(names, c.name)
	}
	return names
}()

// Config returns the file in which a client looks for servers, with its content.
func Config(name string, how How) (File, error) {
	c, how, err := prepare(name, how)
	if err != nil {
		return File{}, err
	}
	content, err := c.format.merge(nil, c.key, how.Name, c.entry(how), c.fresh)
	if err != nil {
		return File{}, err
	}
	return File{Path: c.path(how), Content: content}, nil
}

// Install adds the server to a client's configuration, or updates the entry that has its
// name.
func Install(name string, how How) (Done, error) {
	c, how, err := prepare(name, how)
	if err != nil {
		return Done{}, err
	}
	done := Done{Path: c.path(how), Note: c.note}
	at, err := open(c, how)
	if err != nil {
		return Done{}, run.Errorf(run.Invalid, "cannot reach the configuration of %s: %w", c.title, err)
	}
	defer at.root.Close()
	before, err := at.root.ReadFile(at.name)
	if err != nil && !os.IsNotExist(err) {
		return Done{}, run.Errorf(run.Invalid, "cannot read the configuration of %s: %w", c.title, err)
	}
	after, err := c.format.merge(before, c.key, how.Name, c.entry(how), c.fresh)
	if err != nil {
		return Done{}, run.Errorf(run.Invalid, "%s is left as it is: %w; %s:\n%s",
			done.Path, err, c.advice(how), c.snippet(how))
	}
	if string(after) == string(before) {
		return done, nil
	}
	done.Changed = true
	if done.Backup, err = at.replace(before, after); err != nil {
		return Done{}, run.Errorf(run.Internal, "cannot write the configuration of %s: %w", c.title, err)
	}
	return done, nil
}

// errNotEdited is returned for a file in a format that cordon can write but not edit.
var errNotEdited = errors.New("it exists, and cordon does not edit TOML")

// advice returns what to do about a file that Install did not change.
func (c client) advice(how How) string {
	if c.add == nil {
		return "add this by hand, or repair the file"
	}
	if how.Project != "" {
		return "add this by hand"
	}
	words := c.add(how)
	for i, word := range words {
		words[i] = shellWord(word)
	}
	return "run `" + strings.Join(words, " ") + "`, or add this by hand"
}

// shellWord quotes a word for a shell, if it needs quotes.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// snippet returns the text for the user to paste: a file that has only the entry.
func (c client) snippet(how How) string {
	content, err := c.format.merge(nil, c.key, how.Name, c.entry(how), nil)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// prepare finds the client, fills in the defaults of how, and validates it.
func prepare(name string, how How) (client, How, error) {
	at := slices.IndexFunc(clients, func(c client) bool { return c.name == name })
	if at < 0 {
		return client{}, how, run.Errorf(run.Invalid, "no client is called %q: use one of %s", name, strings.Join(Clients, ", "))
	}
	c := clients[at]
	if how.Name == "" {
		how.Name = "cordon"
	}
	if how.System == "" {
		how.System = runtime.GOOS
	}
	if how.Home == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return c, how, run.Errorf(run.Invalid, "no home directory for the configuration of %s: %w", c.title, err)
		}
		how.Home = home
	}
	return c, how, how.validate(c)
}

func (how How) validate(c client) error {
	switch {
	case !isBareKey(how.Name):
		return run.Errorf(run.Invalid, "the name %q may only have letters, digits, - and _", how.Name)
	case (how.URL == "") == (len(how.Command) == 0):
		return run.Errorf(run.Invalid, "give a command or a URL, not both")
	case how.URL != "" && !strings.HasPrefix(how.URL, "http://") && !strings.HasPrefix(how.URL, "https://"):
		return run.Errorf(run.Invalid, "the URL %q does not begin with http:// or https://", how.URL)
	case how.URL != "" && c.onlyCommands:
		return run.Errorf(run.Unsupported, "%s reads no URLs from its configuration: use a command", c.title)
	case how.URL == "" && !filepath.IsAbs(how.Command[0]) && how.System == runtime.GOOS:
		return run.Errorf(run.Invalid, "the command %q is not an absolute path: %s does not have the PATH of your shell", how.Command[0], c.title)
	case how.Project != "" && c.project == "":
		return run.Errorf(run.Unsupported, "%s has no configuration files in projects", c.title)
	}
	for name := range how.Env {
		if !isBareKey(name) {
			return run.Errorf(run.Invalid, "the environment variable %q may only have letters, digits, - and _", name)
		}
	}
	return nil
}

// isBareKey reports whether a name has only letters, digits, - and _: TOML needs no quotes
// for it.
func isBareKey(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
