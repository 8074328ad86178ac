package run

import (
	"fmt"
	"io"
	"time"

	"github.com/cordon-sandbox/cordon/internal/filenames"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
)

// File is a file that a script finds in /work, its current directory.
type File struct {
	// Name is the path below /work, with slashes.
	Name string
	Data []byte
	// Path names a file of the host with the data, instead of Data. It is read when the script
	// gets its turn.
	Path string
	// Root is a directory of the host. If it is set, Path is relative to it, and no link leads
	// out of it.
	Root string
}

// FileInfo describes a file in /work. It is the guest's word.
type FileInfo struct {
	Name string       `json:"name"`
	Size policy.Bytes `json:"bytes"`
	// Type is the MIME type that the name stands for.
	Type string `json:"type"`
	// Modified is the zero time if the guest has set a time before the year 1 or after 9999.
	Modified time.Time `json:"modified"`
	// Kind is empty for a file. Other names can be listed and removed, not read.
	Kind FileKind `json:"kind,omitempty"`
}

// FileKind is what a name in /work stands for if it is not a file.
type FileKind string

// The kinds of names.
const (
	FileLink    FileKind = "link"    // a symbolic link
	FileSpecial FileKind = "special" // a pipe, a socket or a device
)

// Files is the /work of a session, the directory in which its steps start. Names are paths below
// it, with slashes.
//
// The session can change its files at any time, and what they contain is its word. No name leads
// out of /work: links are listed and not followed.
type Files interface {
	// List lists everything that is not a directory, by name: at most 10,000 names. With more,
	// it returns those and an error.
	List() ([]FileInfo, error)
	// Open opens a file for reading. It stays readable after the session has ended; close it to
	// free its memory.
	Open(name string) (io.ReadSeekCloser, FileInfo, error)
	// Write stores a file. It appears under its name when it is complete, and replaces another
	// file of that name.
	Write(name string, from io.Reader) (FileInfo, error)
	// Remove removes a file, or a directory with everything in it.
	Remove(name string) error
}

// Artifact is a file that a run or step has written to /work.
type Artifact struct {
	Name string       `json:"name"`
	Size policy.Bytes `json:"bytes"`
	// Type is the MIME type that the name stands for.
	Type string `json:"type"`
	// Hash is the SHA-256 of the data in hexadecimal digits.
	Hash string `json:"sha256,omitempty"`
	Data []byte `json:"base64,omitempty"`
	// Error says why the data is not here; empty if it is.
	Error string `json:"error,omitempty"`
}

// MarshalJSON writes the data in base64. An artifact has either data and a hash, or an error.
func (a Artifact) MarshalJSON() ([]byte, error) {
	w := struct {
		Name  string `json:"name"`
		Size  int64  `json:"bytes"`
		Type  string `json:"type"`
		Hash  string `json:"sha256,omitempty"`
		Data  []byte `json:"base64,omitzero"` // there if it is empty, too
		Error string `json:"error,omitempty"`
	}{Name: a.Name, Size: int64(a.Size), Type: a.Type, Hash: a.Hash, Error: a.Error}
	if a.Error == "" {
		w.Data = a.Data
		if w.Data == nil {
			w.Data = []byte{}
		}
	}
	return plainjson.Marshal(w)
}

// MarshalJSON writes the size as a number.
func (f FileInfo) MarshalJSON() ([]byte, error) {
	return plainjson.Marshal(struct {
		Name     string    `json:"name"`
		Size     int64     `json:"bytes"`
		Type     string    `json:"type"`
		Modified time.Time `json:"modified"`
		Kind     FileKind  `json:"kind,omitempty"`
	}{f.Name, int64(f.Size), f.Type, f.Modified, f.Kind})
}

// validateFiles checks the files that go in and the patterns of those that come out.
func (s Script) validateFiles() error {
	size := 0
	names := map[string]bool{}
	for i, f := range s.Files {
		field := fmt.Sprintf("files[%d].name", i)
		if err := filenames.Check(f.Name); err != nil {
			return Wrap(Invalid, &policy.FieldError{Field: field, Err: err})
		}
		if names[f.Name] {
			return invalid(field, "%q is there twice", f.Name)
		}
		names[f.Name] = true
		if f.Path != "" && len(f.Data) > 0 {
			return invalid(fmt.Sprintf("files[%d].path", i), "the file has data, too: give one of the two")
		}
		if f.Root != "" && f.Path == "" {
			return invalid(fmt.Sprintf("files[%d].root", i), "it is for a path, which is missing")
		}
		if size += len(f.Data); size > MaxPayload {
			return invalid("files", "they have more than the maximum of %d bytes: put large files into a session, one by one", MaxPayload)
		}
	}
	for i, pattern := range s.Artifacts {
		if err := filenames.CheckPattern(pattern); err != nil {
			return Wrap(Invalid, &policy.FieldError{Field: fmt.Sprintf("artifacts[%d]", i), Err: err})
		}
	}
	if len(s.Files) > filenames.MaxFiles {
		return invalid("files", "%d are above the maximum of %d", len(s.Files), filenames.MaxFiles)
	}
	return nil
}
