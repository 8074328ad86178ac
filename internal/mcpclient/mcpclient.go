// Package mcpclient knows how the programs that use MCP servers are configured.
//
//	mcpclient.Clients                        // their names, for help texts
//	f, err := mcpclient.Config(name, how)    // which file, and what belongs into it
//	d, err := mcpclient.Install(name, how)   // does it, and says what was done
//
// Install merges: what is in a JSON file already, comments too, stays as it is, byte for
// byte. What cannot be read is not touched, and neither is a TOML file that exists: the
// error says which command of the client adds the server, and what to paste. A file that is
// changed is copied to NAME.cordon-backup first, and replaced as a whole.
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

// How says how a client reaches cordon: by starting a command, or at a URL.
type How struct {
	// Name is what the server is called in the configuration; empty means "cordon".
	Name string
	// Command is the program with its arguments. The program must be an absolute path:
	// clients do not have the PATH of a shell.
	Command []string
	// Env is added to the environment of the command.
	Env map[string]string
	// URL is used instead of a command: http://127.0.0.1:8734/mcp.
	URL string
	// Token is what the client sends to the URL. Clients that can take it from the
	// environment get the name of a variable instead (CORDON_TOKEN).
	Token string
	// Project is a directory whose own configuration is used; empty means the user's.
	Project string
	// Home is the user's home directory; empty means that of the current user.
	Home string
	// System is the operating system, as in runtime.GOOS; empty means this one.
	System string
}

// File is a configuration: where it belongs, and all of it if nothing was there.
type File struct {
	Path    string
	Content []byte
}

// Done says what Install has done.
type Done struct {
	Path string
	// Backup is the copy of what was there before; empty if nothing was changed.
	Backup string
	// Changed is false if the file said all of it already.
	Changed bool
	// Note is what is left to do, if anything.
	Note string
}

// Clients lists the names that Config and Install take.
var Clients = func() (names []string) {
	for _, c := range clients {
		names = append(names, c.name)
	}
	return names
}()

// Config gives the file in which a client looks for servers, and what to write there.
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

// Install adds the server to a client's configuration, or replaces what is there under
// its name.
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
			done.Path, err, c.advice(how), c.alone(how))
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

// errNotEdited is about a file in a format that cordon writes and does not edit.
var errNotEdited = errors.New("it exists, and cordon does not edit TOML")

// advice says what to do about a file that was left as it is.
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

// shellWord quotes a word for a shell, where it needs that.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// alone is the entry in a file of its own, for somebody to copy from.
func (c client) alone(how How) string {
	content, err := c.format.merge(nil, c.key, how.Name, c.entry(how), nil)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// prepare finds the client, and fills in and checks how.
func prepare(name string, how How) (client, How, error) {
	at := slices.IndexFunc(clients, func(c client) bool { return c.name == name })
	if at < 0 {
		return client{}, how, run.Errorf(run.Invalid, "no client is called %q: say one of %s", name, strings.Join(Clients, ", "))
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
			return c, how, run.Errorf(run.Invalid, "there is no home directory to put the configuration of %s into: %w", c.title, err)
		}
		how.Home = home
	}
	return c, how, how.validate(c)
}

func (how How) validate(c client) error {
	switch {
	case !isPlain(how.Name):
		return run.Errorf(run.Invalid, "the name %q has more than letters, digits, - and _", how.Name)
	case (how.URL == "") == (len(how.Command) == 0):
		return run.Errorf(run.Invalid, "give a command or a URL, and not both")
	case how.URL != "" && !strings.HasPrefix(how.URL, "http://") && !strings.HasPrefix(how.URL, "https://"):
		return run.Errorf(run.Invalid, "the URL %q does not begin with http:// or https://", how.URL)
	case how.URL != "" && c.onlyCommands:
		return run.Errorf(run.Unsupported, "%s reads no URLs from its configuration: use a command", c.title)
	case how.URL == "" && !filepath.IsAbs(how.Command[0]) && how.System == runtime.GOOS:
		return run.Errorf(run.Invalid, "the command %q is not an absolute path: %s does not have the PATH of your shell", how.Command[0], c.title)
	case how.Project != "" && c.project == "":
		return run.Errorf(run.Unsupported, "%s has no configuration in projects", c.title)
	}
	for name := range how.Env {
		if !isPlain(name) {
			return run.Errorf(run.Invalid, "the environment variable %q has more than letters, digits, - and _", name)
		}
	}
	return nil
}

func isPlain(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
