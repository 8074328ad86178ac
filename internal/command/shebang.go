package command

import (
	"bytes"
	"strings"
)

const (
	// kernelLine is how much of a script the kernel reads (BINPRM_BUF_SIZE).
	kernelLine = 256
	// scriptMost is how much is read here: the rest of a long line tells what
	// was meant, and another kernel may read more.
	scriptMost = 4096
	// scriptsMost is how many scripts may be each other's interpreters; the
	// kernel gives up after five.
	scriptsMost = 5
)

// shebang is the first line of a script: the interpreter, and all the rest of
// the line as one argument.
type shebang struct {
	interpreter, argument string
	cut                   string // the argument as the kernel cuts it, if it does
}

// readShebang reads the line as load_script in the kernel does. It is not ok
// when execve would say ENOEXEC.
func readShebang(head []byte) (shebang, bool) {
	whole := parseLine(head)
	if whole.interpreter == "" {
		return shebang{}, false
	}
	if len(head) <= kernelLine {
		return whole, true
	}
	seen := head[:kernelLine]
	if bytes.IndexByte(seen, '\n') >= 0 {
		return whole, true
	}
	// No end of the line: the name of the interpreter has to end at least.
	if name := strings.TrimLeft(string(seen[2:]), " \t"); !strings.ContainsAny(name, " \t\x00") {
		return shebang{}, false
	}
	whole.cut = parseLine(seen[:kernelLine-1]).argument // the last byte is lost
	return whole, true
}

func parseLine(head []byte) shebang {
	line, _, _ := strings.Cut(string(head[2:]), "\n")
	line, _, _ = strings.Cut(line, "\x00")
	line = strings.Trim(line, " \t")
	i := strings.IndexAny(line, " \t")
	if i < 0 {
		return shebang{interpreter: line}
	}
	return shebang{interpreter: line[:i], argument: strings.TrimLeft(line[i:], " \t")}
}

// line is the shebang as it is written.
func (s shebang) line() string {
	if s.argument == "" {
		return "#!" + s.interpreter
	}
	return "#!" + s.interpreter + " " + s.argument
}

// commands are the command lines that the kernel makes of it: one, or two
// where it depends on the kernel.
func (s shebang) commands(file string, args []string) [][]string {
	arguments := []string{s.argument}
	if s.cut != "" && s.cut != s.argument {
		arguments = append(arguments, s.cut)
	}
	var all [][]string
	for _, a := range arguments {
		argv := []string{s.interpreter}
		if a != "" {
			argv = append(argv, a)
		}
		all = append(all, append(append(argv, file), args...))
	}
	return all
}
