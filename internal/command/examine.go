package command

import (
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	// wrapMost is how many wrappers are looked through, one in the other.
	wrapMost = 16
	// filesMost is how many files are looked at for one command. Wrappers of
	// which every word may be the command multiply.
	filesMost = 1000
	// wordsMost is how many arguments are looked up where any may be the
	// command.
	wordsMost = 10_000
)

// look is one search for an interpreter in a command.
type look struct {
	*view
	stock func() *inventory
	twins map[string]twin // of the files that were looked at
	files int
	words int
}

// twin gives the known file that a file is, or is a copy of. Both are read for
// that, so that the answer is kept.
func (l *look) twin(f file) twin {
	t, ok := l.twins[f.real]
	if !ok {
		t = l.stock().twin(f.real, f.info)
		l.twins[f.real] = t
	}
	return t
}

// trail is the sentence that a finding becomes: subject, then what it runs,
// which runs, …
type trail struct {
	subject string
	clauses []string
}

func (t trail) then(clause string) trail {
	return trail{t.subject, append(slices.Clip(t.clauses), clause)}
}

// isA ends the sentence.
func (t trail) isA(what string) string {
	if len(t.clauses) == 0 {
		return t.subject + " is " + what
	}
	return t.subject + " " + strings.Join(t.clauses, ", which ") + ", " + what
}

// does ends it with one more verb.
func (t trail) does(verb string) string {
	return t.subject + " " + strings.Join(append(slices.Clip(t.clauses), verb), ", which ")
}

// setting is where a command would be looked up.
type setting struct {
	dir         string
	directories []string
	depth       int
	open        bool // words will be added to the command
	execvp      bool // a file that the kernel does not know goes to sh
	unsure      bool // it may be no command at all
	roams       bool // dir is not the directory in which it will begin
	scripts     []string
}

func refuseInterpreter(detail string) run.Violation {
	return run.Violation{
		Wall: policy.WallCommand, Op: ruleInterpreter, Detail: detail, Count: 1,
		Hint: "run a program instead of a script, or allow it with allow_interpreters (--allow-interpreters)",
	}
}

// program looks at a file that would be executed with argv. It gives the
// sentence that says which interpreter would run, or "".
func (l *look) program(f file, argv []string, t trail, at setting) string {
	at.depth++
	if l.files++; at.depth > wrapMost || l.files > filesMost {
		return t.does("is wrapped too often to be looked through")
	}
	if !l.spend(1+len(argv)/16, "") { // each wrapper reads all that follow
		return t.does("has too many arguments to be looked through")
	}
	self := t
	if at.depth == 1 && f.isSystem() && f.real != argv[0] {
		self = t.then("is " + show(f.real))
	}
	n := l.nature(f)
	switch {
	case n.format == script:
		return l.script(f, n.script, argv, t, at)
	case n.large && !f.isSystem():
		return t.does("is too large to be looked at")
	case n.multicall || slices.Contains(multicalls, path.Base(f.real)):
		return l.applet(f, argv, t, at)
	case n.loader || isLoader(path.Base(f.real)):
		return l.wrapper(loaderName, argv, t, at)
	}
	var copied twin
	if n.format == program && !f.isSystem() { // there, names tell
		copied = l.twin(f)
	}
	if k := l.kindOf(f, n); k != "" {
		if copied.found && copied.path != f.real {
			return t.then(copied.clause()).isA(string(k))
		}
		if n.library != "" {
			return self.then("is linked with " + n.library).isA(string(k))
		}
		return self.isA(string(k))
	}
	if copied.kind != "" {
		return t.then(copied.clause()).isA(string(copied.kind))
	}
	if n.format == unknown && at.execvp {
		return t.does("has no #! line, so that a shell would run it")
	}
	if n.format == secret && !f.isSystem() {
		return t.does("cannot be read, so that nobody knows what it is")
	}
	// In the system's directories names tell what a program does; elsewhere only
	// the file does, as a project may build its own "script".
	if f.isSystem() {
		for _, name := range f.names() {
			if _, ok := wrappers()[name]; ok {
				return l.wrapper(name, argv, t, at)
			}
		}
	} else if copied.found {
		return l.wrapper(copied.name, argv, t.then(copied.clause()), at)
	}
	return ""
}

// kindOf is what a file is by its contents or, where these say nothing, by its
// names.
func (l *look) kindOf(f file, n nature) kind {
	if n.kind != "" {
		return n.kind
	}
	for _, file := range f.names() {
		// A kind that has signatures would have shown itself.
		if known, ok := nameOf(file); ok && (f.isSystem() || !known.told || n.format == secret) {
			return known.kind
		}
	}
	return ""
}

// script looks at the interpreter in a script's first line.
func (l *look) script(f file, sh shebang, argv []string, t trail, at setting) string {
	t = t.then("begins with " + showLine(sh.line()))
	at.scripts = append(slices.Clip(at.scripts), f.real)
	commands := sh.commands(f.path, argv[1:])
	at.unsure = at.unsure || len(commands) > 1
	for _, command := range commands {
		// A line that ends like those of Windows names a file that is most
		// likely not there; it must not run in either reading.
		for _, interpreter := range []string{command[0], strings.TrimRight(command[0], "\r")} {
			found, err := l.locate(at.dir, interpreter)
			if at.depth > 1 && !path.IsAbs(interpreter) && (err != nil || at.roams) {
				return t.does("depends on the directory in which it is started")
			}
			if err != nil {
				continue
			}
			command[0] = interpreter
			if detail := l.program(found, command, t, at); detail != "" {
				return detail
			}
		}
	}
	return ""
}

// multicalls are one program for many names.
var multicalls = strings.Fields("busybox toybox coreutils sbase-box ubase-box")

// applet looks at the part of a multi-call program that is meant: the one by
// whose name it is called, or the one that is its first argument.
func (l *look) applet(f file, argv []string, t trail, at setting) string {
	name := path.Base(argv[0])
	byArgument := !f.isSystem() || slices.ContainsFunc(multicalls, func(m string) bool { return strings.HasPrefix(name, m) })
	calls := [][]string{argv}
	if byArgument && len(argv) > 1 {
		first := strings.TrimPrefix(argv[1], "--coreutils-prog=")
		calls = append(calls, append([]string{first}, argv[2:]...))
	}
	for i, call := range calls {
		name := path.Base(call[0])
		t := t
		if i > 0 {
			t = t.then("runs " + show(name))
		}
		if n, ok := nameOf(name); ok {
			return t.isA(string(n.kind))
		}
		if _, ok := wrappers()[name]; ok {
			if detail := l.wrapper(name, call, t, at); detail != "" {
				return detail
			}
		}
		if i > 0 && slices.Contains(multicalls, name) { // busybox busybox sh
			return l.program(f, call, t, at)
		}
	}
	return ""
}

// wrapper looks at what a program starts.
func (l *look) wrapper(name string, argv []string, t trail, at setting) string {
	at.open = at.open || wrappers()[name].open
	all := false // whether all words have been looked at; find may have many commands
	for _, in := range through(name, argv[1:]) {
		if in.refused != "" {
			return t.does(in.refused)
		}
		here := at
		if in.directories != nil {
			here.directories = in.directories
		}
		if in.dir != "" {
			here.dir = l.walk(at.dir, in.dir).path
			here.roams = at.roams && !path.IsAbs(in.dir)
		}
		here.roams = here.roams || in.roams
		here.unsure = at.unsure || in.unsure
		if len(in.argv) > 0 && !in.unsure {
			// A command that is not there is more likely an option's value
			// that was misread.
			_, err := l.find(here.dir, in.argv[0], here.directories)
			in.unsure = err != nil
		}
		words := in.skipped
		if in.unsure && !all {
			words, all = argv[1:], true
		}
		if len(in.argv) > 0 {
			if detail := l.command(in.argv, t, here); detail != "" {
				return detail
			}
		} else if at.open && name != "xargs" {
			return t.does("gets its command from the input of xargs")
		}
		// What stands before the command is looked at too: should an option
		// take no value after all, its "value" is the command.
		for i, w := range words {
			if detail := l.word(w, words[i:], t, here); detail != "" {
				return detail
			}
		}
	}
	return ""
}

// libcPath is where libc looks when there is no PATH. env -i, setpriv --reset-env
// and others take the PATH away, so that what it put in front does not count.
var libcPath = []string{"/usr/local/bin", "/bin", "/usr/bin"}

// command looks at a command that a wrapper starts.
func (l *look) command(argv []string, t trail, at setting) string {
	name := argv[0]
	if isPlaceholder(name) {
		return t.does("runs what it finds")
	}
	if at.roams && dependsOnDirectory(name, at.directories) {
		return t.does("runs " + show(name) + " in a directory that is not known beforehand")
	}
	at.execvp = true
	f, err := l.find(at.dir, name, at.directories)
	if err != nil {
		// The loader and others also run what has no x bit.
		f, err = l.locate(at.dir, name)
	}
	if err == nil {
		if detail := l.program(f, argv, t.then("runs "+f.called()), at); detail != "" {
			return detail
		}
	}
	if !strings.Contains(name, "/") && (err != nil || !f.isSystem()) {
		if f, other := l.find(at.dir, name, libcPath); other == nil {
			return l.program(f, argv, t.then("runs "+f.called()), at)
		}
	}
	if err == nil {
		return ""
	}
	// Nothing of the name is there, as far as can be seen from here.
	if n, ok := nameOf(path.Base(name)); ok {
		return t.then("runs " + show(name)).isA(string(n.kind))
	}
	if strings.Contains(name, "/") && !at.unsure {
		// It may be there all the same, for whoever knows another way to go
		// into a directory.
		return t.then("runs " + show(name)).does("cannot be looked at")
	}
	if at.open {
		return t.does("runs " + show(name) + ", for which its input may stand") // xargs -I% %
	}
	return ""
}

// dependsOnDirectory reports whether the working directory decides which file a
// name means.
func dependsOnDirectory(name string, directories []string) bool {
	if strings.Contains(name, "/") {
		return !path.IsAbs(name)
	}
	return len(absolute(directories)) < len(directories)
}

// word looks at an argument that may be a command, or have its path glued on:
// --shell=/bin/sh, -c/bin/sh, -vc./tool.
func (l *look) word(w string, rest []string, t trail, at setting) string {
	at.open, at.execvp = false, false
	for _, name := range commandsIn(w) {
		if l.words++; l.words > wordsMost || l.over() {
			return t.does("has too many arguments to be looked through")
		}
		f, err := l.find(at.dir, name, at.directories)
		if err != nil || slices.Contains(at.scripts, f.real) { // a script is its interpreter's argument
			continue
		}
		if detail := l.program(f, append([]string{name}, rest[1:]...), t.then("runs "+f.called()), at); detail != "" {
			return detail
		}
	}
	return ""
}

// commandsIn are the names in an argument. Of what is glued to a short option
// only paths count: -fsh is a handful of options.
func commandsIn(w string) []string {
	if _, value, ok := strings.Cut(w, "="); ok {
		w = value
	}
	switch {
	case w == "" || strings.HasPrefix(w, "--"):
		return nil
	case w[0] != '-':
		return []string{w}
	case len(w) < 3 || !strings.Contains(w, "/"):
		return nil
	}
	return slices.Compact([]string{w[2:], w[strings.IndexAny(w, "./"):]})
}
