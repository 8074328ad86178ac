package command

import (
	"bytes"
	"strings"
)

const (
	// kernelLine is how much of a script the kernel reads (BINPRM_BUF_SIZE).
	kernelLine = 256
	// maxScriptHead is how much this package reads: the rest of a long line shows the
	// author's intent, and another kernel may read more.
	maxScriptHead = 4096
	// maxScripts bounds a chain of scripts, each the interpreter of the one before;
	// the kernel gives up after five.
	maxScripts = 5
)

// shebang is the first line of a script: the interpreter, and the rest of the line as one
// argument.
type shebang struct {
	interpreter, argument string
}

// readShebang parses the line as load_script in the kernel does. It returns false where
// execve would return ENOEXEC.
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
	// The line does not end within the kernel's buffer: at least the interpreter's
	// name must end there.
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

// line returns the shebang as it is written in the script.
func (s shebang) line() string {
	if s.argument == "" {
		return "#!" + s.interpreter
	}
	return "#!" + s.interpreter + " " + s.argument
}
