package interpreter

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// For libraries of the host, the reader agrees with debug/elf.
func TestReadObjectAgreesWithDebugELF(t *testing.T) {
	var names []string
	for _, pattern := range []string{"/usr/lib/*/lib*.so*", "/usr/lib64/*.so*", "/usr/bin/python3*", "/bin/ls", "/usr/lib/python3*/lib-dynload/*.so"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	compared := 0
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		want, err := elf.NewFile(bytes.NewReader(data))
		if err != nil || want.Class != elf.ELFCLASS64 {
			continue // a linker script
		}
		compared++
		needed := dynamicTexts(t, want, elf.DT_NEEDED)
		runpath := dynamicTexts(t, want, elf.DT_RUNPATH)
		if len(runpath) == 0 {
			runpath = dynamicTexts(t, want, elf.DT_RPATH)
		}
		loader := ""
		for _, p := range want.Progs {
			if p.Type == elf.PT_INTERP {
				text := make([]byte, p.Filesz-1)
				if _, err := p.ReadAt(text, 0); err != nil {
					t.Fatal(err)
				}
				loader = string(text)
			}
		}
		ours, err := readObject(bytes.NewReader(data), "/origin")
		if err != nil || !slices.Equal(ours.needed, needed) || !slices.Equal(ours.runpath, expandRunpath(runpath, "/origin")) || ours.loader != loader {
			t.Errorf("%s: %+v, %v, want needed %v, runpath %v, loader %q", name, ours, err, needed, runpath, loader)
		}
	}
	if compared < 20 {
		t.Errorf("only %d files were compared", compared)
	}
}

func dynamicTexts(t *testing.T, f *elf.File, tag elf.DynTag) []string {
	t.Helper()
	texts, err := f.DynString(tag)
	if err != nil {
		t.Fatal(err)
	}
	return texts
}
