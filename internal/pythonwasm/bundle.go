package pythonwasm

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Format is the version of bundles that this package reads. It changes with the names of
// members and with the exports and imports of python.wasm.
const Format = 1

// The maximum sizes of members, whatever their headers say. Real ones are below 16 MiB.
const (
	maxManifest = 1 << 20
	maxMember   = 64 << 20
)

const (
	manifestName = "manifest.json"
	moduleName   = "python.wasm"
	libraryName  = "stdlib.zip"
)

// Bundle is CPython as a WebAssembly module.
type Bundle struct {
	// Python is its version with Debian's revision, such as 3.11.2-6+deb12u8.
	Python string
	// Patches are the patches that were applied to its source.
	Patches []string
	// Module is the interpreter, neither metered nor compiled.
	Module []byte
	// Library is the standard library, a zip file.
	Library []byte
	// Digest identifies the content of the bundle, as a key for caches.
	Digest string
}

// manifest is the first member. It has the hash of every other one, so its own hash identifies
// the bundle.
type manifest struct {
	Format  int               `json:"format"`
	Python  string            `json:"python"`
	Patches []string          `json:"patches"`
	SHA256  map[string]string `json:"sha256"`
}

// Open reads a bundle and checks it.
func Open(path string) (*Bundle, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &OpenError{path, err}
	}
	defer file.Close()
	bundle, err := readFile(file)
	if err != nil {
		return nil, &OpenError{path, err}
	}
	return bundle, nil
}

// OpenError is the error of an invalid bundle.
type OpenError struct {
	Path string
	Err  error
}

func (e *OpenError) Error() string { return fmt.Sprintf("the Python bundle %s: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *OpenError) Unwrap() error { return e.Err }

func readFile(file *os.File) (*Bundle, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	archive, err := zip.NewReader(file, info.Size())
	if errors.Is(err, zip.ErrFormat) {
		return nil, errors.New("it is not a zip file, or a truncated one")
	}
	if err != nil {
		return nil, err
	}
	return read(archive)
}

func read(archive *zip.Reader) (*Bundle, error) {
	members, err := index(archive)
	if err != nil {
		return nil, err
	}
	text, err := content(members, manifestName, maxManifest)
	if err != nil {
		return nil, err
	}
	list, err := readManifest(text)
	if err != nil {
		return nil, err
	}
	bundle := &Bundle{Python: list.Python, Patches: list.Patches, Digest: digest(text)}
	if bundle.Module, err = checked(members, moduleName, list); err != nil {
		return nil, err
	}
	if bundle.Library, err = checked(members, libraryName, list); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(bundle.Module, []byte("\x00asm")) {
		return nil, fmt.Errorf("%s is not a WebAssembly module", moduleName)
	}
	return bundle, nil
}

// index refuses a second member of the same name, which another reader might use.
func index(archive *zip.Reader) (map[string]*zip.File, error) {
	members := make(map[string]*zip.File, len(archive.File))
	for _, file := range archive.File {
		if members[file.Name] != nil {
			return nil, fmt.Errorf("it has two members named %q", file.Name)
		}
		members[file.Name] = file
	}
	return members, nil
}

func readManifest(text []byte) (manifest, error) {
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s: %w", manifestName, err)
	}
	if m.Format != Format {
		return m, fmt.Errorf("its format is %d, but this cordon reads %d: use the bundle of the same release", m.Format, Format)
	}
	if m.Python == "" {
		return m, fmt.Errorf("%s does not say which Python it is", manifestName)
	}
	return m, nil
}

// checked returns a member if its hash is that of the manifest.
func checked(members map[string]*zip.File, name string, list manifest) ([]byte, error) {
	data, err := content(members, name, maxMember)
	if err != nil {
		return nil, err
	}
	if digest(data) != list.SHA256[name] {
		return nil, fmt.Errorf("%s does not match its hash in %s", name, manifestName)
	}
	return data, nil
}

// content unpacks a member of at most limit bytes, whatever size the file claims.
func content(members map[string]*zip.File, name string, limit int64) ([]byte, error) {
	file := members[name]
	if file == nil {
		return nil, fmt.Errorf("it has no %s", name)
	}
	if file.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("%s is larger than %d MiB", name, limit>>20)
	}
	reader, err := file.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer reader.Close()
	// Allocate the known size: a growing buffer would copy the data many times.
	var data bytes.Buffer
	data.Grow(int(file.UncompressedSize64) + bytes.MinRead)
	if _, err := data.ReadFrom(io.LimitReader(reader, limit+1)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(data.Len()) > limit {
		return nil, fmt.Errorf("%s is larger than %d MiB", name, limit>>20)
	}
	return data.Bytes(), nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
