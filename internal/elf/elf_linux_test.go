package elf

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"testing"
)

// build returns a file with only the loader's part: one segment, loaded at 0x1000, with
// the dynamic entries and their strings.
func build(wide bool, order binary.ByteOrder, entries ...[2]any) []byte {
	const base = 0x1000
	header, program, word := 52, 32, 4
	if wide {
		header, program, word = 64, 56, 8
	}
	put := func(b []byte, v uint64) {
		if wide {
			order.PutUint64(b, v)
		} else {
			order.PutUint32(b, uint32(v))
		}
	}
	texts := []byte{0}
	var table []byte
	add := func(tag, value uint64) {
		entry := make([]byte, 2*word)
		put(entry, tag)
		put(entry[word:], value)
		table = append(table, entry...)
	}
	dynamic := header + 2*program
	size := 2 * word * (len(entries) + 2)
	for _, e := range entries {
		add(uint64(e[0].(int)), uint64(len(texts)))
		texts = append(append(texts, e[1].(string)...), 0)
	}
	add(dtStrings, uint64(base+dynamic+size))
	add(0, 0)
	out := make([]byte, header+2*program)
	copy(out, Magic+"\x01\x01\x01")
	if wide {
		out[4] = 2
	}
	if order == binary.ByteOrder(binary.BigEndian) {
		out[5] = 2
	}
	order.PutUint16(out[18:], 62)
	r := reader{wide: wide}
	put(out[r.pick(32, 28):], uint64(header))
	order.PutUint16(out[r.pick(54, 42):], uint16(program))
	order.PutUint16(out[r.pick(56, 44):], 2)
	total := uint64(dynamic + size + len(texts))
	for i, s := range [][4]uint64{{ptLoad, 0, base, total}, {ptDynamic, uint64(dynamic), uint64(base + dynamic), uint64(size)}} {
		p := out[header+i*program:]
		order.PutUint32(p, uint32(s[0]))
		put(p[r.pick(8, 4):], s[1])
		put(p[r.pick(16, 8):], s[2])
		put(p[r.pick(32, 16):], s[3])
	}
	return slices.Concat(out, table, texts)
}

func TestReadSupportsEveryWidthAndByteOrder(t *testing.T) {
	for _, wide := range []bool{false, true} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			data := build(wide, order, [2]any{dtNeeded, "libc.so.6"}, [2]any{dtRPath, "/old"}, [2]any{dtRunPath, "$ORIGIN/x:/y"}, [2]any{dtNeeded, "libm.so.6"})
			f, err := Read(bytes.NewReader(data))
			if err != nil || !slices.Equal(f.Needed, []string{"libc.so.6", "libm.so.6"}) || !slices.Equal(f.Runpath, []string{"$ORIGIN/x:/y"}) ||
				f.Loaded != uint64(len(data)) || f.Machine != 62 || f.Native != (wide && order == binary.ByteOrder(binary.LittleEndian)) {
				t.Errorf("%t, %v: %+v, %v", wide, order, f, err)
			}
		}
	}
}

// An unterminated string does not hide the strings after it.
func TestReadContinuesAfterAnError(t *testing.T) {
	data := build(true, binary.LittleEndian, [2]any{dtNeeded, "libpython3.so"}, [2]any{dtNeeded, "libc.so.6"})
	dynamic := 64 + 2*56
	binary.LittleEndian.PutUint64(data[dynamic+8:], 1<<40) // the offset of the first string
	f, err := Read(bytes.NewReader(data))
	if err == nil || !slices.Contains(f.Needed, "libc.so.6") {
		t.Errorf("%+v, %v", f, err)
	}
}

// Reading any file terminates and takes little memory.
func FuzzRead(f *testing.F) {
	self, err := os.ReadFile("/bin/true")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(self)
	f.Add(self[:100])
	f.Add([]byte("\x7fELF\x02\x01"))
	f.Add([]byte("#!/bin/sh\n"))
	for _, wide := range []bool{false, true} {
		f.Add(build(wide, binary.BigEndian, [2]any{dtNeeded, "libc.so.6"}))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := Read(bytes.NewReader(data))
		if len(o.Loader) > maxText || len(o.Needed) > maxTexts || len(o.Runpath) > maxTexts {
			t.Errorf("%+v, %v", o, err)
		}
	})
}
