package python

import (
	"bufio"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/memory"
	"github.com/cordon-sandbox/cordon/internal/language"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A snapshot is the memory of a session in a file:
//
//	┌────────────────┬──────────────────┬──────────────────────────────────┬──────────┐
//	│ snapshotMagic  │ length, JSON of  │ deflated: for each piece that is │ SHA-256  │
//	│                │ a snapshotHeader │ not zero its place, length, data │ of all   │
//	└────────────────┴──────────────────┴──────────────────────────────────┴──────────┘
//
// The checksum detects damage. It does not authenticate the file: its content is a guest, and
// has no more rights than a guest.
const snapshotMagic = "cordon snapshot\n"

const (
	snapshotFormat = 1
	maxHeader      = 1 << 20
)

type snapshotHeader struct {
	Format int `json:"format"`
	// Build identifies the interpreter and cordon's code in it.
	Build  string `json:"build"`
	Python string `json:"python"`
	// Restricted says that the memory has the language rules.
	Restricted bool `json:"restricted"`
	// Mounts are those that the C library found at its start.
	Mounts []string `json:"mounts"`
	Length uint64   `json:"length"`
	Base   uint64   `json:"base"`
}

// build returns the identity of the programs that a memory belongs to.
func (i *Interpreter) build() string {
	h := sha256.New()
	for _, part := range []string{i.bundle.Digest, script.WasmSource(), language.Source()} {
		fmt.Fprintf(h, "%d\n%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Save writes the current memory of an instance.
func (i *Instance) Save(to io.Writer, restricted bool) error {
	return i.interpreter.writeSnapshot(to, i.Memory(), i.image.Base, restricted, flate.BestSpeed)
}

// writeSnapshot writes a memory. Its first base bytes belong to the interpreter.
func (i *Interpreter) writeSnapshot(to io.Writer, content []byte, base uint64, restricted bool, level int) error {
	header, err := json.Marshal(snapshotHeader{
		Format: snapshotFormat, Build: i.build(), Python: i.bundle.Python,
		Restricted: restricted, Mounts: i.layout.Mounts(), Length: uint64(len(content)), Base: base,
	})
	if err != nil {
		return run.Wrap(run.Internal, err)
	}
	sum := sha256.New()
	out := io.MultiWriter(to, sum)
	if _, err := out.Write(slices.Concat([]byte(snapshotMagic), binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header)); err != nil {
		return err
	}
	if err := writePieces(out, content, level); err != nil {
		return err
	}
	_, err = to.Write(sum.Sum(nil))
	return err
}

// writePieces writes the pieces that are not zero. A piece of length 0 marks the end.
func writePieces(to io.Writer, content []byte, level int) error {
	packed, err := flate.NewWriter(to, level)
	if err != nil {
		return err
	}
	for _, p := range append(memory.Differing(content, nil), memory.Pages{}) {
		head := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, p.At), p.Length)
		if _, err := packed.Write(head); err != nil {
			return err
		}
		if _, err := packed.Write(content[p.At : p.At+p.Length]); err != nil {
			return err
		}
	}
	return packed.Close()
}

// Snapshot is a file whose header was read and matches an interpreter.
type Snapshot struct {
	interpreter *Interpreter
	file        *snapshotFile
}

// OpenSnapshot reads the header of a file that Save has written with an interpreter of the same
// build.
func (i *Interpreter) OpenSnapshot(from io.Reader) (*Snapshot, error) {
	file, err := openSnapshot(from, i)
	if err != nil {
		return nil, unusable(err)
	}
	return &Snapshot{i, file}, nil
}

// Restricted says that the memory has the language rules.
func (s *Snapshot) Restricted() bool { return s.file.Restricted }

// Load returns an instance with the memory of the file. The pool must be for scripts of the
// same kind.
func (s *Snapshot) Load(pool *Pool) (*Instance, error) {
	// The interpreter's part, according to the file, does not count as the guest's. Limit it
	// to the size of our interpreter.
	base := min(s.file.Base, pool.own())
	content, err := s.file.memory(base, s.interpreter.options.MaxMemory)
	if err != nil {
		return nil, unusable(err)
	}
	image, err := s.interpreter.image(content, base)
	if err != nil {
		return nil, err
	}
	made, err := s.interpreter.fresh(image)
	image.Close() // the instance has it now
	return made, err
}

var errDamaged = errors.New("it is damaged or truncated")

func unusable(err error) error {
	return run.Errorf(run.Invalid, "the snapshot cannot be used: %w", err)
}

// snapshotFile is a file whose header was read.
type snapshotFile struct {
	snapshotHeader
	in *summing
}

func openSnapshot(from io.Reader, i *Interpreter) (*snapshotFile, error) {
	f := &snapshotFile{in: &summing{bufio.NewReaderSize(from, 64<<10), sha256.New()}}
	var err error
	if f.snapshotHeader, err = readHeader(f.in); err != nil {
		return nil, err
	}
	switch {
	case f.Format != snapshotFormat:
		return nil, fmt.Errorf("its format is %d, but this cordon reads %d", f.Format, snapshotFormat)
	case f.Build != i.build():
		return nil, fmt.Errorf("it is of another build: of Python %s in another bundle, or of another cordon; this one has %s", f.Python, i.bundle.Python)
	case !slices.Equal(f.Mounts, i.layout.Mounts()):
		return nil, fmt.Errorf("it was saved with the grants %q, but this policy has %q", f.Mounts, i.layout.Mounts())
	case !f.sound(i):
		return nil, errDamaged
	}
	return f, nil
}

// memory reads the rest of the file. The first base bytes do not count as the guest's; there
// may be at most this many others.
func (f *snapshotFile) memory(base uint64, most policy.Bytes) ([]byte, error) {
	if more := policy.Bytes(f.Length - base); more > most {
		return nil, fmt.Errorf("it needs %v of memory, but the policy allows %v", more, most)
	}
	content := make([]byte, f.Length)
	if err := readPieces(f.in, content); err != nil {
		return nil, err
	}
	want := f.in.sum.Sum(nil)
	got := make([]byte, sha256.Size)
	if _, err := io.ReadFull(f.in.from, got); err != nil || !slices.Equal(got, want) {
		return nil, errDamaged
	}
	if _, err := f.in.from.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, errDamaged
	}
	return content, nil
}

// sound reports whether a memory of this size can exist.
func (h snapshotHeader) sound(i *Interpreter) bool {
	least := uint64(0)
	if own := i.module.Memory; own != nil {
		least = uint64(own.Min) * memory.Page
	}
	return h.Length%memory.Page == 0 && h.Length >= least && h.Length <= memory.Max && h.Base <= h.Length
}

func readHeader(in io.Reader) (header snapshotHeader, err error) {
	begin := make([]byte, len(snapshotMagic)+4)
	if _, err := io.ReadFull(in, begin); err != nil || string(begin[:len(snapshotMagic)]) != snapshotMagic {
		return header, errors.New("it is not a snapshot of cordon")
	}
	length := binary.LittleEndian.Uint32(begin[len(snapshotMagic):])
	if length > maxHeader {
		return header, errDamaged
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(in, text); err != nil {
		return header, errDamaged
	}
	if err := json.Unmarshal(text, &header); err != nil {
		return header, errDamaged
	}
	return header, nil
}

// readPieces fills a memory. The pieces must be in order, so that a small file cannot fill the
// same bytes forever.
func readPieces(in flate.Reader, content []byte) error {
	packed := flate.NewReader(in)
	head := make([]byte, 16)
	for end := uint64(0); ; {
		if _, err := io.ReadFull(packed, head); err != nil {
			return errDamaged
		}
		at, length := binary.LittleEndian.Uint64(head), binary.LittleEndian.Uint64(head[8:])
		if length == 0 {
			break
		}
		if at < end || at > uint64(len(content)) || length > uint64(len(content))-at {
			return errDamaged
		}
		end = at + length
		if _, err := io.ReadFull(packed, content[at:end]); err != nil {
			return errDamaged
		}
	}
	// The deflated data must end after the last piece.
	if n, err := packed.Read(head); n != 0 || !errors.Is(err, io.EOF) {
		return errDamaged
	}
	return nil
}

// summing computes the checksum while reading. It is a flate.Reader, so that flate reads
// nothing beyond the end of the deflated data.
type summing struct {
	from *bufio.Reader
	sum  hash.Hash
}

func (s *summing) Read(to []byte) (int, error) {
	n, err := s.from.Read(to)
	_, _ = s.sum.Write(to[:n]) // never fails
	return n, err
}

func (s *summing) ReadByte() (byte, error) {
	b, err := s.from.ReadByte()
	if err == nil {
		_, _ = s.sum.Write([]byte{b})
	}
	return b, err
}
