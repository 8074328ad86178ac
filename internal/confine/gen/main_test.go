package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommittedProgramsMatchTheirSources(t *testing.T) {
	files, err := generate("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		// The assembler reads the header. go test must know that, or it uses its cache.
		if _, err := os.ReadFile(filepath.Join("..", program, program+".h")); err != nil {
			t.Fatal(err)
		}
	}
	if len(files) != len(machines)*len(programs) {
		t.Fatalf("%d files for %d architectures and %d programs", len(files), len(machines), len(programs))
	}
	for name, fresh := range files {
		committed, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(committed, fresh) {
			t.Errorf("%s does not match its source: run go generate ./internal/confine, and read the difference", name)
		}
	}
}

func TestParseRejectsUnknownListings(t *testing.T) {
	const good = "init STEXT nosplit asm size=2 args=0x0 locals=0x0\n" +
		"\t0x0000 00000 (amd64.s:1)\tTEXT\tinit(SB), NOSPLIT|NOFRAME, $0\n" +
		"\t0x0000 00000 (amd64.s:2)\tSYSCALL\n" +
		"\t0x0000 0f 05                                            ..\n"
	code, err := parse("init", good)
	if err != nil || len(code) != 1 || code[0].line != 2 || !bytes.Equal(code[0].bytes, []byte{0x0f, 0x05}) {
		t.Fatalf("%+v, %v", code, err)
	}
	for _, bad := range []string{
		"",
		strings.Replace(good, "size=2", "size=3", 1),
		strings.Replace(good, " 0f 05 ", " ", 1),
		strings.Replace(good, "SYSCALL", "", 1),
		good + good,
		strings.Replace(good, "init STEXT", "other STEXT", 1),
	} {
		if code, err := parse("init", bad); err == nil {
			t.Errorf("%q: %+v", bad, code)
		}
	}
}
