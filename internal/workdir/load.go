package workdir

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Load returns the files with their data, also those that are given by their path on the host.
// Together they may have so many bytes.
func Load(files []run.File, most policy.Bytes) ([]run.File, error) {
	if !slices.ContainsFunc(files, func(f run.File) bool { return f.Path != "" }) {
		return files, nil
	}
	loaded := slices.Clone(files)
	for i, f := range loaded {
		if f.Path != "" {
			from, err := OpenFile(f.Path)
			if err == nil {
				f.Data, err = ReadFile(from, most)
			}
			if err != nil {
				return nil, fieldError(i, err)
			}
			f.Path = ""
			loaded[i] = f
		}
		if most -= policy.Bytes(len(f.Data)); most < 0 {
			return nil, fieldError(i, fmt.Errorf("with it, the files are larger than the scratch space can be"))
		}
	}
	return loaded, nil
}

func fieldError(i int, err error) error {
	return run.Wrap(run.Invalid, &policy.FieldError{Field: fmt.Sprintf("files[%d].path", i), Err: err})
}

// OpenFile opens a file of the host. It refuses all but regular files: a device may have no end.
func OpenFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, err
	}
	if err := refuseIrregular(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func refuseIrregular(f *os.File) error {
	stat, err := f.Stat()
	switch {
	case err != nil:
		return err
	case stat.IsDir():
		return fmt.Errorf("%s is a directory: name its files", f.Name())
	case !stat.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", f.Name())
	}
	return nil
}

// ReadFile reads a file of the host and closes it. It refuses what OpenFile refuses.
func ReadFile(from *os.File, most policy.Bytes) ([]byte, error) {
	defer from.Close()
	if err := refuseIrregular(from); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
	if err == nil && policy.Bytes(len(data)) > most {
		err = fmt.Errorf("%s is larger than the scratch space can be, which is %v", from.Name(), most)
	}
	return data, err
}
