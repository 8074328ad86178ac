package command

import (
	"path"
	"runtime"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

const (
	maxArgument = 128<<10 - 1 // the kernel's MAX_ARG_STRLEN, with the NUL at its end
	maxCommand  = 1536 << 10  // ARG_MAX is a quarter of the stack, 2 MiB; the environment needs some
	pointerSize = 8           // of the pointer to each argument
)

// Verdict is the result of a Check.
type Verdict struct {
	Path string // the absolute path of the executable inside
	// Refusals are the reasons why the command must not start; nil if it may.
	Refusals []run.Violation
}

// Check checks a command against both rules. An error means that the command cannot be
// started at all: run.NotFound, run.NotExecutable, or run.Invalid.
func Check(argv []string, s Scope) (Verdict, error) {
	if err := checkArgs(argv); err != nil {
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
	verdict.Refusals = append(verdict.Refusals, v.checkArguments(argv[1:])...)
	return verdict, nil
}

// checkArgs refuses arguments that execve would not accept.
func checkArgs(argv []string) error {
	if len(argv) == 0 || argv[0] == "" {
		return run.Errorf(run.Invalid, "there is no command; give at least the name of a program")
	}
	total := 0
	for i, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			return run.Errorf(run.Invalid, "argument %d has a NUL byte, which the kernel treats as its end", i)
		}
		if len(arg) > maxArgument {
			return run.Errorf(run.Invalid, "argument %d has %d bytes, and the kernel accepts at most %d; use a file", i, len(arg), maxArgument)
		}
		total += len(arg) + 1 + pointerSize
	}
	if total > maxCommand {
		return run.Errorf(run.Invalid, "the arguments have %d bytes, and the kernel accepts at most %d; use a file", total, maxCommand)
	}
	return nil
}

// absolute returns the absolute directories. Relative ones depend on the working directory,
// so that a file in the workspace could become a command by accident.
func absolute(directories []string) (all []string) {
	for _, f := range directories {
		if path.IsAbs(f) {
			all = append(all, f)
		}
	}
	return all
}

// runnable follows the interpreters of a script until it finds a program, as execve does.
func (v *view) runnable(f file) error {
	for range maxScripts {
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
				why = " (the line ends with CR LF; end it with LF alone)"
			}
			return run.Errorf(run.ClassOf(err), "%s begins with %s%s: %w", show(f.typed), show(h.script.line()), why, err)
		}
		f = next
	}
	return run.Errorf(run.NotExecutable, "%s has too many scripts as interpreters of each other; the kernel gives up after %d", show(f.typed), maxScripts)
}

func kernelsFormat(system string) string {
	if system == "darwin" {
		return "a Mach-O"
	}
	return "an ELF"
}
