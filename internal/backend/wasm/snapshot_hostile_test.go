package wasm

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// forged is a snapshot whose sum is right, whatever it says.
func forged(t *testing.T, header snapshotHeader, pieces []byte) []byte {
	t.Helper()
	text, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	file.WriteString(snapshotMagic)
	file.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(text))))
	file.Write(text)
	packed, err := flate.NewWriter(&file, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := packed.Write(pieces); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(file.Bytes())
	return append(file.Bytes(), sum[:]...)
}

// piece is one of a forged snapshot.
func piece(at, length uint64, data ...byte) []byte {
	return append(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, at), length), data...)
}

// Whoever writes a snapshot can make its sum right. What it says of itself is not
// believed: it must not take the host's memory, nor its process, nor more than a guest's.
func TestForgedSnapshots(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Maxima: policy.Limits{Memory: 256 * policy.MiB}}})
	i, err := b.interpreter.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const (
		mib   = 1 << 20
		whole = 64 * mib
	)
	least := uint64(i.module.parsed.Memory.Min) * wasmPage
	end := piece(0, 0)
	for _, test := range []struct {
		name         string
		length, base uint64
		pieces       []byte
		words        string // "" if it is loaded
	}{
		{"zeros", whole, whole, end, ""},
		{"the least that the interpreter begins with", least, least, end, ""},
		{"nothing at all", 0, 0, end, "damaged"},
		{"less than the interpreter begins with", least - wasmPage, 0, end, "damaged"},
		{"half a page", whole + wasmPage/2, 0, end, "damaged"},
		{"more than there can be, as its base", 1 << 62, 1 << 62, end, "damaged"},
		{"a negative number, as its base", 1<<64 - wasmPage, 1<<64 - wasmPage, end, "damaged"},
		{"more than a memory's addresses reach", mostMemory + wasmPage, 0, end, "damaged"},
		{"much, and all of it the interpreter's own", 1024 * mib, 1024 * mib, end, "damaged"},
		{"a base above the length", whole, whole + wasmPage, end, "damaged"},
		{"more than the policy allows", whole + 256*mib + wasmPage, whole, end, "and the policy allows 256MiB"},
		{"a piece behind the end", whole, whole, slices.Concat(piece(whole, 1, 7), end), "damaged"},
		{"a piece over the end", whole, whole, slices.Concat(piece(whole-1, 2, 7, 7), end), "damaged"},
		{"a piece at the last address", whole, whole, slices.Concat(piece(1<<64-1, 2, 7, 7), end), "damaged"},
		{"a piece of all addresses", whole, whole, slices.Concat(piece(8, 1<<64-4, 7), end), "damaged"},
		{"a piece without its data", whole, whole, piece(0, 100, 7), "damaged"},
		{"the same place twice", whole, whole, slices.Concat(piece(8, 2, 7, 7), piece(9, 1, 7), end), "damaged"},
		{"an earlier place", whole, whole, slices.Concat(piece(80, 1, 7), piece(8, 1, 7), end), "damaged"},
		{"no end", whole, whole, nil, "damaged"},
		{"more behind its end", whole, whole, slices.Concat(end, end), "damaged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			header := snapshotHeader{Format: snapshotFormat, Build: i.build(), Mounts: i.mounts(), Length: test.length, Base: test.base}
			s, err := b.LoadSession(t.Context(), bytes.NewReader(forged(t, header, test.pieces)))
			if test.words != "" {
				if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), test.words) {
					t.Errorf("%v, want %q", err, test.words)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			// No interpreter is in it, so that it comes to no good end; but to one.
			if r := in(t, s, "result = 1"); r.OK() {
				t.Errorf("it ran: %s", r.Value)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
