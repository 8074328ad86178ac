package containtest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// elfFile builds an executable from machine code that Go cannot express, so that the tests
// need no compiler.
func elfFile(code []byte) []byte {
	const base, headers = 0x400000, 64 + 56
	var file bytes.Buffer
	size := uint64(headers + len(code))
	for _, part := range []any{
		elf.Header64{
			Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
			Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT),
			Entry: base + headers, Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
		},
		elf.Prog64{
			Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Paddr: base,
			Filesz: size, Memsz: size, Align: 0x1000,
		},
		code,
	} {
		_ = binary.Write(&file, binary.LittleEndian, part) // writing to a buffer does not fail
	}
	return file.Bytes()
}

// answered is the exit code of a foreign program whose system call succeeded.
const answered = 42

// executeELF runs one of the foreign programs.
func executeELF(p params) error {
	if err := os.WriteFile("foreign", elfFile(foreignPrograms[p.text("program")]), 0o755); err != nil {
		return broken("%v", err)
	}
	if p["itself"] == true {
		return broken("%v", syscall.Exec("./foreign", []string{"foreign"}, nil))
	}
	err := exec.Command("./foreign").Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return fmt.Errorf("%w: %w", errForeign, errors.Join(err))
	}
	if exit.ExitCode() == answered {
		return nil
	}
	return fmt.Errorf("%w: %w", errForeign, err)
}
