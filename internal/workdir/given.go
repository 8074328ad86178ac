package workdir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Size returns how large the files of a request are, and refuses those that cannot be read.
func Size(files []run.File) (size policy.Bytes, err error) {
	for i, given := range files {
		size += policy.Bytes(len(given.Data))
		if given.Path == "" {
			continue
		}
		f, err := OpenGiven(given)
		if err != nil {
			return 0, pathError(i, err)
		}
		stat, err := f.Stat()
		f.Close()
		if err != nil {
			return 0, pathError(i, err)
		}
		size += policy.Bytes(stat.Size())
	}
	return size, nil
}

// Give stores the files of a script: together at most so many bytes. Files of the host are read
// now, and not earlier: requests that wait for their turn hold no data of theirs.
func (d *Dir) Give(s run.Script, most policy.Bytes) error {
	d.given = map[string]string{}
	for i, f := range s.Files {
		var sum hash.Hash
		if len(s.Artifacts) > 0 {
			sum = sha256.New()
		}
		size, err := d.give(i, f, most, sum)
		if err != nil {
			return err
		}
		most -= size
		if sum != nil {
			d.given[f.Name] = hex.EncodeToString(sum.Sum(nil))
		}
	}
	return nil
}

// give stores one file, and adds its data to sum, which may be nil.
func (d *Dir) give(i int, given run.File, most policy.Bytes, sum hash.Hash) (policy.Bytes, error) {
	var from io.Reader = bytes.NewReader(given.Data)
	if given.Path != "" {
		f, err := OpenGiven(given)
		if err != nil {
			return 0, pathError(i, err)
		}
		defer f.Close()
		from = f
	}
	// It may have grown since its size was checked.
	from = io.LimitReader(from, int64(most)+1)
	if sum != nil {
		from = io.TeeReader(from, sum)
	}
	info, err := d.Write(given.Name, from)
	if err == nil && info.Size > most {
		err = run.Errorf(run.Invalid, "%s: %w", given.Name, errFull)
	}
	return info.Size, err
}

// OpenGiven opens a file that a request names on the host. It refuses what OpenFile refuses.
func OpenGiven(given run.File) (*os.File, error) {
	if given.Root == "" {
		return OpenFile(given.Path)
	}
	root, err := os.OpenRoot(given.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return regular(root.OpenFile(given.Path, os.O_RDONLY|dontWait, 0))
}

// OpenFile opens a file of the host. It refuses all but regular files: a device may have no end.
func OpenFile(name string) (*os.File, error) {
	if name == "" {
		return nil, run.Errorf(run.Invalid, "the path of a file is missing")
	}
	return regular(os.OpenFile(name, os.O_RDONLY|dontWait, 0))
}

// regular words the error of opening a file, and closes all but regular ones.
func regular(f *os.File, err error) (*os.File, error) {
	var failed *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.As(err, &failed):
		return nil, run.Errorf(run.NotFound, "%s does not exist", failed.Path)
	case errors.As(err, &failed):
		return nil, run.Errorf(run.NotExecutable, "cannot read %s: %w", failed.Path, failed.Err)
	case err != nil:
		return nil, err
	}
	stat, err := f.Stat()
	switch {
	case err != nil:
	case stat.IsDir():
		err = run.Errorf(run.Invalid, "%s is a directory: name its files", f.Name())
	case !stat.Mode().IsRegular():
		err = run.Errorf(run.Invalid, "%s is not a file", f.Name())
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

func pathError(i int, err error) error {
	return run.Wrap(run.Invalid, &policy.FieldError{Field: fmt.Sprintf("files[%d].path", i), Err: err})
}
