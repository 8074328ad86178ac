package command

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"
)

// fakeELF makes a 64-bit program of which only the loader's part is real: one
// segment, loaded at 0x1000, with the dynamic entries and their texts.
func fakeELF(needed ...string) []byte {
	const header, table, base = 64, 2 * 56, 0x1000
	texts := []byte{0}
	var entries []uint64
	for _, n := range needed {
		entries = append(entries, uint64(elf.DT_NEEDED), uint64(len(texts)))
		texts = append(append(texts, n...), 0)
	}
	dynamic := uint64(header + table)
	size := uint64(len(entries)*8 + 32)
	entries = append(entries, uint64(elf.DT_STRTAB), base+dynamic+size, 0, 0)
	total := dynamic + size + uint64(len(texts))

	le := binary.LittleEndian
	out := make([]byte, header)
	copy(out, elf.ELFMAG+"\x02\x01\x01")
	le.PutUint64(out[32:], header)
	le.PutUint16(out[54:], 56)
	le.PutUint16(out[56:], 2)
	for _, s := range [][4]uint64{{uint64(elf.PT_LOAD), 0, base, total}, {uint64(elf.PT_DYNAMIC), dynamic, base + dynamic, size}} {
		p := make([]byte, 56)
		le.PutUint32(p, uint32(s[0]))
		le.PutUint64(p[8:], s[1])
		le.PutUint64(p[16:], s[2])
		le.PutUint64(p[32:], s[3])
		out = append(out, p...)
	}
	for _, e := range entries {
		out = le.AppendUint64(out, e)
	}
	return append(out, texts...)
}

// grow makes the loaded segment of a fakeELF larger.
func grow(elf []byte, size uint64) { binary.LittleEndian.PutUint64(elf[64+32:], size) }

func FuzzNature(f *testing.F) {
	f.Add(fakeELF("libc.so.6"))
	f.Add(fakeELF())
	narrow := fakeELF("libpython3.so")
	narrow[4] = 1
	f.Add(narrow)
	big := fakeELF("x")
	big[5] = 2
	f.Add(big)
	f.Fuzz(func(t *testing.T, data []byte) {
		n := readNature(bytes.NewReader(data), int64(len(data)), readMost)
		if n.kind != "" && n.format != program {
			t.Errorf("%+v", n)
		}
	})
}
