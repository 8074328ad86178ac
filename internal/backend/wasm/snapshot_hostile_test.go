package wasm

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/memory"
	"github.com/cordon-sandbox/cordon/internal/pythonwasm"
	"github.com/cordon-sandbox/cordon/internal/wasmbin"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// snapshotMagic is the first bytes of a snapshot.
const snapshotMagic = "cordon snapshot\n"

// unpack returns the header of a snapshot and its inflated pieces.
func unpack(t *testing.T, file []byte) (header map[string]any, pieces []byte) {
	t.Helper()
	rest, found := bytes.CutPrefix(file, []byte(snapshotMagic))
	if !found {
		t.Fatalf("it begins with %.20q", file)
	}
	length := binary.LittleEndian.Uint32(rest)
	decoder := json.NewDecoder(bytes.NewReader(rest[4 : 4+length]))
	decoder.UseNumber()
	if err := decoder.Decode(&header); err != nil {
		t.Fatal(err)
	}
	pieces, err := io.ReadAll(flate.NewReader(bytes.NewReader(rest[4+length:])))
	if err != nil {
		t.Fatal(err)
	}
	return header, pieces
}

// forgeSnapshot returns a snapshot with a valid checksum and this header.
func forgeSnapshot(t *testing.T, header map[string]any, length, base uint64, pieces []byte) []byte {
	t.Helper()
	header = maps.Clone(header)
	header["length"], header["base"] = length, base
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

// saveParts returns the header and pieces of a saved session, and the size of its interpreter.
func saveParts(t *testing.T, s *Session) (header map[string]any, pieces []byte, base uint64) {
	t.Helper()
	var file bytes.Buffer
	if err := s.Save(&file); err != nil {
		t.Fatal(err)
	}
	header, pieces = unpack(t, file.Bytes())
	base, err := strconv.ParseUint(string(header["base"].(json.Number)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return header, pieces, base
}

// piece returns one piece of a forged snapshot.
func piece(at, length uint64, data ...byte) []byte {
	return append(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, at), length), data...)
}

// An attacker can write a snapshot with a valid checksum. Its header must not make the host
// allocate memory, end its process, or give a guest more than its limits.
func TestForgedSnapshots(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1, Policy: policy.Policy{Maxima: policy.Limits{Memory: 256 * policy.MiB}}})
	header, _, own := saveParts(t, b.session(false))
	opened, err := pythonwasm.Open(bundle(t))
	if err != nil {
		t.Fatal(err)
	}
	module, err := wasmbin.Parse(opened.Module)
	if err != nil {
		t.Fatal(err)
	}
	const (
		mib   = 1 << 20
		whole = 64 * mib
	)
	least := uint64(module.Memory.Min) * memory.Page
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
		{"less than the interpreter begins with", least - memory.Page, 0, end, "damaged"},
		{"half a page", whole + memory.Page/2, 0, end, "damaged"},
		{"more than there can be, as its base", 1 << 62, 1 << 62, end, "damaged"},
		{"a negative number, as its base", 1<<64 - memory.Page, 1<<64 - memory.Page, end, "damaged"},
		{"more than a memory's addresses reach", memory.Max + memory.Page, 0, end, "damaged"},
		{"much, and all of it the interpreter's own", 1024 * mib, 1024 * mib, end, "but the policy allows 256MiB"},
		{"a little more than that, and all of it the interpreter's own", own + 256*mib + memory.Page, own + 256*mib + memory.Page, end, "but the policy allows 256MiB"},
		{"as much as there may be, and all of it the interpreter's own", own + 256*mib, own + 256*mib, end, ""},
		{"a base above the length", whole, whole + memory.Page, end, "damaged"},
		{"more than the policy allows", own + 256*mib + memory.Page, own, end, "but the policy allows 256MiB"},
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
			s, err := b.loadSession(t.Context(), bytes.NewReader(forgeSnapshot(t, header, test.length, test.base, test.pieces)))
			if test.words != "" {
				if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), test.words) {
					t.Errorf("%v, want %q", err, test.words)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			// It has no interpreter: the run fails, but not the host.
			if r := runIn(t, s, "result = 1"); r.OK() {
				t.Errorf("it ran: %s", r.Value)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A snapshot cannot claim a larger interpreter to get more memory for its guest.
func TestSnapshotGivesNoExtraMemory(t *testing.T) {
	b := pythonBench(t, Options{Idle: 1})
	s := b.session(false)
	gives(t, s, "x = 1\nresult = x", "1")
	header, pieces, base := saveParts(t, s)
	// The same memory with zeros after it; the header claims all of it for the interpreter.
	larger := uint64(len(s.instance.Memory()) + 200<<20)
	loaded, err := b.loadSession(t.Context(), bytes.NewReader(forgeSnapshot(t, header, larger, larger, pieces)))
	if err != nil {
		t.Fatal(err)
	}
	defer loaded.Close()
	if _, _, got := saveParts(t, loaded); got > base {
		t.Errorf("%v are the interpreter's, which takes %v", policy.Bytes(got), policy.Bytes(base))
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
