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

	"github.com/cordon-sandbox/cordon/internal/backend"
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
	p, err := b.plain.Get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const (
		mib   = 1 << 20
		whole = 64 * mib
	)
	least, own := uint64(i.module.parsed.Memory.Min)*wasmPage, p.own()
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
		{"much, and all of it the interpreter's own", 1024 * mib, 1024 * mib, end, "and the policy allows 256MiB"},
		{"a little more than that, and all of it the interpreter's own", own + 256*mib + wasmPage, own + 256*mib + wasmPage, end, "and the policy allows 256MiB"},
		{"as much as there may be, and all of it the interpreter's own", own + 256*mib, own + 256*mib, end, ""},
		{"a base above the length", whole, whole + wasmPage, end, "damaged"},
		{"more than the policy allows", own + 256*mib + wasmPage, own, end, "and the policy allows 256MiB"},
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

// What a snapshot calls the interpreter's own is no room for its guest: that has what its
// limit says, whoever wrote the file.
func TestASnapshotIsNoRoom(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s := b.session(false)
	gives(t, s, "x = 1\nresult = x", "1")
	var saved bytes.Buffer
	i := s.instance
	memory := i.guest.memory.region.bytes[:i.guest.memory.size]
	// The same memory, and zeros behind it, all of which is said to be the interpreter's.
	larger := append(bytes.Clone(memory), make([]byte, 200<<20)...)
	if err := i.interpreter.writeSnapshot(&saved, larger, uint64(len(larger)), false, flate.BestSpeed); err != nil {
		t.Fatal(err)
	}
	loaded, err := b.LoadSession(t.Context(), &saved)
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if base := loaded.instance.image.base; base > i.image.base {
		t.Errorf("%v is the interpreter's own, which takes %v", policy.Bytes(base), policy.Bytes(i.image.base))
	}
	limits := policy.Limits{Memory: 64 * policy.MiB}.Or(policy.DefaultLimits())
	r, err := loaded.Run(t.Context(), backend.Job{Request: run.Request{Script: run.Script{Source: "y = bytearray(100 << 20)\nresult = len(y)"}}, Limits: limits})
	if err != nil || r.Outcome != run.OutOfMemory {
		t.Errorf("%s %s %s %v", r.Outcome, r.Value, r.Error, err)
	}
	if used := r.Usage.Memory; used < 200*policy.MiB {
		t.Errorf("%v are said to be used", used)
	}
}
