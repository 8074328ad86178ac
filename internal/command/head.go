package command

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"syscall"
)

// format is the format of an executable file, as the kernel recognizes it.
type format int

const (
	unknown format = iota
	program
	script
	unreadable // the kernel may execute a file that we may not read
)

// head is the format of a file and its #! line, from the beginning of the file.
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
	text := make([]byte, maxScriptHead)
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
	for _, magic := range magicNumbers(runtime.GOOS) {
		if bytes.HasPrefix(text, []byte(magic)) {
			return head{format: program}
		}
	}
	return head{}
}

// magicNumbers returns the magic numbers at the beginning of programs.
func magicNumbers(system string) []string {
	if system == "darwin" {
		return []string{"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf"}
	}
	return []string{"\x7fELF"}
}
