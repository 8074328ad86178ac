package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/newfile"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/internal/workdir"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// onFiles makes a command of a function that works on the files of the session. An error of that
// is shown, and the conversation goes on.
func onFiles(do func(*sessionConsole, run.Files, []string) error) func(*sessionConsole, context.Context, []string) error {
	return func(c *sessionConsole, _ context.Context, arguments []string) error {
		files, err := c.session.Files()
		if err == nil {
			err = do(c, files, arguments)
		}
		if lost := cmp.Or(c.stdout.err, c.stderr.err); lost != nil {
			return outputLost(lost)
		}
		return c.refuse(err)
	}
}

// refuse shows why a command has failed. If it was the last one in a pipe, the exit code says
// it too.
func (c *sessionConsole) refuse(err error) error {
	if err == nil {
		return nil
	}
	c.code = cli.ClassCode(run.ClassOf(err))
	return c.warn("%v", err)
}

// putGiven puts the files of --file into a new session.
func putGiven(s *cordon.Session, given []run.File) error {
	if len(given) == 0 {
		return nil
	}
	files, err := s.Files()
	if err != nil {
		return err
	}
	for _, f := range given {
		if _, err := put(files, f.Path, f.Name); err != nil {
			return run.Errorf(run.ClassOf(err), "--file: %w", err)
		}
	}
	return nil
}

func put(files run.Files, path, name string) (run.FileInfo, error) {
	f, err := workdir.OpenFile(path)
	if err != nil {
		return run.FileInfo{}, err
	}
	defer f.Close()
	return files.Write(name, f)
}

func (c *sessionConsole) listFiles(files run.Files, _ []string) error {
	list, err := files.List()
	var rows [][]string
	for _, f := range list {
		rows = append(rows, []string{text.Line(f.Name), f.Size.Rounded(), cmp.Or(string(f.Kind), f.Type)})
	}
	switch {
	case len(rows) > 0:
		return errors.Join(c.say("%s", table(rows)), err)
	case err != nil:
		return err
	}
	return c.say("there are no files")
}

func (c *sessionConsole) putFile(files run.Files, arguments []string) error {
	name := nameInWork(arguments[0])
	if len(arguments) > 1 {
		name = arguments[1]
	}
	info, err := put(files, arguments[0], name)
	if err != nil {
		return err
	}
	return c.warn("put: %s (%s)", info.Name, info.Size.Rounded())
}

// getFile replaces a file of the host only if it is named.
func (c *sessionConsole) getFile(files run.Files, arguments []string) error {
	to := path.Base(arguments[0])
	if len(arguments) > 1 {
		to = arguments[1]
	} else if _, err := os.Lstat(to); err == nil {
		return run.Errorf(run.Invalid, "%s is here already: write :get %s PATH", to, arguments[0])
	}
	size, err := get(files, arguments[0], to, c.limits.Scratch)
	if err != nil {
		return err
	}
	return c.warn("saved: %s (%s)", to, size.Rounded())
}

// get copies a file of at most so many bytes. One with holes can have more than fits into
// memory.
func get(files run.Files, name, to string, most policy.Bytes) (policy.Bytes, error) {
	from, info, err := files.Open(name)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	if info.Size > most {
		return 0, run.Errorf(run.Invalid, "%s: its %v are more than the %v of --scratch", name, info.Size, most)
	}
	f, err := newfile.Create(to, 0o644)
	if err != nil {
		return 0, run.Errorf(run.Invalid, "%s: it cannot be saved: %w", to, err)
	}
	defer f.Discard()
	// The session may write to it meanwhile.
	size, err := io.Copy(f, io.LimitReader(from, int64(info.Size)))
	if err == nil {
		err = f.Commit()
	}
	return policy.Bytes(size), err
}

func (c *sessionConsole) removeFile(files run.Files, arguments []string) error {
	return files.Remove(arguments[0])
}
