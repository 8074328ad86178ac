package command

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/cordon-sandbox/cordon/run"
)

const (
	argumentMost = 128<<10 - 1 // the kernel's MAX_ARG_STRLEN, with the NUL at its end
	commandMost  = 1536 << 10  // ARG_MAX is a quarter of the stack, 2 MiB; the environment needs some
	pointerSize  = 8           // of each argument
)

// Verdict is what was found.
type Verdict struct {
	Path string // the executable as the guest will name it, absolute
	// Refusals say why it must not start; nil when it may.
	Refusals []run.Violation
}

// Check looks at a command. An error means that it cannot be started at all:
// run.NotFound, run.NotExecutable, or run.Invalid.
func Check(argv []string, s Scope) (Verdict, error) {
	if err := checkTexts(argv); err != nil {
		return Verdict{}, err
	}
	v, err := newView(s)
	if err != nil {
		return Verdict{}, err
	}
	return v.check(argv)
}

func (v *view) check(argv []string) (Verdict, error) {
	s := v.Scope
	l := &look{view: v, twins: map[string]twin{}, stock: sync.OnceValue(func() *inventory { return takeInventory(v.systemDirectories(s.Path)) })}
	f, err := v.find(v.dir, argv[0], absolute(s.Path))
	if err != nil {
		if named, detail := l.dangling(argv[0]); detail != "" && !s.AllowInterpreters {
			return Verdict{named, []run.Violation{refuseInterpreter(detail)}}, nil
		}
		return Verdict{}, err
	}
	verdict := Verdict{Path: f.path}
	if !s.AllowInterpreters {
		if detail := l.program(f, argv, trail{subject: show(argv[0])}, setting{dir: v.dir, directories: s.Path}); detail != "" {
			verdict.Refusals = append(verdict.Refusals, refuseInterpreter(detail))
		}
	}
	if err := v.runnable(f); err != nil && verdict.Refusals == nil {
		return Verdict{}, err
	}
	verdict.Refusals = append(verdict.Refusals, v.arguments(argv[1:])...)
	if v.over() {
		verdict.Refusals = append(verdict.Refusals, refuseEffort())
	}
	return verdict, nil
}

// checkTexts refuses what execve would not take.
func checkTexts(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return run.Errorf(run.Invalid, "there is no command; give at least the name of a program")
	}
	total := 0
	for i, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			return run.Errorf(run.Invalid, "argument %d has a NUL byte in it, which the kernel takes for its end", i)
		}
		if len(arg) > argumentMost {
			return run.Errorf(run.Invalid, "argument %d has %d bytes, of which the kernel takes %d; use a file", i, len(arg), argumentMost)
		}
		total += len(arg) + 1 + pointerSize
	}
	if total > commandMost {
		return run.Errorf(run.Invalid, "the arguments have %d bytes, of which the kernel takes %d; use a file", total, commandMost)
	}
	return nil
}

// absolute leaves out the directories that depend on the working directory, so
// that a file in the workspace does not become a command by accident.
func absolute(directories []string) (all []string) {
	for _, f := range directories {
		if path.IsAbs(f) {
			all = append(all, f)
		}
	}
	return all
}

// runnable follows a script's interpreters to a program, as execve will.
func (v *view) runnable(f file) error {
	for range scriptsMost {
		n := v.nature(f)
		switch n.format {
		case program, secret:
			return nil
		case unknown:
			return run.Errorf(run.NotExecutable, "%s is neither %s program nor a script that begins with #! and an interpreter", show(f.typed), kernelsFormat(runtime.GOOS))
		}
		next, err := v.executable(v.dir, n.script.interpreter)
		if err != nil {
			why := ""
			if strings.HasSuffix(n.script.line(), "\r") {
				why = " (the line ends with CR LF; LF alone would be right)"
			}
			return run.Errorf(run.ClassOf(err), "%s begins with %s%s: %w", show(f.typed), show(n.script.line()), why, err)
		}
		f = next
	}
	return run.Errorf(run.NotExecutable, "%s is a script for a script for a script; the kernel gives up after %d", show(f.typed), scriptsMost)
}

func kernelsFormat(system string) string {
	if system == "darwin" {
		return "a Mach-O"
	}
	return "an ELF"
}

// dangling finds an interpreter whose link is visible inside but what it leads
// to is not: /usr/bin/awk without /etc/alternatives. It is the better answer
// than "not found", which would only invite to mount more.
func (l *look) dangling(name string) (named, detail string) {
	directories := absolute(l.Path)
	if strings.Contains(name, "/") {
		directories = []string{""}
	}
	for _, directory := range directories {
		r := l.walk(l.dir, path.Join(directory, name))
		if left, ok := r.left(); !ok || left.place != system || r.place != outside {
			continue
		}
		real, err := filepath.EvalSymlinks(r.path)
		if info, statErr := os.Stat(real); err != nil || statErr != nil || info.Mode()&0o111 == 0 {
			continue
		}
		for _, file := range []string{path.Base(real), path.Base(r.met[0].at)} {
			if n, ok := nameOf(file); ok {
				if named = path.Join(directory, name); !path.IsAbs(named) {
					named = path.Join(l.dir, name)
				}
				return named, trail{subject: show(name)}.then("is " + show(real)).isA(string(n.kind))
			}
		}
	}
	return "", ""
}
