package pythonwasm

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const someModule = "\x00asm\x01\x00\x00\x00"

// pack returns a zip file of members, sorted by name.
func pack(t *testing.T, members map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		w, err := archive.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(members[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// good returns the members of a bundle; change may damage them after the manifest is written.
func good(t *testing.T, change func(members map[string]string, m *manifest)) map[string]string {
	t.Helper()
	members := map[string]string{
		moduleName:  someModule,
		libraryName: strings.Repeat("library ", 100),
		"LICENSE":   "words",
	}
	m := manifest{Format: Format, Python: "3.11.2-6+deb12u8", Patches: []string{"CVE-1.patch"}, SHA256: map[string]string{}}
	for name, data := range members {
		m.SHA256[name] = digest([]byte(data))
	}
	if change != nil {
		change(members, &m)
	}
	if _, spoiled := members[manifestName]; !spoiled {
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		members[manifestName] = string(text)
	}
	return members
}

func open(t *testing.T, data []byte) (*Bundle, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return Open(path)
}

func TestOpen(t *testing.T) {
	members := good(t, nil)
	b, err := open(t, pack(t, members))
	if err != nil {
		t.Fatal(err)
	}
	if b.Python != "3.11.2-6+deb12u8" || !slices.Equal(b.Patches, []string{"CVE-1.patch"}) ||
		string(b.Module) != members[moduleName] || string(b.Library) != members[libraryName] {
		t.Errorf("Open() = %+v", b)
	}
	other, err := open(t, pack(t, good(t, func(members map[string]string, m *manifest) {
		members[libraryName] = "another library"
		m.SHA256[libraryName] = digest([]byte("another library"))
	})))
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Digest) != 64 || b.Digest == other.Digest {
		t.Errorf("digests of two bundles: %q and %q", b.Digest, other.Digest)
	}
}

func TestOpenRefuses(t *testing.T) {
	whole := pack(t, good(t, nil))
	spoiled := func(change func(members map[string]string, m *manifest)) []byte { return pack(t, good(t, change)) }
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"not a zip", []byte("#!/bin/sh\necho a program\n"), "not a zip file"},
		{"empty", nil, "not a zip file"},
		{"truncated", whole[:len(whole)/2], "not a zip file"},
		{"a foreign zip", pack(t, map[string]string{"photo.jpg": "x"}), "no manifest.json"},
		{"no module", spoiled(func(m map[string]string, _ *manifest) { delete(m, moduleName) }), "no python.wasm"},
		{"no library", spoiled(func(m map[string]string, _ *manifest) { delete(m, libraryName) }), "no stdlib.zip"},
		{"an older format", spoiled(func(_ map[string]string, m *manifest) { m.Format = 0 }), "format is 0"},
		{"a newer format", spoiled(func(_ map[string]string, m *manifest) { m.Format = Format + 1 }), "format is 2"},
		{"no version", spoiled(func(_ map[string]string, m *manifest) { m.Python = "" }), "which Python"},
		{"no hash", spoiled(func(_ map[string]string, m *manifest) { delete(m.SHA256, moduleName) }), "python.wasm does not match its hash"},
		{"another module", spoiled(func(m map[string]string, _ *manifest) { m[moduleName] += "x" }), "python.wasm does not match its hash"},
		{"another library", spoiled(func(m map[string]string, _ *manifest) { m[libraryName] += "x" }), "stdlib.zip does not match its hash"},
		{"no module in python.wasm", spoiled(func(members map[string]string, m *manifest) {
			members[moduleName] = "MZ"
			m.SHA256[moduleName] = digest([]byte("MZ"))
		}), "not a WebAssembly module"},
		{"a manifest that is no JSON", spoiled(func(m map[string]string, _ *manifest) { m[manifestName] = "{" }), "manifest.json:"},
		{"a huge manifest", spoiled(func(m map[string]string, _ *manifest) { m[manifestName] = strings.Repeat(" ", maxManifest+1) }), "larger than 1 MiB"},
		{"two modules", twice(t), "two members"},
		{"a bomb", bomb(t, maxMember+1), "larger than 64 MiB"},
		{"a bomb that says it is small", bomb(t, 10), "stdlib.zip"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b, err := open(t, test.data)
			var bad *OpenError
			if b != nil || !errors.As(err, &bad) {
				t.Fatalf("Open() = %v, %v", b, err)
			}
			if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), FileName) {
				t.Errorf("Open() = %q, which does not say %q of %s", err, test.want, FileName)
			}
		})
	}
}

// If any byte changes, the bundle is refused or its content is the same.
func TestOneChangedByte(t *testing.T) {
	whole := pack(t, good(t, nil))
	want, err := open(t, whole)
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for i := range whole {
		data := bytes.Clone(whole)
		data[i] ^= 0x41
		b, err := open(t, data)
		if err != nil {
			refused++
			continue
		}
		if b.Digest != want.Digest || !bytes.Equal(b.Module, want.Module) || !bytes.Equal(b.Library, want.Library) {
			t.Errorf("byte %d changed, and Open() gave %+v", i, b)
		}
	}
	// Some bytes of a zip file are redundant or ignored.
	if refused < len(whole)/2 {
		t.Errorf("only %d of %d changes were refused", refused, len(whole))
	}
}

func TestOpenAMissingFile(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), FileName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open() = %v, want a file that does not exist", err)
	}
}

func twice(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range []string{moduleName, moduleName} {
		if _, err := archive.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// bomb has a library that unpacks to more than maxMember, and says that it is of size.
func bomb(t *testing.T, size uint64) []byte {
	t.Helper()
	members := good(t, nil)
	delete(members, libraryName)
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		w, err := archive.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(members[name])); err != nil {
			t.Fatal(err)
		}
	}
	packed := deflateZeros(t, maxMember+1)
	w, err := archive.CreateRaw(&zip.FileHeader{
		Name: libraryName, Method: zip.Deflate,
		CompressedSize64: uint64(len(packed)), UncompressedSize64: size,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(packed); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// deflateZeros returns this many zero bytes, compressed.
func deflateZeros(t *testing.T, zeros int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(make([]byte, zeros)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
