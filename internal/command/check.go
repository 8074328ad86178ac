package command

import (
	"path"
	"runtime"
	"strings"

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
	f, err := v.find(v.dir, argv[0], absolute(v.Path))
	if err != nil {
		return Verdict{}, err
	}
	verdict := Verdict{Path: f.path}
	if !v.AllowInterpreters {
		if detail := v.interpreter(f, argv, chain{subject: show(argv[0])}, 0); detail != "" {
			verdict.Refusals = append(verdict.Refusals, refuseInterpreter(detail))
		}
	}
	if err := v.runnable(f); err != nil && verdict.Refusals == nil {
		return Verdict{}, err
	}
	verdict.Refusals = append(verdict.Refusals, v.arguments(argv[1:])...)
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
		h := v.head(f)
		switch h.format {
		case program, unreadable:
			return nil
		case unknown:
			return run.Errorf(run.NotExecutable, "%s is neither %s program nor a script that begins with #! and an interpreter", show(f.typed), kernelsFormat(runtime.GOOS))
		}
		next, err := v.executable(v.dir, h.script.interpreter)
		if err != nil {
			why := ""
			if strings.HasSuffix(h.script.line(), "\r") {
				why = " (the line ends with CR LF; LF alone would be right)"
			}
			return run.Errorf(run.ClassOf(err), "%s begins with %s%s: %w", show(f.typed), show(h.script.line()), why, err)
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
