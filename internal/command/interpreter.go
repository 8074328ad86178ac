package command

import (
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxNesting bounds how many nested wrappers and scripts are followed.
const maxNesting = 16

func refuseInterpreter(detail string) run.Violation {
	return hints.Give(run.Violation{Wall: policy.WallCommand, Op: ruleInterpreter, Detail: detail, Count: 1}, run.HintAllowInterpreter, nil)
}

// chain builds the sentence of a refusal: the subject, the program that it runs, the one
// that this runs, and so on.
type chain struct {
	subject string
	clauses []string
}

func (c chain) then(clause string) chain {
	return chain{c.subject, append(slices.Clip(c.clauses), clause)}
}

func (c chain) isA(kind kind) string {
	if len(c.clauses) == 0 {
		return c.subject + " is " + string(kind)
	}
	return c.subject + " " + strings.Join(c.clauses, ", which ") + ", " + string(kind)
}

// interpreter returns a sentence about the interpreter that a program is or starts, or ""
// if it finds none. It follows links, #! lines and wrappers, and decides by the name of the
// file at the end. It reads at most the first line of a file.
func (v *view) interpreter(f file, argv []string, c chain, depth int) string {
	if depth == maxNesting || !v.spend(1+len(argv)/16, "") {
		return ""
	}
	if h := v.head(f); h.format == script {
		return v.interpreterOfScript(f, h.script, argv, c, depth)
	}
	for _, name := range f.names() {
		if kind, ok := kindOf(name); ok {
			if depth == 0 && f.isSystem() && f.real != argv[0] {
				c = c.then("is " + show(f.real))
			}
			return c.isA(kind)
		}
	}
	for _, name := range f.names() {
		if slices.Contains(multicalls, name) && len(argv) > 1 {
			if kind, ok := kindOf(argv[1]); ok {
				return c.then("runs " + show(argv[1])).isA(kind)
			}
			name = argv[1]
			argv = argv[1:]
		}
		if slices.Contains(wrappers, name) || isLoader(name) {
			return v.interpreterOfWrapper(name, argv[1:], c, depth)
		}
	}
	return ""
}

func (v *view) interpreterOfScript(f file, line shebang, argv []string, c chain, depth int) string {
	// A line that ends with CR names a file that is most likely missing, but it still
	// shows which interpreter was meant.
	interpreter := strings.TrimRight(line.interpreter, "\r")
	c = c.then("begins with " + showLine(line.line()))
	found, err := v.locate(v.dir, interpreter)
	if err != nil {
		if kind, ok := kindOf(path.Base(interpreter)); ok {
			return c.isA(kind)
		}
		return ""
	}
	command := []string{interpreter}
	if line.argument != "" {
		command = append(command, strings.TrimRight(line.argument, "\r"))
	}
	return v.interpreter(found, slices.Concat(command, []string{f.path}, argv[1:]), c, depth+1)
}

// multicalls are programs that do what their first argument names.
var multicalls = strings.Fields("busybox toybox")

// wrappers are programs whose purpose is to start another one.
var wrappers = strings.Fields("env nice ionice nohup timeout setsid stdbuf time chrt taskset setpriv choom runcon xargs chroot unshare nsenter flock " +
	"sudo doas pkexec runuser strace ltrace prlimit setarch linux32 linux64 valgrind perf find fd fdfind numactl " +
	"tini dumb-init gosu su-exec chpst bwrap firejail systemd-run fakeroot faketime eatmydata rlwrap unbuffer xvfb-run")

// isLoader reports whether a file is ld.so, which starts the program in its arguments.
func isLoader(name string) bool {
	return strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") || name == "ld.so"
}

// interpreterOfWrapper checks the commands in the arguments of a wrapper.
func (v *view) interpreterOfWrapper(name string, args []string, c chain, depth int) string {
	for _, command := range commandsOf(name, args) {
		if detail := v.interpreterOfFirst(command, c, depth); detail != "" {
			return detail
		}
	}
	return ""
}

// interpreterOfFirst checks the first word that names a program; the words before it are
// options, their values and variables. A value that has the name of a program is treated
// as the program.
func (v *view) interpreterOfFirst(words []string, c chain, depth int) string {
	for i, word := range words {
		if word == "" || word[0] == '-' || isAssignment(word) {
			continue
		}
		f, err := v.find(v.dir, word, v.Path)
		if err == nil {
			return v.interpreter(f, words[i:], c.then("runs "+f.displayName()), depth+1)
		}
		if kind, ok := kindOf(path.Base(word)); ok {
			return c.then("runs " + show(word)).isA(kind)
		}
		if v.exhausted() {
			return ""
		}
	}
	return ""
}

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && !strings.Contains(name, "/")
}

// commandsOf returns the parts of a wrapper's arguments that contain a command, each from
// where the search for the program begins.
func commandsOf(name string, args []string) [][]string {
	switch name {
	case "find", "fd", "fdfind":
		var all [][]string
		for i, arg := range args {
			if slices.Contains(findActions, arg) {
				all = append(all, args[i+1:])
			}
		}
		return all
	case "env":
		return [][]string{splitString(args)}
	}
	return [][]string{args}
}

var findActions = strings.Fields("-exec -execdir -ok -okdir -x -X --exec --exec-batch")

// splitString splits the value of env's -S into words. Quotes are rare there, and are kept.
func splitString(args []string) []string {
	for i, arg := range args {
		value, long := strings.CutPrefix(arg, "--split-string")
		at := strings.IndexByte(arg, 'S')
		switch {
		case long:
			value = strings.TrimPrefix(value, "=")
		case len(arg) < 2 || arg[0] != '-' || arg[1] == '-' || at < 0:
			if arg != "" && arg[0] != '-' && !isAssignment(arg) {
				return args // the command begins here; -S after it is not env's
			}
			continue
		default:
			value = arg[at+1:]
		}
		rest := args[i+1:]
		if value == "" && len(rest) > 0 {
			value, rest = rest[0], rest[1:]
		}
		return splitString(slices.Concat(strings.Fields(value), rest))
	}
	return args
}
