package command

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
)

// format is what the kernel sees in a file.
type format int

const (
	unknown format = iota
	program
	script
	unreadable // the kernel may execute what we may not read
)

// head is what the beginning of a file says.
type head struct {
	format format
	script shebang
}

// head reads the beginning of a file, once for each Check.
func (v *view) head(f file) head {
	h, ok := v.heads[f.real]
	if !ok {
		h = readHead(f.real)
		v.heads[f.real] = h
	}
	return h
}

func readHead(name string) head {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that replaced it must not block
	if err != nil {
		return head{format: unreadable}
	}
	defer f.Close()
	text := make([]byte, scriptMost)
	n, err := io.ReadFull(f, text)
	if n == 0 && !errors.Is(err, io.EOF) {
		return head{format: unreadable}
	}
	text = text[:n]
	if bytes.HasPrefix(text, []byte("#!")) {
		if line, ok := readShebang(text); ok {
			return head{format: script, script: line}
		}
		return head{}
	}
	for _, magic := range magics(runtime.GOOS) {
		if bytes.HasPrefix(text, []byte(magic)) {
			return head{format: program}
		}
	}
	return head{}
}

// magics are the beginnings of programs.
func magics(system string) []string {
	if system == "darwin" {
		return []string{"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf"}
	}
	return []string{"\x7fELF"}
}
