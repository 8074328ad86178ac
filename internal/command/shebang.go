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
