package wasm

import (
	"bufio"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

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
// The sum finds damage. It does not say who wrote the file: what is in it is a guest, and
// gets no more than a guest.
const snapshotMagic = "cordon snapshot\n"

const (
	snapshotFormat = 1
	maxHeader      = 1 << 20
)

type snapshotHeader struct {
	Format int `json:"format"`
	// Build says of which interpreter and of which guest program this is a memory.
	Build  string `json:"build"`
	Python string `json:"python"`
	// Restricted says that the language rules are in it.
	Restricted bool `json:"restricted"`
	// Mounts are what the C library has found at its start.
	Mounts []string `json:"mounts"`
	Length uint64   `json:"length"`
	Base   uint64   `json:"base"`
}

// build names what a memory fits to.
func (i *interpreter) build() string {
	h := sha256.New()
	for _, part := range []string{i.bundle.Digest, script.WasmSource(), language.Source()} {
		fmt.Fprintf(h, "%d\n%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// mounts are where a script finds what there is, in the order of world.
func (i *interpreter) mounts() []string {
	var names []string
	if i.around != nil {
		names = append(names, "/")
	}
	names = append(names, libraryDirectory, scratchDirectory)
	for _, p := range i.parents {
		names = append(names, p.at)
	}
	return append(names, i.granted()...)
}

// granted are where a script finds what the policy grants.
func (i *interpreter) granted() (names []string) {
	for _, m := range i.backend.scripts.NewSet(noFiles).Mounts() {
		names = append(names, m.Guest)
	}
	return names
}

// Save writes the session as it is now.
func (s *Session) Save(to io.Writer) error {
	if err := s.use(); err != nil {
		return err
	}
	defer s.done()
	i := s.instance
	memory := i.guest.memory.region.bytes[:i.guest.memory.size]
	return i.interpreter.writeSnapshot(to, memory, i.image.base, s.restricted, flate.BestSpeed)
}

// writeSnapshot writes a memory, of which base is the interpreter's own.
func (i *interpreter) writeSnapshot(to io.Writer, memory []byte, base uint64, restricted bool, level int) error {
	header, err := json.Marshal(snapshotHeader{
		Format: snapshotFormat, Build: i.build(), Python: i.bundle.Python,
		Restricted: restricted, Mounts: i.mounts(), Length: uint64(len(memory)), Base: base,
	})
	if err != nil {
		return run.Wrap(run.Internal, err)
	}
	sum := sha256.New()
	out := io.MultiWriter(to, sum)
	if _, err := out.Write(slices.Concat([]byte(snapshotMagic), binary.LittleEndian.AppendUint32(nil, uint32(len(header))), header)); err != nil {
		return err
	}
	if err := writePieces(out, memory, level); err != nil {
		return err
	}
	_, err = to.Write(sum.Sum(nil))
	return err
}

// writePieces writes what is not zero. A piece of no length is the end.
func writePieces(to io.Writer, memory []byte, level int) error {
	packed, err := flate.NewWriter(to, level)
	if err != nil {
		return err
	}
	for _, p := range append(differing(memory, nil), pages{}) {
		head := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, p.at), p.length)
		if _, err := packed.Write(head); err != nil {
			return err
		}
		if _, err := packed.Write(memory[p.at : p.at+p.length]); err != nil {
			return err
		}
	}
	return packed.Close()
}

// LoadSession gives a session that was saved, by this Runner or another of the same
// build.
func (b *Backend) LoadSession(ctx context.Context, from io.Reader) (*Session, error) {
	if err := b.gate.Enter(ctx); err != nil {
		return nil, err
	}
	defer b.gate.Leave()
	i, err := b.interpreter.Get(ctx)
	if err != nil {
		return nil, err
	}
	file, err := openSnapshot(from, i)
	if err != nil {
		return nil, unusable(err)
	}
	// What the file calls the interpreter's own would not count as the guest's. That is
	// believed up to what an interpreter of ours has.
	p, err := b.kind(file.Restricted).Get(ctx)
	if err != nil {
		return nil, err
	}
	base := min(file.Base, p.own())
	memory, err := file.memory(base, b.options.Policy.Maxima.Memory)
	if err != nil {
		return nil, unusable(err)
	}
	image, err := i.image(memory, base)
	if err != nil {
		return nil, err
	}
	made, err := i.fresh(image)
	image.close() // the session has it now
	if err != nil {
		return nil, err
	}
	return b.newSession(made, file.Restricted)
}

var errDamaged = errors.New("it is damaged, or cut short")

func unusable(err error) error {
	return run.Errorf(run.Invalid, "the snapshot cannot be used: %w", err)
}

// snapshotFile is a snapshot of which the header was read, and found to be for an
// interpreter.
type snapshotFile struct {
	snapshotHeader
	in *summing
}

func openSnapshot(from io.Reader, i *interpreter) (*snapshotFile, error) {
	f := &snapshotFile{in: &summing{bufio.NewReaderSize(from, 64<<10), sha256.New()}}
	var err error
	if f.snapshotHeader, err = readHeader(f.in); err != nil {
		return nil, err
	}
	switch {
	case f.Format != snapshotFormat:
		return nil, fmt.Errorf("its format is %d, and this cordon reads %d", f.Format, snapshotFormat)
	case f.Build != i.build():
		return nil, fmt.Errorf("it is of another build: of Python %s in another bundle, or of another cordon; this one has %s", f.Python, i.bundle.Python)
	case !slices.Equal(f.Mounts, i.mounts()):
		return nil, fmt.Errorf("it was made with the grants %q, and this policy has %q", f.Mounts, i.mounts())
	case !f.sound(i):
		return nil, errDamaged
	}
	return f, nil
}

// memory reads the rest. Of what it takes, base is not the guest's; of what is, there may
// be no more than most.
func (f *snapshotFile) memory(base uint64, most policy.Bytes) ([]byte, error) {
	if more := policy.Bytes(f.Length - base); more > most {
		return nil, fmt.Errorf("it needs %v of memory, and the policy allows %v", more, most)
	}
	memory := make([]byte, f.Length)
	if err := readPieces(f.in, memory); err != nil {
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
	return memory, nil
}

// sound says whether there can be such a memory.
func (h snapshotHeader) sound(i *interpreter) bool {
	least := uint64(0)
	if own := i.module.parsed.Memory; own != nil {
		least = uint64(own.Min) * wasmPage
	}
	return h.Length%wasmPage == 0 && h.Length >= least && h.Length <= mostMemory && h.Base <= h.Length
}

func readHeader(in io.Reader) (header snapshotHeader, err error) {
	begin := make([]byte, len(snapshotMagic)+4)
	if _, err := io.ReadFull(in, begin); err != nil || string(begin[:len(snapshotMagic)]) != snapshotMagic {
		return header, errors.New("it is no snapshot of cordon's")
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

// readPieces fills a memory. The pieces come in their order, so that a small file cannot
// have the same place filled for ever.
func readPieces(in flate.Reader, memory []byte) error {
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
		if at < end || at > uint64(len(memory)) || length > uint64(len(memory))-at {
			return errDamaged
		}
		end = at + length
		if _, err := io.ReadFull(packed, memory[at:end]); err != nil {
			return errDamaged
		}
	}
	// What stands behind the last piece is the end of what was deflated.
	if n, err := packed.Read(head); n != 0 || !errors.Is(err, io.EOF) {
		return errDamaged
	}
	return nil
}

// summing reads byte by byte where it must, so that nothing is read beyond the end of
// what was deflated.
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
